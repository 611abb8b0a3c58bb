//! Barriers by counters.
//!
//! Every rank has a word that only it writes: how many barriers it has entered. A barrier is over
//! for whoever sees that all others have entered as many as itself. So a rank that shares its
//! processor runs once for each barrier, and what it wrote before is seen by all after it.

use core::sync::atomic::Ordering;

use super::SharedWords;

/// One rank's count of entered barriers.
#[derive(Clone, Copy, Debug)]
pub struct BarrierCount<W> {
    words: W,
    at: usize,
}

impl<W: SharedWords> BarrierCount<W> {
    /// The word `at` of `words`.
    ///
    /// # Panics
    /// If there is no such word.
    #[must_use]
    pub fn new(words: W, at: usize) -> Self {
        assert!(at < words.len());
        Self { words, at }
    }

    /// This rank enters its barrier number `count`, from 1 on.
    pub fn enter(&self, count: u64) {
        // SAFETY: `new` checked the index.
        unsafe { self.words.store(self.at, count, Ordering::Release) };
    }

    /// How many barriers the rank has entered. What it did before is seen from then on.
    #[inline]
    #[must_use]
    pub fn entered(&self) -> u64 {
        // SAFETY: `new` checked the index.
        unsafe { self.words.load(self.at, Ordering::Acquire) }
    }
}
