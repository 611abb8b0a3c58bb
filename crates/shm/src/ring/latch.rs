//! Who has an endpoint: a call of its owner, or a helper thread to which calls offer it: [`Latch`].
//!
//! Calls of the owner come one after another. A call that ends with something under way *offers* the endpoint; the helper
//! takes it for one bounded pass, and gives it back as offered. The next call takes it back, or asks for it during a pass
//! and gets it at the end. Whatever is not offered is none of the helper's business.

use core::sync::atomic::Ordering;

use super::SharedWords;

/// The owner has it. The system writes this into the latch of a forked child, where there is no helper.
const LENT: u64 = 0;
/// Nobody has it, and the helper may take it.
const OFFERED: u64 = 1;
/// The helper has it.
const HELD: u64 = 2;
/// The helper has it, and a call waits for it.
const WANTED: u64 = 3;

/// The word that says who has an endpoint. The system may wipe it to 0 in a forked child.
#[derive(Clone, Copy, Debug)]
pub struct Latch<W> {
    word: W,
}

impl<W: SharedWords> Latch<W> {
    /// The latch in the first of `words`, which is 0 at first: the owner has the endpoint.
    ///
    /// # Panics
    /// If there is no word.
    #[must_use]
    pub fn new(words: W) -> Self {
        assert!(!words.is_empty());
        Self { word: words }
    }

    /// Ends a call of the owner: from now on the helper may take the endpoint.
    pub fn offer(&self) {
        self.store(OFFERED, Ordering::Release);
    }

    /// Takes the offered endpoint back for a call of the owner, unless the helper has it.
    #[must_use]
    pub fn try_lend(&self) -> bool {
        self.exchange(OFFERED, LENT, Ordering::Acquire)
    }

    /// Takes the offered endpoint back for a call of the owner; `pause` is called again and again until the helper has ended
    /// its pass.
    pub fn lend(&self, mut pause: impl FnMut()) {
        // Neither: the helper has ended a pass meanwhile, or begun one.
        while !self.try_lend() {
            if self.exchange(HELD, WANTED, Ordering::Relaxed) {
                while self.load(Ordering::Acquire) != LENT {
                    pause();
                }
                return;
            }
        }
    }

    /// Takes the endpoint for a pass of the helper, if it is offered.
    #[must_use]
    pub fn take(&self) -> bool {
        self.exchange(OFFERED, HELD, Ordering::Acquire)
    }

    /// Whether a call waits for the end of the helper's pass.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.load(Ordering::Relaxed) == WANTED
    }

    /// Ends the helper's pass: the endpoint is offered again, or goes to the call that waits for it. Whether one did.
    pub fn give_back(&self) -> bool {
        let wanted = !self.exchange(HELD, OFFERED, Ordering::Release);
        if wanted {
            self.store(LENT, Ordering::Release);
        }
        wanted
    }

    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        // SAFETY: `new` checked that there is a word.
        unsafe { self.word.load(0, order) }
    }

    #[inline(always)]
    fn store(&self, state: u64, order: Ordering) {
        // SAFETY: as above.
        unsafe { self.word.store(0, state, order) };
    }

    fn exchange(&self, old: u64, new: u64, order: Ordering) -> bool {
        // SAFETY: as above.
        unsafe { self.word.exchange(0, old, new, order) }
    }
}
