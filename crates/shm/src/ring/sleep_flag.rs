//! The flag of a sleeping receiver, without a fence on every send: [`SleepFlag`].
//!
//! A sender publishes (release) and then plainly loads the receiver's flag. The receiver sets the flag before
//! it sleeps, passes a barrier that reaches the senders' processors too, and polls once more. So either the
//! receiver sees the message or the sender sees the flag: the senders pay for a load, and the sleeper for the
//! barrier.
//!
//! This is the store-buffer pattern with an asymmetric barrier; source: membarrier(2), "Example".

use core::sync::atomic::Ordering;

use super::{MappedWords, SharedWords};

/// An asymmetric memory barrier: cheap for senders, expensive for sleepers. A full fence on both sides needs nothing from
/// the system.
pub trait AsymmetricFence {
    /// The cheap side, between a sender's publishing and its load of the flag.
    fn light(&self);
    /// The expensive side, between the receiver's setting the flag and its last poll.
    fn heavy(&self);
}

/// Set while the receiver sleeps. The lower half of the word is a futex and holds nothing else.
pub(super) const ASLEEP: u64 = 1;

/// The word of one receiver on the [`CpuBoard`](super::CpuBoard), as its senders see it: whether it sleeps.
#[derive(Clone, Copy, Debug)]
pub struct SleepFlag<W> {
    /// The flag's word.
    word: W,
}

impl<W: SharedWords> SleepFlag<W> {
    /// The flag in word `at` of `words`.
    ///
    /// # Panics
    /// If there is no such word.
    #[must_use]
    pub fn new(words: W, at: usize) -> Self {
        assert!(at < words.len());
        Self {
            // SAFETY: in bounds by the assertion.
            word: unsafe { words.part(at, 1) },
        }
    }

    /// Sets the flag: the receiver is about to sleep. It polls once more after this, and sleeps only if
    /// nothing has arrived.
    pub fn announce(&self, barrier: &impl AsymmetricFence) {
        self.put(self.word() | ASLEEP);
        barrier.heavy();
    }

    /// Clears the flag: the receiver is awake, or a sender is about to wake it.
    ///
    /// Both may clear it at once, and the sender's store may put back where the receiver ran before: a hint
    /// that the receiver corrects at its next wait.
    pub fn clear(&self) {
        self.put(self.word() & !ASLEEP);
    }

    /// Whether a sender, which has published, must wake the receiver.
    ///
    /// # Cost
    /// One load with a light barrier.
    #[inline]
    #[must_use]
    pub fn asleep(&self, barrier: &impl AsymmetricFence) -> bool {
        barrier.light();
        self.word() & ASLEEP != 0
    }

    #[inline(always)]
    fn word(&self) -> u64 {
        // SAFETY: there is one word.
        unsafe { self.word.load(0, Ordering::Relaxed) }
    }

    fn put(&self, word: u64) {
        // SAFETY: there is one word.
        unsafe { self.word.store(0, word, Ordering::Relaxed) };
    }
}

impl SleepFlag<MappedWords<'_>> {
    /// The same flag without a lifetime.
    ///
    /// # Safety
    /// As [`MappedWords::detach`].
    #[must_use]
    pub const unsafe fn detach(self) -> SleepFlag<MappedWords<'static>> {
        SleepFlag {
            // SAFETY: by the caller's word.
            word: unsafe { self.word.detach() },
        }
    }
}
