//! Leaving in order.
//!
//! A rank that leaves publishes what it has, and then says in a word of its own that nothing more
//! comes. Who reads the word has everything before it in its rings.

use core::sync::atomic::Ordering;

use super::SharedWords;

/// One rank's word that says whether it has left.
#[derive(Clone, Copy, Debug)]
pub struct ExitFlag<W> {
    words: W,
    at: usize,
}

impl<W: SharedWords> ExitFlag<W> {
    /// The word `at` of `words`.
    ///
    /// # Panics
    /// If there is no such word.
    #[must_use]
    pub fn new(words: W, at: usize) -> Self {
        assert!(at < words.len());
        Self { words, at }
    }

    /// This rank publishes nothing more.
    pub fn leave(&self) {
        // SAFETY: `new` checked the index.
        unsafe { self.words.store(self.at, 1, Ordering::Release) };
    }

    /// Whether the rank has left. What it published before is seen from then on.
    #[must_use]
    pub fn left(&self) -> bool {
        // SAFETY: `new` checked the index.
        unsafe { self.words.load(self.at, Ordering::Acquire) != 0 }
    }
}
