//! Atomic operations on words of memory that other threads and processes may change at the same time.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use oxmpi_wire::{Atomic, Width};

/// Performs an [`Atomic`] on a word of one width.
macro_rules! on_word {
    ($word:expr, $bits:ty, $width:expr, $atomic:expr) => {{
        let word = $word;
        let old = match $atomic {
            Atomic::Fetch => word.load(Ordering::Acquire),
            Atomic::Swap(new) => word.swap(new as $bits, Ordering::AcqRel),
            Atomic::Add(operand) => word.fetch_add(operand as $bits, Ordering::AcqRel),
            other => {
                let next = |old: $bits| Some(other.apply(old.into(), $width) as $bits);
                match word.fetch_update(Ordering::AcqRel, Ordering::Acquire, next) {
                    Ok(old) | Err(old) => old,
                }
            }
        };
        u64::from(old)
    }};
}

/// Performs `atomic` on the word at `at`, and returns the word before.
///
/// What this thread has written before is visible to everybody who sees the effect, and the reverse: it acquires
/// and releases.
///
/// # Safety
/// The word is aligned to `width`, mapped, readable and writable. Everybody who accesses it at the same time does
/// so by atomic operations, or by the copies of [`mod@crate::copy`].
///
/// # Cost
/// One atomic instruction; a loop around compare-and-swap for operations that the processor lacks.
pub unsafe fn perform(at: *mut u8, width: Width, atomic: Atomic) -> u64 {
    match width {
        Width::Bits32 => {
            // SAFETY: mapped and aligned by the caller's word.
            let word = unsafe { AtomicU32::from_ptr(at.cast()) };
            on_word!(word, u32, width, atomic)
        }
        Width::Bits64 => {
            // SAFETY: as above.
            let word = unsafe { AtomicU64::from_ptr(at.cast()) };
            on_word!(word, u64, width, atomic)
        }
    }
}

/// Loads the word at `at`, in no order with other words.
///
/// # Safety
/// As [`perform`]; it need not be writable.
#[inline]
pub unsafe fn load(at: *const u8, width: Width) -> u64 {
    match width {
        Width::Bits32 => {
            // SAFETY: mapped and aligned by the caller's word; it is not written to.
            let word = unsafe { AtomicU32::from_ptr(at.cast_mut().cast()) };
            word.load(Ordering::Relaxed).into()
        }
        Width::Bits64 => {
            // SAFETY: as above.
            let word = unsafe { AtomicU64::from_ptr(at.cast_mut().cast()) };
            word.load(Ordering::Relaxed)
        }
    }
}

/// Stores the bits of `new` that a word of this width has at `at`, in no order with other words.
///
/// # Safety
/// As [`perform`].
#[inline]
pub unsafe fn store(at: *mut u8, width: Width, new: u64) {
    match width {
        Width::Bits32 => {
            // SAFETY: mapped and aligned by the caller's word.
            let word = unsafe { AtomicU32::from_ptr(at.cast()) };
            word.store(new as u32, Ordering::Relaxed);
        }
        Width::Bits64 => {
            // SAFETY: as above.
            let word = unsafe { AtomicU64::from_ptr(at.cast()) };
            word.store(new, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some words that show where a width or a sign is taken wrongly.
    const WORDS: [u64; 7] = [0, 1, 5, 1 << 31, 1 << 32, 1 << 63, u64::MAX];

    #[test]
    fn the_processor_does_as_the_arithmetic_says() {
        for (code, old) in (1..=11).flat_map(|code| WORDS.map(|old| (code, old))) {
            for operands in WORDS.iter().flat_map(|&a| WORDS.map(|b| [a, b])) {
                let Some(atomic) = Atomic::from_words(code, operands) else {
                    continue;
                };
                for width in [Width::Bits32, Width::Bits64] {
                    let mut words = [!old, old, !old];
                    let word = (&raw mut words[1]).cast();
                    // SAFETY: an aligned word of this thread's own array.
                    let before = unsafe { perform(word, width, atomic) };
                    // SAFETY: as above.
                    let new = unsafe { load(word, width) };
                    assert_eq!(new, width.truncate(words[1]));
                    let after = words;
                    // SAFETY: as above.
                    unsafe { store(word, width, new) };
                    assert_eq!(words, after, "other bytes stay");
                    let mut expected = [!old, old, !old];
                    let new = atomic.apply(width.truncate(old), width);
                    match width {
                        Width::Bits32 => {
                            let mut bytes = old.to_ne_bytes();
                            bytes[..4].copy_from_slice(&(new as u32).to_ne_bytes());
                            expected[1] = u64::from_ne_bytes(bytes);
                        }
                        Width::Bits64 => expected[1] = new,
                    }
                    if cfg!(target_endian = "little") {
                        assert_eq!(before, width.truncate(old), "{atomic:?}");
                        assert_eq!(words, expected, "{atomic:?} {width:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn no_addition_of_several_threads_is_lost() {
        let mut word = 0u64;
        let at = (&raw mut word).expose_provenance();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(move || {
                    let at: *mut u8 = std::ptr::with_exposed_provenance_mut(at);
                    for atomic in (0..10_000).map(|_| Atomic::Add(1)) {
                        // SAFETY: an aligned word that all threads access so while the scope lasts.
                        unsafe { perform(at, Width::Bits64, atomic) };
                    }
                });
            }
        });
        assert_eq!(word, 40_000);
    }
}
