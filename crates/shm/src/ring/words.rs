//! Shared 64-bit words that several ranks read and write: [`SharedWords`], [`MappedWords`].

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering, fence};

/// Shared words of 64 bits, indexed from 0.
///
/// In programs they are [`MappedWords`]; in models they are atomics of the model checker, and plain accesses
/// are cells whose races it reports.
pub trait SharedWords: Sized {
    /// Number of words.
    fn len(&self) -> usize;

    /// Whether there are no words.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there are `len` words from `at` on.
    fn holds(&self, at: usize, len: usize) -> bool {
        self.len().checked_sub(len).is_some_and(|last| at <= last)
    }

    /// The `len` words from `at` on, as a part of their own.
    ///
    /// # Safety
    /// `at + len <= self.len()`.
    #[must_use]
    unsafe fn part(&self, at: usize, len: usize) -> Self;

    /// Loads a word that both sides access at any time.
    ///
    /// # Safety
    /// `at < self.len()`.
    unsafe fn load(&self, at: usize, order: Ordering) -> u64;

    /// Stores a word that both sides access at any time.
    ///
    /// # Safety
    /// `at < self.len()`.
    unsafe fn store(&self, at: usize, value: u64, order: Ordering);

    /// Adds to a word that several ranks write.
    ///
    /// # Safety
    /// `at < self.len()`.
    unsafe fn add(&self, at: usize, value: u64, order: Ordering);

    /// Compares and exchanges a word that several ranks write: `new` if it is `old`. True if it was.
    ///
    /// # Safety
    /// `at < self.len()`.
    unsafe fn exchange(&self, at: usize, old: u64, new: u64, order: Ordering) -> bool;

    /// A fence between accesses to these words and to memory that they describe.
    fn fence(&self, order: Ordering);

    /// Reads a word that nobody writes meanwhile, by the protocol.
    ///
    /// # Safety
    /// `at < self.len()`. A peer that breaks the protocol makes the value arbitrary, nothing else.
    unsafe fn get(&self, at: usize) -> u64;

    /// Writes a word that nobody accesses meanwhile, by the protocol.
    ///
    /// # Safety
    /// `at < self.len()`. A peer that breaks the protocol makes the value arbitrary, nothing else.
    unsafe fn set(&self, at: usize, value: u64);

    /// Prefetches the line of word `at`.
    #[inline(always)]
    fn prefetch(&self, at: usize) {
        let _ = at;
    }
}

/// Words at an address, valid for `'a`: shared memory, or a [`super::Storage`].
#[derive(Clone, Copy, Debug)]
pub struct MappedWords<'a> {
    base: NonNull<u64>,
    len: usize,
    life: PhantomData<&'a AtomicU64>,
}

// SAFETY: all access is atomic, from whatever thread.
unsafe impl Send for MappedWords<'_> {}
// SAFETY: as above.
unsafe impl Sync for MappedWords<'_> {}

impl MappedWords<'_> {
    /// The `len` words from `base` on.
    ///
    /// # Safety
    /// `base` is aligned to 8 and valid for reads and writes of `len` words during `'a`, and
    /// all other accesses in this process are atomics or opaque copies.
    #[must_use]
    pub const unsafe fn new(base: NonNull<u64>, len: usize) -> Self {
        Self {
            base,
            len,
            life: PhantomData,
        }
    }

    /// The same words without a lifetime.
    ///
    /// # Safety
    /// The caller keeps the memory alive for as long as the result or a copy of it is used.
    #[must_use]
    pub const unsafe fn detach(self) -> MappedWords<'static> {
        MappedWords {
            base: self.base,
            len: self.len,
            life: PhantomData,
        }
    }

    /// Address of word `at`, which may be one past the end.
    ///
    /// # Panics
    /// In debug builds, if `at` is beyond the end.
    #[inline]
    #[must_use]
    pub fn address(&self, at: usize) -> *mut u64 {
        debug_assert!(at <= self.len);
        self.base.as_ptr().wrapping_add(at)
    }

    /// # Safety
    /// `at < self.len`.
    #[inline(always)]
    unsafe fn word(&self, at: usize) -> &AtomicU64 {
        debug_assert!(at < self.len);
        // SAFETY: valid and aligned by the contract of `new`, in bounds by that of this function.
        unsafe { AtomicU64::from_ptr(self.address(at)) }
    }
}

impl SharedWords for MappedWords<'_> {
    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    unsafe fn part(&self, at: usize, len: usize) -> Self {
        debug_assert!(at + len <= self.len);
        Self {
            // SAFETY: inside the memory by the caller's word.
            base: unsafe { self.base.add(at) },
            len,
            life: PhantomData,
        }
    }

    #[inline(always)]
    unsafe fn load(&self, at: usize, order: Ordering) -> u64 {
        // SAFETY: in bounds by the caller's word.
        unsafe { self.word(at) }.load(order)
    }

    #[inline(always)]
    unsafe fn store(&self, at: usize, value: u64, order: Ordering) {
        // SAFETY: in bounds by the caller's word.
        unsafe { self.word(at) }.store(value, order);
    }

    #[inline]
    unsafe fn add(&self, at: usize, value: u64, order: Ordering) {
        // SAFETY: in bounds by the caller's word.
        unsafe { self.word(at) }.fetch_add(value, order);
    }

    #[inline]
    unsafe fn exchange(&self, at: usize, old: u64, new: u64, order: Ordering) -> bool {
        // SAFETY: in bounds by the caller's word.
        let word = unsafe { self.word(at) };
        // A caller that lost learns nothing from the word.
        word.compare_exchange(old, new, order, Ordering::Relaxed)
            .is_ok()
    }

    #[inline]
    fn fence(&self, order: Ordering) {
        fence(order);
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn prefetch(&self, at: usize) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch touches no memory as far as the program can tell, and faults nowhere.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(self.base.as_ptr().wrapping_add(at).cast()) };
    }

    #[inline(always)]
    unsafe fn get(&self, at: usize) -> u64 {
        // SAFETY: in bounds by the caller's word.
        unsafe { self.word(at) }.load(Ordering::Relaxed)
    }

    #[inline(always)]
    unsafe fn set(&self, at: usize, value: u64) {
        // SAFETY: in bounds by the caller's word.
        unsafe { self.word(at) }.store(value, Ordering::Relaxed);
    }
}
