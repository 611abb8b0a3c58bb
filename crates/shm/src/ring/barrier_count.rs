//! Counters for barriers without messages: [`BarrierCount`].
//!
//! Every rank has a word that only it writes: how many barriers it has entered. A rank leaves a barrier when
//! all others have entered as many as itself. So a rank that shares its processor runs once a barrier, and
//! all see what it wrote before.

use core::sync::atomic::Ordering;

use super::SharedWords;

/// The count of barriers that one rank has entered.
#[derive(Clone, Copy, Debug)]
pub struct BarrierCount<W> {
    words: W,
    at: usize,
}

impl<W: SharedWords> BarrierCount<W> {
    /// The count in word `at` of `words`.
    ///
    /// # Panics
    /// If there is no such word.
    #[must_use]
    pub fn new(words: W, at: usize) -> Self {
        assert!(at < words.len());
        Self { words, at }
    }

    /// Enters barrier number `count` of this rank, from 1 on.
    pub fn enter(&self, count: u64) {
        // SAFETY: `new` checked the index.
        unsafe { self.words.store(self.at, count, Ordering::Release) };
    }

    /// How many barriers the rank has entered. What it wrote before is visible then.
    #[inline]
    #[must_use]
    pub fn entered(&self) -> u64 {
        // SAFETY: `new` checked the index.
        unsafe { self.words.load(self.at, Ordering::Acquire) }
    }
}
