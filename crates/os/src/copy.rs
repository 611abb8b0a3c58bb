//! Copies from and to shared memory that another process may write at the same time.
//!
//! Rust calls such a write a data race, so the compiler must not see the access. The copy is the C library's
//! `memcpy`, called through a pointer that has passed an empty `asm!` block: the compiler does not know what
//! is called, and assumes nothing about the bytes. The bytes may be torn: callers check them.
//!
//! If the destination begins less than a cache line after the source, modulo 4 KiB, vector moves copy the
//! bytes: `rep movsb` is slow there on Zen processors (64 KiB: 19.8 us, not 1.2; vector moves 1.4 to 1.8; Zen
//! 4).
//!
//! [`copy_nt_to_shared`] and [`copy_nt_from_shared`] store past the caches: the first for a reader that
//! shares no cache with the writer, the second for data larger than the caches. A reader fetches a modified
//! line from the writer's cache, few at a time; it prefetches lines that are in memory. On a Zen 4 guest with
//! distant processors, two copies of 1 MiB through a shared ring reach 2.1 GB/s with plain stores and 19 GB/s
//! with non-temporal stores. Vectors of 16 B are as fast as longer ones, since the processor combines stores
//! to lines.

use std::arch::asm;
use std::ffi::c_void;

type Memcpy = unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void;

/// `memcpy` through a pointer that the compiler cannot trace.
#[inline(always)]
fn opaque() -> Memcpy {
    let mut routine: Memcpy = libc::memcpy;
    // SAFETY: the block is empty; it leaves the register as it was.
    unsafe { asm!("/* {0} */", inout(reg) routine, options(nostack, preserves_flags)) };
    routine
}

/// Copies `len` bytes.
///
/// # Safety
/// Both ranges are mapped, `from` readable and `to` writable, and do not overlap.
#[inline]
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    if len >= MOVSB && is_close_behind(from, to) {
        let lines = len / LINE * LINE;
        // SAFETY: whole lines within both ranges, by the caller's word.
        unsafe { copy_lines(from, to, lines) };
        // SAFETY: the rest of both.
        unsafe {
            opaque()(
                to.wrapping_add(lines).cast(),
                from.wrapping_add(lines).cast(),
                len - lines,
            )
        };
        return;
    }
    // SAFETY: by the caller's word.
    unsafe { opaque()(to.cast(), from.cast(), len) };
}

/// Least length for which the C library may use `rep movsb`.
const MOVSB: usize = 1024;

/// Whether `to` begins less than a line after `from`, modulo 4 KiB.
#[inline]
fn is_close_behind(from: *const u8, to: *mut u8) -> bool {
    (1..LINE).contains(&(to.addr().wrapping_sub(from.addr()) % 4096))
}

/// Copies `len` bytes, whole lines, by vector moves.
///
/// # Safety
/// As [`copy`]; `len` is a multiple of [`LINE`] and not 0.
#[cfg(target_arch = "x86_64")]
unsafe fn copy_lines(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: reads and writes as many bytes as the ranges have, line by line; SSE2 is part of the
    // architecture.
    unsafe {
        asm!(
            "2:",
            "movups {a}, [{from}]",
            "movups {b}, [{from} + 16]",
            "movups {c}, [{from} + 32]",
            "movups {d}, [{from} + 48]",
            "movups [{to}], {a}",
            "movups [{to} + 16], {b}",
            "movups [{to} + 32], {c}",
            "movups [{to} + 48], {d}",
            "add {from}, 64",
            "add {to}, 64",
            "sub {left}, 64",
            "jnz 2b",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            left = inout(reg) len => _,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            options(nostack),
        );
    }
}

/// # Safety
/// As [`copy`].
#[cfg(not(target_arch = "x86_64"))]
unsafe fn copy_lines(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: by the caller's word.
    unsafe { opaque()(to.cast(), from.cast(), len) };
}

/// Copies `to.len()` shared bytes from `from`.
///
/// # Safety
/// `from` is mapped and readable for `to.len()` bytes, and those do not overlap `to`.
#[inline]
pub unsafe fn copy_from_shared(from: *const u8, to: &mut [u8]) {
    // SAFETY: both ranges are valid by the caller's word and by `to` being a slice.
    unsafe { copy(from, to.as_mut_ptr(), to.len()) };
}

/// Copies `from` to `from.len()` shared bytes at `to`.
///
/// # Safety
/// `to` is mapped and writable for `from.len()` bytes, and those do not overlap `from`.
#[inline]
pub unsafe fn copy_to_shared(from: &[u8], to: *mut u8) {
    // SAFETY: both ranges are valid by the caller's word and by `from` being a slice.
    unsafe { copy(from.as_ptr(), to, from.len()) };
}

/// As [`copy_to_shared`], with non-temporal stores on x86-64: the bytes are in memory when this returns, and
/// later stores are ordered after them.
///
/// # Safety
/// As [`copy_to_shared`].
///
/// # Cost
/// A store fence at the end waits for memory: use it for ranges of some KiB.
#[inline]
pub unsafe fn copy_nt_to_shared(from: &[u8], to: *mut u8) {
    // SAFETY: both ranges are valid by the caller's word and by `from` being a slice.
    unsafe { copy_nt(from.as_ptr(), to, from.len()) };
}

