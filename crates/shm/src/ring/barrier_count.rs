//! Counters for barriers without messages: [`BarrierCount`].
//!
//! Every rank has a word that only it writes: the number of barriers that it has entered. A rank leaves a
//! barrier when every other rank has entered at least as many as itself. So a rank that shares its processor has to
//! run only once for each barrier. After the barrier every rank sees what the others wrote before it.

use core::sync::atomic::Ordering;

use super::SharedWords;

/// The number of barriers that one rank has entered, in memory that the ranks share.
#[derive(Clone, Copy, Debug)]
pub struct BarrierCount<W> {
    words: W,
    /// The index of the rank's word.
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

    /// Enters this rank's `count`-th barrier; the first is 1. Only the rank itself may call this.
    pub fn enter(&self, count: u64) {
        // SAFETY: `new` checked the index.
        unsafe { self.words.store(self.at, count, Ordering::Release) };
    }

    /// How many barriers the rank has entered. The caller then sees everything that the rank wrote before it entered
    /// them.
    #[inline]
    #[must_use]
    pub fn entered(&self) -> u64 {
        // SAFETY: `new` checked the index.
        unsafe { self.words.load(self.at, Ordering::Acquire) }
    }
}
