//! A flag that says that a rank has left in order: [`ExitFlag`].
//!
//! A rank that leaves publishes its last messages and then sets the flag. A peer that sees the flag finds all
//! earlier messages in its rings.

use core::sync::atomic::Ordering;

use super::SharedWords;

/// The word of one rank that says whether it has left.
#[derive(Clone, Copy, Debug)]
pub struct ExitFlag<W> {
    words: W,
    at: usize,
}

impl<W: SharedWords> ExitFlag<W> {
    /// The flag in word `at` of `words`.
    ///
    /// # Panics
    /// If there is no such word.
    #[must_use]
    pub fn new(words: W, at: usize) -> Self {
        assert!(at < words.len());
        Self { words, at }
    }

    /// Sets the flag: this rank publishes nothing more.
    pub fn leave(&self) {
        // SAFETY: `new` checked the index.
        unsafe { self.words.store(self.at, 1, Ordering::Release) };
    }

    /// Whether the rank has left. Then all that it published before is visible.
    #[must_use]
    pub fn left(&self) -> bool {
        // SAFETY: `new` checked the index.
        unsafe { self.words.load(self.at, Ordering::Acquire) != 0 }
    }
}
