//! The C objects of the fake libraries, and how their makers fail.

use super::{called, with_device};
use std::ffi::c_int;
use std::fmt;
use std::mem::MaybeUninit;
use std::os::unix::net::UnixDatagram;
use std::ptr;

/// A new object, unless `call` is to fail; then null, and errno is ENOENT.
pub(super) fn create<T>(call: &'static str, with: fmt::Arguments<'_>) -> *mut T {
    if called(call, with) != 0 {
        return refuse();
    }
    // SAFETY: the types of the library consist of numbers, pointers and optional functions: zeroes are valid.
    Box::into_raw(Box::new(unsafe {
        MaybeUninit::<T>::zeroed().assume_init()
    }))
}

/// No object, and ENOENT in errno, which Rust cannot set by itself.
pub(super) fn refuse<T>() -> *mut T {
    drop(std::fs::File::open("/nowhere"));
    ptr::null_mut()
}

/// No region of a device. Of one that is full, errno is EAGAIN: others may give something back.
pub(super) fn refuse_region<T>(device: u8) -> *mut T {
    if !with_device(|of| of.is_full(device)) {
        return refuse();
    }
    let (empty, _other) = UnixDatagram::pair().expect("sockets");
    empty.set_nonblocking(true).expect("a socket");
    empty.recv(&mut [0]).expect_err("nothing was sent");
    ptr::null_mut()
}

/// Destroys an object, also if `call` is to fail.
///
/// # Safety
/// `object` was made by [`create`], and is not used any more.
pub(super) unsafe fn destroy<T>(call: &'static str, object: *mut T) -> c_int {
    // SAFETY: by the caller's word.
    drop(unsafe { Box::from_raw(object) });
    called(call, format_args!(""))
}
