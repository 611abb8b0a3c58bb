//! Bytes of one rank that one other may claim.
//!
//! The owner opens an offer and tells its place and turn to a peer. The peer claims it and says by
//! which road it takes the bytes; meanwhile the owner cannot withdraw it. When the peer has all, it
//! says done, and the offer is the owner's again. A claim with an old turn fails, so a key that was
//! kept too long reaches nothing. An owner that has lost the peer revokes the offer at any stage; a
//! claimer that does not know yet finds out at the end, and takes nothing for the message.
//!
//! What lies in a buffer that goes over with the message which tells of the offer needs no claim: the
//! state stays open, and the claimer says at its end that it took it ([`BulkOffer::took`]).
//!
//! ```text
//!           open            claim                finish
//! Closed  ------->  Open  ---------> Claimed  ----------->  Done
//!    ^---- withdraw --'                                        |
//!    ^-------------------- the owner's next turn --------------'
//! ```

use core::sync::atomic::Ordering;

use super::{Corrupt, FifoCounters, STRIDE, SharedWords};

/// SharedWords that an offer takes: two lines. A place is for one owner and one claimer.
pub const OFFER_WORDS: usize = STRIDE;

// The owner's line, but that the claimer changes the state.
const STATE: usize = 0;
const GRANT: usize = 1;
const FILLED: usize = 2;
const SHARE: usize = 3;
// The claimer's line, but that both take pieces.
const JOIN: usize = STRIDE / 2;
const JOINED: usize = JOIN + 1;
const DRAINED: usize = JOIN + 2;
const NEXT: usize = JOIN + 3;
const TOOK: usize = JOIN + 4;

/// Attempts to take a piece. Each that fails is a piece that the other side took, some ten
/// microseconds of work.
const ATTEMPTS: u32 = 8;

const CLOSED: u64 = 0;
const OPEN: u64 = 1;
const DONE: u64 = 2;
const CLAIMABLE: u64 = 3;

/// How far an offer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferStage {
    /// Not offered.
    Closed,
    /// Offered, and not yet claimed.
    Open,
    /// The claimer takes it by road `protocol`.
    Claimed {
        /// The claimer's road.
        protocol: u8,
    },
    /// The claimer has it all.
    Done {
        /// The claimer's road.
        protocol: u8,
    },
}

/// What the owner has done of a transfer that both sides share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerProgress {
    /// So many pieces.
    Pieces(u64),
    /// It could not do what it took.
    Failed,
}

/// PlanReason a claim holds no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimLost {
    /// The owner has revoked the offer.
    Revoked,
    /// The offer is what neither side makes of it.
    Corrupt(Corrupt),
}

/// One offer, as both sides see it.
#[derive(Clone, Copy, Debug)]
pub struct BulkOffer<W> {
    words: W,
    at: usize,
}

impl OfferStage {
    /// What the word of a `turn` is at this stage.
    #[must_use]
    pub const fn word(self, turn: u32) -> u64 {
        let low = match self {
            Self::Closed => CLOSED,
            Self::Open => OPEN,
            Self::Done { protocol } => DONE | (protocol as u64) << 4,
            Self::Claimed { protocol } => CLAIMABLE | (protocol as u64) << 4,
        };
        (turn as u64) << 32 | low
    }
}

impl<W: SharedWords> BulkOffer<W> {
    /// The offer in the [`OFFER_WORDS`] words from `at` on.
    ///
    /// # Panics
    /// If `words` has no such words.
    #[must_use]
    pub fn new(words: W, at: usize) -> Self {
        assert!(words.holds(at, OFFER_WORDS));
        Self { words, at }
    }

    /// The words under it.
    pub const fn words(&self) -> &W {
        &self.words
    }

    /// The index of the word that says how far it has come.
    pub const fn state_word(&self) -> usize {
        self.at + STATE
    }

    /// The index of the word that tells what was granted.
    pub const fn grant_word(&self) -> usize {
        self.at + GRANT
    }

    /// The index of the word that tells the owner's share.
    pub const fn share_word(&self) -> usize {
        self.at + SHARE
    }

    /// The counters of the pipe that the bytes go through, if they do.
    pub const fn counters(&self) -> FifoCounters {
        FifoCounters {
            filled: self.at + FILLED,
            drained: self.at + DRAINED,
        }
    }

