//! Who has an endpoint: a call of its owner, nobody, or a helper thread to which calls offer it: [`Latch`].
//!
//! Calls of the owner come one after another. A call that ends with something under way *offers* the endpoint; the helper
//! takes it for one bounded pass, and gives it back as offered. The next call takes it back, or asks for it during a pass
//! and gets it at the end. An endpoint that is free or shut is none of the helper's business.

use core::sync::atomic::Ordering;

use super::SharedWords;

/// The endpoint has been left, or this process is a fork: the system writes this into a child's latch.
const SHUT: u64 = 0;
/// The endpoint is usable, and nobody has it.
const FREE: u64 = 1;
/// The endpoint is usable, nobody has it, and the helper may take it.
const OFFERED: u64 = 2;
/// A call has it.
const LENT: u64 = 3;
/// The helper has it.
const HELD: u64 = 4;
/// The helper has it, and a call waits for it.
const WANTED: u64 = 5;

/// What a call leaves behind when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterCall {
    /// The endpoint has been left.
    Shut,
    /// The next call may use it.
    Free,
    /// As [`AfterCall::Free`], and the helper may use it until then.
    Offered,
}

/// The word that says who has an endpoint. The system may wipe it to 0 in a forked child.
#[derive(Clone, Copy, Debug)]
pub struct Latch<W> {
    word: W,
}

impl<W: SharedWords> Latch<W> {
    /// The latch in the first of `words`, which is 0 at first: the endpoint is shut.
    ///
    /// # Panics
    /// If there is no word.
    #[must_use]
    pub fn new(words: W) -> Self {
        assert!(!words.is_empty());
        Self { word: words }
    }

    /// Whether a call of the owner may use the endpoint without taking it.
    ///
    /// # Cost
    /// One load. Only the owner makes an endpoint free or takes a free one; in a forked child it reads as shut.
    #[inline(always)]
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.load(Ordering::Relaxed) == FREE
    }

    /// Takes the endpoint for a call of the owner, unless a call or the helper has it.
    #[inline]
    #[must_use]
    pub fn try_lend(&self) -> bool {
        let state = self.load(Ordering::Relaxed);
        if state > FREE {
            return state == OFFERED && self.exchange(OFFERED, LENT, Ordering::Acquire);
        }
        self.store(LENT, Ordering::Relaxed);
        true
    }

    /// Takes the endpoint for a call of the owner; `pause` is called again and again until the helper has ended its pass.
    /// False: a call has it.
    #[must_use]
    pub fn lend(&self, mut pause: impl FnMut()) -> bool {
        while !self.try_lend() {
            match self.load(Ordering::Relaxed) {
                LENT => return false,
                HELD if self.exchange(HELD, WANTED, Ordering::Relaxed) => {
                    while self.load(Ordering::Acquire) != LENT {
                        pause();
                    }
                    return true;
                }
                // The helper has ended a pass meanwhile, or begun one.
                _ => {}
            }
        }
        true
    }

    /// Ends the owner's call.
    #[inline(always)]
    pub fn end_call(&self, after: AfterCall) {
        let state = match after {
            AfterCall::Shut => SHUT,
            AfterCall::Free => FREE,
            AfterCall::Offered => OFFERED,
        };
        self.store(state, Ordering::Release);
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