/// As [`copy_from_shared`], with non-temporal stores on x86-64.
///
/// # Safety
/// As [`copy_from_shared`].
///
/// # Cost
/// As [`copy_nt_to_shared`].
#[inline]
pub unsafe fn copy_nt_from_shared(from: *const u8, to: &mut [u8]) {
    // SAFETY: both ranges are valid by the caller's word and by `to` being a slice.
    unsafe { copy_nt(from, to.as_mut_ptr(), to.len()) };
}

/// Copies `len` bytes with non-temporal stores.
///
/// # Safety
/// As [`copy`].
unsafe fn copy_nt(from: *const u8, to: *mut u8, len: usize) {
    // The loop starts at a line: the processor combines whole lines without reading them first.
    let head = to.align_offset(LINE).min(len);
    let lines = (len - head) / LINE * LINE;
    let tail = head + lines;
    // SAFETY: the first part of both ranges, which are valid by the caller's word.
    unsafe { copy(from, to, head) };
    if lines > 0 {
        // SAFETY: as above; the lines start at a multiple of their length.
        unsafe { copy_nt_lines(from.wrapping_add(head), to.wrapping_add(head), lines) };
    }
    // SAFETY: as above.
    unsafe { copy(from.wrapping_add(tail), to.wrapping_add(tail), len - tail) };
}

/// Bytes of a cache line, which non-temporal stores are combined to.
const LINE: usize = 64;

/// # Safety
/// As [`copy_lines`]; `to` is aligned to [`LINE`].
#[cfg(target_arch = "x86_64")]
unsafe fn copy_nt_lines(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: reads and writes as many bytes as the ranges have, line by line; SSE2 is part of the
    // architecture. The fence orders these stores, which are weakly ordered, before whatever
    // announces them.
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
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            left = inout(reg) len => _,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            options(nostack),
        );
    }
}

/// # Safety
/// As [`copy`].
#[cfg(not(target_arch = "x86_64"))]
unsafe fn copy_nt_lines(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: by the caller's word.
    unsafe { copy(from, to, len) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_temporal_copies_change_their_range_only() {
        let memory = crate::memory::Memfd::create("oxmpi-test", 16_384).unwrap();
        let mapping = memory.map().unwrap();
        let mut copied = vec![0; 16_384];
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
            unsafe { copy_to_shared(&vec![0; 16_384], mapping.base()) };
            // SAFETY: at + len bytes fit the mapping.
            unsafe { copy_nt_to_shared(&source, mapping.base().wrapping_add(at)) };
            // SAFETY: as long as the mapping.
            unsafe { copy_from_shared(mapping.base(), &mut copied) };
            assert_eq!(copied[at..at + len], source);
            assert!(
                copied[..at]
                    .iter()
                    .chain(&copied[at + len..])
                    .all(|&b| b == 0)
            );
            // Into a slice that begins anywhere in a line.
            let mut back = vec![0; 16_384];
            let place = &mut back[at / 2..][..len];
            // SAFETY: as above.
            unsafe { copy_nt_from_shared(mapping.base().wrapping_add(at), place) };
            assert_eq!(place, source);
            let end = at / 2 + len;
            assert!(back[..at / 2].iter().chain(&back[end..]).all(|&b| b == 0));
        }
    }

    #[test]
    fn any_distance_within_a_page_is_copied() {
        let memory = crate::memory::Memfd::create("oxmpi-test", 16_384).unwrap();
        let mapping = memory.map().unwrap();
        let source: Vec<u8> = (0..9000).map(|i| (i * 7 + i / 256) as u8).collect();
        for distance in [0, 1, 8, 63, 64, 4095] {
            for len in [MOVSB - 1, MOVSB, MOVSB + 1, 4096, 8191] {
                let page = (source.as_ptr().addr() + distance) % 4096;
                let place = mapping.base().wrapping_add(page);
                let close = (1..LINE).contains(&distance);
                assert_eq!(is_close_behind(source.as_ptr(), place), close);
                // SAFETY: a page and `len` bytes fit the mapping, which overlaps neither vector.
                unsafe { copy_to_shared(&vec![0; 8192], place) };
                // SAFETY: as above.
                unsafe { copy_to_shared(&source[..len], place) };
                let mut back = vec![0; 8192];
                // SAFETY: as above.
                unsafe { copy_from_shared(place, &mut back) };
                assert_eq!(back[..len], source[..len]);
                assert!(back[len..].iter().all(|&byte| byte == 0));
            }
        }
    }

    #[test]
    fn copies_to_and_from_shared_memory() {
        let memory = crate::memory::Memfd::create("oxmpi-test", 8192).unwrap();
        let mapping = memory.map().unwrap();
        for len in [0, 1, 7, 8, 48, 63, 4096, 8192 - 3] {
            let source: Vec<u8> = (0..len).map(|i| (i * 7 + len) as u8).collect();
            let mut back = vec![0; len];
            // SAFETY: 3 + len bytes fit the mapping, which overlaps neither vector.
            unsafe { copy_to_shared(&source, mapping.base().wrapping_add(3)) };
            // SAFETY: as above.
            unsafe { copy_from_shared(mapping.base().wrapping_add(3), &mut back) };
            assert_eq!(source, back);
        }
    }
}
