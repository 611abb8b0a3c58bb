//! Memory that a test maps, discards, moves and unmaps while the device has it.
//!
//! A device keeps the pages that it has pinned, whatever becomes of the addresses. This one refuses them then, so that a
//! transfer by a registration that should be forgotten fails.

use super::with_device;
use oxmpi_os::RawBytes;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr;

/// The smallest page.
pub(crate) const PAGE: usize = 4096;

const PROT_READ: c_int = 1;
const PROT_READ_WRITE: c_int = 3;
const MAP_SHARED_ANONYMOUS: c_int = 0x21;
const MAP_PRIVATE_ANONYMOUS: c_int = 0x22;
const MREMAP_MAYMOVE: c_int = 1;
const MADV_DONTNEED: c_int = 4;

// SAFETY: as the C library declares them, on 64-bit Linux.
unsafe extern "C" {
    fn mmap(
        at: *mut c_void,
        len: usize,
        protection: c_int,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn munmap(at: *mut c_void, len: usize) -> c_int;
    fn mremap(at: *mut c_void, len: usize, new_len: usize, flags: c_int, ...) -> *mut c_void;
    fn mprotect(at: *mut c_void, len: usize, protection: c_int) -> c_int;
    fn madvise(at: *mut c_void, len: usize, advice: c_int) -> c_int;
    fn fork() -> c_int;
    fn waitpid(child: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
}

/// A mapping of whole pages, for one user at a time.
pub(crate) struct MappedMemory {
    start: *mut u8,
    len: usize,
    is_shared: bool,
}

impl MappedMemory {
    /// Maps zeroes of this process only.
    pub(crate) fn new(pages: usize) -> Self {
        Self::with_flags(pages, MAP_PRIVATE_ANONYMOUS)
    }

    /// Maps zeroes that other processes may have, too.
    pub(crate) fn shared(pages: usize) -> Self {
        Self::with_flags(pages, MAP_SHARED_ANONYMOUS)
    }

    fn with_flags(pages: usize, flags: c_int) -> Self {
        let len = pages * PAGE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start = unsafe { mmap(ptr::null_mut(), len, PROT_READ_WRITE, flags, -1, 0) };
        assert_ne!(start.addr() as isize, -1, "memory");
        let start = start.cast();
        let is_shared = flags == MAP_SHARED_ANONYMOUS;
        Self {
            start,
            len,
            is_shared,
        }
    }

    pub(crate) fn pages(&self) -> usize {
        self.len / PAGE
    }

    /// Some of its bytes. They are used before anything becomes of them.
    pub(crate) fn bytes(&self, range: Range<usize>) -> RawBytes {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: they are mapped as long as this value, and a test that lets some go has released them.
        unsafe { RawBytes::new(self.start.wrapping_add(range.start), range.len()) }
    }

    /// Discards pages: they are zeroes again.
    pub(crate) fn discard(&mut self, pages: Range<usize>) {
        let (at, len) = (pages.start * PAGE, pages.len() * PAGE);
        assert!(at + len <= self.len);
        let start = self.start.wrapping_add(at);
        // SAFETY: whole pages of this mapping, which nobody borrows.
        assert_eq!(unsafe { madvise(start.cast(), len, MADV_DONTNEED) }, 0);
        gone(start, len);
    }

    /// Lets nobody write it any more.
    pub(crate) fn protect(&mut self) {
        // SAFETY: this mapping, which nobody borrows for writing.
        let errno = unsafe { mprotect(self.start.cast(), self.len, PROT_READ) };
        assert_eq!(errno, 0);
        let start = self.start.addr() as u64;
        let pages = start..start + self.len as u64;
        with_device(|device| device.memory.protect(pages));
    }

    /// Makes it shorter, or longer if it is not shared: then it moves, unless there is room behind it.
    pub(crate) fn resize(&mut self, pages: usize) {
        let most = if self.is_shared { self.pages() } else { pages };
        let len = pages.min(most) * PAGE;
        // SAFETY: as in `discard`.
        let start = unsafe { mremap(self.start.cast(), self.len, len, MREMAP_MAYMOVE) };
        assert_ne!(start.addr() as isize, -1, "memory");
        let start: *mut u8 = start.cast();
        let kept = if start == self.start {
            self.len.min(len)
        } else {
            0
        };
        gone(self.start.wrapping_add(kept), self.len - kept);
        (self.start, self.len) = (start, len);
    }
}

impl Drop for MappedMemory {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more.
        assert_eq!(unsafe { munmap(self.start.cast(), self.len) }, 0);
        gone(self.start, self.len);
    }
}

/// What the device has of these bytes is not what this process has there.
fn gone(start: *mut u8, len: usize) {
    let start = start.addr() as u64;
    with_device(|device| device.memory.forget(start..start + len as u64));
}

/// Forks a child that calls `check`, and waits for it. Panics if that is false.
pub(crate) fn fork_and_wait(check: impl FnOnce() -> bool) {
    // SAFETY: the child has one thread, and of what others may have locked uses the allocator only, which the C library
    // unlocks in it.
    let child = unsafe { fork() };
    if child == 0 {
        let status = i32::from(!check());
        // SAFETY: it ends the child without running anything of the parent's.
        unsafe { _exit(status) };
    }
    assert!(child > 0, "a process");
    let mut status = -1;
    // SAFETY: `status` is valid for writing, and the child is ours.
    let waited = unsafe { waitpid(child, &raw mut status, 0) };
    assert_eq!((waited, status), (child, 0));
}
