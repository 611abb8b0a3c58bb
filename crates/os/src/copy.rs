//! The one copy routine for foreign memory: bytes that another process may write meanwhile.
//!
//! To the language such a write is a data race whatever the bytes are used for, so the compiler
//! must not see the access. The copy is the C library's `memcpy` (machine code that picks vector
//! moves, `rep movsb` or streaming stores by size), called through a pointer that has passed
//! through an empty `asm!` block: the compiler cannot know what is called, and assumes nothing
//! about the bytes. What arrives is whatever was there, torn or not; callers check what they use.
//!
//! [`stream_to_foreign`] copies past the caches. Where two processors do not share a cache, a line
//! that one has written costs the other a full trip, and few trips go at a time; a line that was
//! streamed to memory is read from there as any other, with all the prefetching there is. Measured
//! on a Zen 4 guest whose processors sit far apart: two copies through a shared ring, 1 MiB, 2.1
//! GB/s with plain stores and 19 with streaming ones. Vectors of 16 B do as well as longer ones,
//! since stores are combined to lines, so nothing depends on the processor's model.

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

/// As [`to_foreign`], past the caches where the processor can: what was copied lies in memory when
/// this returns, and later stores are seen after it.
///
/// # Safety
/// As [`to_foreign`].
///
/// # Cost
/// For ranges of some KiB: a store fence at the end waits for memory.
#[inline]
pub unsafe fn stream_to_foreign(from: &[u8], to: *mut u8) {
    // Whole lines are combined without reading them first, so the loop starts at one.
    let before = to.align_offset(LINE).min(from.len());
    let (head, rest) = from.split_at(before);
    let (lines, tail) = rest.split_at(rest.len() / LINE * LINE);
    // SAFETY: the first part of `from` and of the range, which is valid by the caller's word.
    unsafe { to_foreign(head, to) };
    // SAFETY: as above; the lines start at a multiple of their length.
    unsafe { stream_lines(lines, to.wrapping_add(before)) };
    // SAFETY: as above.
    unsafe { to_foreign(tail, to.wrapping_add(before + lines.len())) };
}

/// Bytes that the processor combines to one store to memory.
const LINE: usize = 64;

/// # Safety
/// As [`to_foreign`]; `to` is aligned to [`LINE`], and `from` has whole lines.
#[cfg(target_arch = "x86_64")]
unsafe fn stream_lines(from: &[u8], to: *mut u8) {
    if from.is_empty() {
        return;
    }
    // SAFETY: reads `from` and writes as many bytes at `to`, line by line, both valid by the
    // caller's word; SSE2 is part of the architecture. The fence orders these stores, which are
    // weakly ordered, before whatever announces them.
    unsafe {
        asm!(
            "2:",
            "movups {a}, [{from}]",
            "movups {b}, [{from} + 16]",
            "movups {c}, [{from} + 32]",
            "movups {d}, [{from} + 48]",
            "movntps [{to}], {a}",
            "movntps [{to} + 16], {b}",
            "movntps [{to} + 32], {c}",
            "movntps [{to} + 48], {d}",
            "add {from}, 64",
            "add {to}, 64",
            "sub {left}, 64",
            "jnz 2b",
            "sfence",
            from = inout(reg) from.as_ptr() => _,
            to = inout(reg) to => _,
            left = inout(reg) from.len() => _,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            options(nostack),
        );
    }
}

/// # Safety
/// As [`to_foreign`].
#[cfg(not(target_arch = "x86_64"))]
unsafe fn stream_lines(from: &[u8], to: *mut u8) {
    // SAFETY: by the caller's word.
    unsafe { to_foreign(from, to) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streaming_changes_what_it_should_and_nothing_else() {
        let memory = crate::memory::Memfd::create("oxmpi-test", 16_384).unwrap();
        let mapping = memory.map().unwrap();
        let mut seen = vec![0; 16_384];
        for (at, len) in [
            (0, 0),
            (1, 5),
            (60, 9),
            (64, 64),
            (63, 66),
            (100, 4096),
            (7, 12_345),
        ] {
            let source: Vec<u8> = (0..len).map(|i| (i * 7 + len) as u8 | 1).collect();
            // SAFETY: as long as the mapping, which overlaps none of the vectors.
            unsafe { to_foreign(&vec![0; 16_384], mapping.base()) };
            // SAFETY: at + len bytes fit the mapping.
            unsafe { stream_to_foreign(&source, mapping.base().wrapping_add(at)) };
            // SAFETY: as long as the mapping.
            unsafe { from_foreign(mapping.base(), &mut seen) };
            assert_eq!(seen[at..at + len], source);
            assert!(seen[..at].iter().chain(&seen[at + len..]).all(|&b| b == 0));
        }
    }

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
