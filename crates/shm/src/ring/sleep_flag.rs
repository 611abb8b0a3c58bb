//! Sleeping without a fence on every send.
//!
//! A sender publishes (release) and then plainly loads the receiver's `asleep` word. The receiver,
//! before it sleeps, sets the word, passes a barrier that reaches the senders' processors too, and
//! looks once more. So either the receiver sees the message or the sender sees the word: the
//! senders pay for a load, and who sleeps anyway pays for the barrier.
//!
//! This is the store-buffer pattern with an asymmetric barrier; source: membarrier(2), "Example".

use core::sync::atomic::{Ordering, fence};

use super::{MappedWords, SharedWords};

/// The two sides of an asymmetric barrier.
pub trait AsymmetricFence {
    /// The cheap side, between a sender's publishing and its look at the word.
    fn light(&self);
    /// The dear side, between the receiver's setting the word and its last look.
    fn heavy(&self);
}

/// A barrier that costs a full fence on both sides: needs nothing from the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct FullFence;

impl AsymmetricFence for FullFence {
    fn light(&self) {
        fence(Ordering::SeqCst);
    }
    fn heavy(&self) {
        fence(Ordering::SeqCst);
    }
}

/// Set while the receiver sleeps. The lower half of the word holds nothing else: it is a futex.
pub(super) const ASLEEP: u64 = 1;

/// One receiver's word on the [`CpuBoard`](super::CpuBoard), as its senders see it: whether it sleeps.
#[derive(Clone, Copy, Debug)]
pub struct SleepFlag<W> {
    /// One word.
    word: W,
}

impl<W: SharedWords> SleepFlag<W> {
    /// The word `at` of `words`.
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

    /// The receiver is about to sleep. After this it looks once more, and sleeps only if nothing
    /// has come.
    pub fn announce(&self, barrier: &impl AsymmetricFence) {
        self.put(self.word() | ASLEEP);
        barrier.heavy();
    }

    /// The receiver is awake, or a sender is about to wake it.
    ///
    /// Both may do it at once, and the sender's store may put back where the receiver ran before:
    /// a hint that the receiver mends when it rests next.
    pub fn clear(&self) {
        self.put(self.word() & !ASLEEP);
    }

    /// Whether a sender that has published must wake the receiver.
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
    /// The same bell without a lifetime.
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
