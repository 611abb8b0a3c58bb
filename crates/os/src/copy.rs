//! The one copy routine for foreign memory: bytes that another process may write meanwhile.
//!
//! To the language such a write is a data race whatever the bytes are used for, so the compiler
//! must not see the access. The copy is the C library's `memcpy` (machine code that picks vector
//! moves, `rep movsb` or streaming stores by size), called through a pointer that has passed
//! through an empty `asm!` block: the compiler cannot know what is called, and assumes nothing
//! about the bytes. What arrives is whatever was there, torn or not; callers check what they use.

use std::arch::asm;
use std::ffi::c_void;

type Memcpy = unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void;

/// `memcpy` by a name the compiler cannot trace.
#[inline(always)]
fn opaque() -> Memcpy {
    let mut routine: Memcpy = libc::memcpy;
    // SAFETY: the block is empty; it leaves the register as it was.
    unsafe { asm!("/* {0} */", inout(reg) routine, options(nostack, preserves_flags)) };
    routine
}

/// Copies `to.len()` foreign bytes from `from`.
///
/// # Safety
/// `from` is mapped and readable for `to.len()` bytes, and those do not overlap `to`.
#[inline]
pub unsafe fn from_foreign(from: *const u8, to: &mut [u8]) {
    let routine = opaque();
    // SAFETY: both ranges are valid by the caller's word and by `to` being a slice.
    unsafe { routine(to.as_mut_ptr().cast(), from.cast(), to.len()) };
}

/// Copies `from` to `from.len()` foreign bytes at `to`.
///
/// # Safety
/// `to` is mapped and writable for `from.len()` bytes, and those do not overlap `from`.
#[inline]
pub unsafe fn to_foreign(from: &[u8], to: *mut u8) {
    let routine = opaque();
    // SAFETY: both ranges are valid by the caller's word and by `from` being a slice.
    unsafe { routine(to.cast(), from.as_ptr().cast(), from.len()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let memory = crate::memory::Memfd::create("oxmpi-test", 8192).unwrap();
        let mapping = memory.map().unwrap();
        for len in [0, 1, 7, 8, 48, 63, 4096, 8192 - 3] {
            let source: Vec<u8> = (0..len).map(|i| (i * 7 + len) as u8).collect();
            let mut back = vec![0; len];
            // SAFETY: 3 + len bytes fit the mapping, which overlaps neither vector.
            unsafe { to_foreign(&source, mapping.base().wrapping_add(3)) };
            // SAFETY: as above.
            unsafe { from_foreign(mapping.base().wrapping_add(3), &mut back) };
            assert_eq!(source, back);
        }
    }
}