    /// Owner: offers something as `turn`, which no earlier offer in this place had; `grant` as for
    /// [`BulkOffer::grant`], or 0.
    pub fn open(&self, turn: u32, grant: u64) {
        for (word, value) in [(GRANT, grant), (JOIN, 0), (NEXT, 0), (SHARE, 0)] {
            // SAFETY: `new` checked the index.
            unsafe { self.words.store(self.at + word, value, Ordering::Relaxed) };
        }
        let open = OfferStage::Open.word(turn);
        // Who claims it sees all that was prepared.
        // SAFETY: `new` checked the index.
        unsafe {
            self.words.store(self.at + STATE, open, Ordering::Release);
        }
    }

    /// Owner: how far the offer has come. [`OfferStage::Closed`] if it is not `turn`'s.
    ///
    /// # Cost
    /// One load.
    #[must_use]
    pub fn look(&self, turn: u32) -> OfferStage {
        // The acquire pairs with `finish`: what the claimer read may be written again.
        // SAFETY: `new` checked the index.
        let word = unsafe { self.words.load(self.at + STATE, Ordering::Acquire) };
        match word & 15 {
            _ if (word >> 32) as u32 != turn => OfferStage::Closed,
            OPEN => OfferStage::Open,
            DONE => OfferStage::Done {
                protocol: (word >> 4) as u8,
            },
            CLAIMABLE => OfferStage::Claimed {
                protocol: (word >> 4) as u8,
            },
            _ => OfferStage::Closed,
        }
    }

    /// Owner: takes the offer back. False if it was claimed before.
    pub fn withdraw(&self, turn: u32) -> bool {
        let (open, closed) = (OfferStage::Open.word(turn), OfferStage::Closed.word(turn));
        // Nobody else had it, so there is nothing to see.
        // SAFETY: `new` checked the index.
        unsafe {
            self.words
                .exchange(self.at + STATE, open, closed, Ordering::Relaxed)
        }
    }

    /// Owner: tells the claimer something, not 0, such as which pipe it uses.
    pub fn grant(&self, what: u64) {
        // Who sees it sees what was prepared for it.
        // SAFETY: `new` checked the index.
        unsafe {
            self.words.store(self.at + GRANT, what, Ordering::Release);
        }
    }

    /// Claimer: takes the offer, which is `turn`'s. False if it is no longer open.
    #[must_use]
    pub fn claim(&self, turn: u32, protocol: u8) -> bool {
        let claimed = OfferStage::Claimed { protocol }.word(turn);
        // The acquire pairs with `open`.
        // SAFETY: `new` checked the index.
        unsafe {
            self.words.exchange(
                self.at + STATE,
                OfferStage::Open.word(turn),
                claimed,
                Ordering::Acquire,
            )
        }
    }

    /// Claimer: what was granted, 0 if nothing yet.
    #[must_use]
    pub fn granted(&self) -> u64 {
        // The acquire pairs with `grant`.
        // SAFETY: `new` checked the index.
        unsafe { self.words.load(self.at + GRANT, Ordering::Acquire) }
    }

    /// Owner: takes the offer back whether it was claimed or not: its peer is lost, which the peer may
    /// not know. What it names may be written again: a claimer that still reads is told by
    /// [`BulkOffer::holds`] and [`BulkOffer::finish`].
    pub fn revoke(&self, turn: u32) {
        let closed = OfferStage::Closed.word(turn);
        // A claimer moves it on twice at most.
        for _ in 0..3 {
            // SAFETY: `new` checked the index.
            let word = unsafe { self.words.load(self.at + STATE, Ordering::Relaxed) };
            // SAFETY: as above.
            let won = unsafe {
                self.words
                    .exchange(self.at + STATE, word, closed, Ordering::Relaxed)
            };
            if won {
                break;
            }
        }
        // Pairs with the fence of `finish`: who reads what is written after this sees the word.
        self.words.fence(Ordering::Release);
    }

    /// Claimer: whether the offer is still at the stage where it uses it: claimed, or open where it
    /// needs no claim.
    ///
    /// # Cost
    /// One load.
    ///
    /// # Errors
    /// [`ClaimLost`]: nothing more comes.
    pub fn holds(&self, turn: u32, stage: OfferStage) -> Result<(), ClaimLost> {
        // SAFETY: `new` checked the index.
        let word = unsafe { self.words.load(self.at + STATE, Ordering::Relaxed) };
        let closed = OfferStage::Closed.word(turn);
        if word == stage.word(turn) {
            Ok(())
        } else if word == closed {
            Err(ClaimLost::Revoked)
        } else {
            Err(ClaimLost::Corrupt(Corrupt(
                "an offer changed under its claimer",
            )))
        }
    }

