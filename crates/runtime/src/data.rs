//! The types of elements that messages carry.
//!
//! A buffer is a slice of plain data: of a type in which every bit pattern is a value and which has no
//! padding, as the traits of the `zerocopy` crate say. Numbers, arrays of them, and `#[repr(C)]` structs with
//! `#[derive(FromBytes, IntoBytes, Immutable)]` qualify; `bool`, `char`, references and enums do not.

use std::mem::MaybeUninit;

pub use oxmpi_core::Data;
use oxmpi_os::RawBytes;

/// The bytes of `values`, which the core reads.
#[inline(always)]
pub(crate) fn source<T: Data>(values: &[T]) -> RawBytes {
    // SAFETY: the range is the slice's own. The core only reads the bytes of a send, and every caller keeps
    // the borrow, or the owned buffer, until the request has completed: blocking calls wait inside the
    // borrow, a scope waits for all its requests before `'env` may end, and an owned request leaves its
    // buffer to the endpoint.
    unsafe { RawBytes::new(values.as_ptr().cast_mut().cast(), size_of_val(values)) }
}

/// The bytes of `values`, which the core writes.
#[inline(always)]
pub(crate) fn target<T: Data>(values: &mut [T]) -> RawBytes {
    // SAFETY: as in `source`; the borrow is unique, and any bytes make a valid `T`.
    unsafe { RawBytes::new(values.as_mut_ptr().cast(), size_of_val(values)) }
}

/// The first `count` of `values`, set to zero. The core writes through references to bytes, which must be
/// initialised.
///
/// # Panics
/// When there are fewer.
pub(crate) fn zeroed<T: Data>(values: &mut [MaybeUninit<T>], count: usize) -> &mut [T] {
    let values = &mut values[..count];
    for value in &mut *values {
        value.write(T::new_zeroed());
    }
    // SAFETY: the loop has initialised each of them, and `MaybeUninit<T>` has the layout of `T`.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), count) }
}

/// The bytes of the elements at `values`, which the core reads or writes: as [`target`], for a slice that is
/// held as an address.
#[inline(always)]
pub(crate) fn place<T: Data>(values: *mut [T]) -> RawBytes {
    // SAFETY: as in `target`. The range is not made through a reference, so it stays valid when a reference
    // is made from the address later, between two uses of the range.
    unsafe { RawBytes::new(values.cast(), values.len() * size_of::<T>()) }
}