    /// Claimer: it has all, and uses nothing of the offer any more, which it claimed by road `protocol`.
    ///
    /// # Errors
    /// [`ClaimLost`]: what was read may be anything.
    pub fn finish(&self, turn: u32, protocol: u8) -> Result<(), ClaimLost> {
        let claimed = OfferStage::Claimed { protocol }.word(turn);
        let done = OfferStage::Done { protocol }.word(turn);
        // Our reads come before the look at the word.
        self.words.fence(Ordering::Acquire);
        // The release: and before the owner's next writes.
        // SAFETY: `new` checked the index.
        let finished = unsafe {
            self.words
                .exchange(self.at + STATE, claimed, done, Ordering::Release)
        };
        if finished {
            return Ok(());
        }
        // A word that was put back since is no better.
        let changed = ClaimLost::Corrupt(Corrupt("an offer changed under its claimer"));
        Err(self
            .holds(turn, OfferStage::Claimed { protocol })
            .err()
            .unwrap_or(changed))
    }

    /// Claimer: it took all without a claim, and uses nothing of the offer any more. A message to the
    /// owner follows, and says so.
    pub fn took(&self, turn: u32) {
        // That message carries the order.
        // SAFETY: `new` checked the index.
        unsafe {
            self.words
                .store(self.at + TOOK, u64::from(turn), Ordering::Relaxed);
        }
    }

    /// Owner, once that message has come: whether the claimer said [`BulkOffer::took`].
    #[must_use]
    pub fn is_taken(&self, turn: u32) -> bool {
        // SAFETY: `new` checked the index.
        let word = unsafe { self.words.load(self.at + TOOK, Ordering::Relaxed) };
        word == u64::from(turn)
    }

    /// Claimer: lets the owner take part: two words that it must know, the first not 0.
    pub fn join(&self, what: [u64; 2]) {
        // SAFETY: `new` checked the index.
        unsafe {
            self.words
                .store(self.at + JOINED, what[1], Ordering::Relaxed);
        }
        // Who sees the first word sees the second.
        // SAFETY: `new` checked the index.
        unsafe {
            self.words.store(self.at + JOIN, what[0], Ordering::Release);
        }
    }

    /// Owner: what the claimer said in [`BulkOffer::join`].
    #[must_use]
    pub fn joined(&self) -> Option<[u64; 2]> {
        // The acquire pairs with `join`.
        // SAFETY: `new` checked the index.
        let first = unsafe { self.words.load(self.at + JOIN, Ordering::Acquire) };
        // SAFETY: `new` checked the index.
        let second = unsafe { self.words.load(self.at + JOINED, Ordering::Relaxed) };
        (first != 0).then_some([first, second])
    }

    /// Either side of a shared transfer: the number of the next piece that nobody has taken yet,
    /// if it is below `pieces`.
    /// Nothing also after some attempts that failed: one side has few rivals unless the other one
    /// plays tricks.
    #[must_use]
    pub fn take(&self, pieces: u64) -> Option<u64> {
        for _ in 0..ATTEMPTS {
            // SAFETY: `new` checked the index.
            let next = unsafe { self.words.load(self.at + NEXT, Ordering::Relaxed) };
            if next >= pieces {
                return None;
            }
            // Pieces are disjoint, and what came of them is told by `shared` alone.
            // SAFETY: `new` checked the index.
            let won = unsafe {
                self.words
                    .exchange(self.at + NEXT, next, next + 1, Ordering::Relaxed)
            };
            if won {
                return Some(next);
            }
        }
        None
    }

    /// Claimer: leaves a shared transfer, of which nobody takes a piece any more.
    pub fn leave(&self) {
        // An owner that is about to take one finds another number.
        // SAFETY: `new` checked the index.
        unsafe {
            self.words
                .store(self.at + NEXT, u64::MAX, Ordering::Relaxed);
        }
    }

    /// Owner: what it has done by now of a shared transfer.
    pub fn share(&self, share: OwnerProgress) {
        let word = match share {
            OwnerProgress::Pieces(n) => n,
            OwnerProgress::Failed => u64::MAX,
        };
        // The claimer sees the bytes of the pieces.
        // SAFETY: `new` checked the index.
        unsafe {
            self.words.store(self.at + SHARE, word, Ordering::Release);
        }
    }

    /// Claimer: what the owner has done.
    #[must_use]
    pub fn shared(&self) -> OwnerProgress {
        // The acquire pairs with `share`.
        // SAFETY: `new` checked the index.
        match unsafe { self.words.load(self.at + SHARE, Ordering::Acquire) } {
            u64::MAX => OwnerProgress::Failed,
            n => OwnerProgress::Pieces(n),
        }
    }
}
