//! Bytes of one rank that one peer may claim: [`BulkOffer`].
//!
//! The owner opens an offer and sends its index and generation to a peer. The peer claims it and names the
//! protocol by which it takes the bytes; from then on the owner cannot withdraw it. When the peer has all
//! bytes it finishes the claim, and the offer is the owner's again. A claim with an old generation fails, so
//! an old key reaches nothing. An owner that has lost the peer revokes the offer at any stage; a claimer that
//! does not know yet finds out when it finishes, and does not count on what it has read.
//!
//! What lies in a buffer that goes over with the message about the offer needs no claim: the state stays
//! open, and the claimer reports at its end that it took the bytes ([`BulkOffer::took`]).
//!
//! ```text
//!           open            claim                finish
//! Closed  ------->  Open  ---------> Claimed  ----------->  Done
//!    ^---- withdraw --'                                        |
//!    ^-------------- the owner's next generation --------------'
//! ```

use core::sync::atomic::Ordering;

use super::{Corrupt, FifoCounters, STRIDE, SharedWords};

/// Words of an offer: two lines. An offer has one owner and one claimer.
pub const OFFER_WORDS: usize = STRIDE;

// The owner's line; the claimer changes the state there.
const STATE: usize = 0;
const GRANT: usize = 1;
const FILLED: usize = 2;
const SHARE: usize = 3;
// The claimer's line; both sides take pieces there.
const JOIN: usize = STRIDE / 2;
const JOINED: usize = JOIN + 1;
const DRAINED: usize = JOIN + 2;
const NEXT: usize = JOIN + 3;
const TOOK: usize = JOIN + 4;

/// Attempts to take a piece. Each that fails is a piece that the other side took, some ten microseconds of
/// work.
const ATTEMPTS: u32 = 8;

/// The loss of a claim whose offer is in a state that neither side writes.
const CHANGED: ClaimLost = ClaimLost::Corrupt(Corrupt("an offer changed under its claimer"));

const CLOSED: u64 = 0;
const OPEN: u64 = 1;
const DONE: u64 = 2;
const CLAIMED: u64 = 3;

/// The stage of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferStage {
    /// Not offered.
    Closed,
    /// Offered, and not yet claimed.
    Open,
    /// The claimer takes the bytes by this protocol.
    Claimed {
        /// The code of the claimer's protocol.
        protocol: u8,
    },
    /// The claimer has all bytes.
    Done {
        /// The code of the claimer's protocol.
        protocol: u8,
    },
}

/// The owner's progress in a transfer whose pieces both sides move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerProgress {
    /// Pieces that it has moved.
    Pieces(u64),
    /// It could not move a piece that it took.
    Failed,
}

/// Why a claim is void.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimLost {
    /// The owner has revoked the offer.
    Revoked,
    /// The offer's state is one that neither side writes.
    Corrupt(Corrupt),
}

/// An offer, as both sides see it.
#[derive(Clone, Copy, Debug)]
pub struct BulkOffer<W> {
    words: W,
    at: usize,
}

impl OfferStage {
    /// The state word of this stage in `generation`.
    #[must_use]
    pub const fn word(self, generation: u32) -> u64 {
        let low = match self {
            Self::Closed => CLOSED,
            Self::Open => OPEN,
            Self::Done { protocol } => DONE | (protocol as u64) << 4,
            Self::Claimed { protocol } => CLAIMED | (protocol as u64) << 4,
        };
        (generation as u64) << 32 | low
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

    #[inline(always)]
    fn load(&self, word: usize, order: Ordering) -> u64 {
        debug_assert!(word < OFFER_WORDS);
        // SAFETY: `new` checked the words of an offer.
        unsafe { self.words.load(self.at + word, order) }
    }

    #[inline(always)]
    fn store(&self, word: usize, value: u64, order: Ordering) {
        debug_assert!(word < OFFER_WORDS);
        // SAFETY: as above.
        unsafe { self.words.store(self.at + word, value, order) };
    }

    #[inline(always)]
    fn exchange(&self, word: usize, old: u64, new: u64, order: Ordering) -> bool {
        debug_assert!(word < OFFER_WORDS);
        // SAFETY: as above.
        unsafe { self.words.exchange(self.at + word, old, new, order) }
    }

    /// The words in which the offer lies.
    pub const fn words(&self) -> &W {
        &self.words
    }

    /// The index of the state word.
    pub const fn state_word(&self) -> usize {
        self.at + STATE
    }

    /// The index of the word that holds the grant.
    pub const fn grant_word(&self) -> usize {
        self.at + GRANT
    }

    /// The index of the word that holds the owner's progress.
    pub const fn share_word(&self) -> usize {
        self.at + SHARE
    }

    /// The index of the word that is 0 until the claimer has joined.
    pub const fn join_word(&self) -> usize {
        self.at + JOIN
    }

    /// The counters of the FIFO that the bytes go through, if they do.
    pub const fn counters(&self) -> FifoCounters {
        FifoCounters {
            filled: self.at + FILLED,
            drained: self.at + DRAINED,
        }
    }

    /// Owner: opens the offer as `generation`, which no earlier offer here had; `grant` as for
    /// [`BulkOffer::grant`], or 0.
    pub fn open(&self, generation: u32, grant: u64) {
        for (word, value) in [(GRANT, grant), (JOIN, 0), (NEXT, 0), (SHARE, 0)] {
            self.store(word, value, Ordering::Relaxed);
        }
        let open = OfferStage::Open.word(generation);
        // A claimer sees all that was prepared.
        self.store(STATE, open, Ordering::Release);
    }

    /// Owner: the stage of the offer; [`OfferStage::Closed`] if it is of another generation.
    ///
    /// # Cost
    /// One load.
    #[must_use]
    pub fn stage(&self, generation: u32) -> OfferStage {
        // The acquire pairs with `finish`: what the claimer has read may be written again.
        let word = self.load(STATE, Ordering::Acquire);
        let protocol = (word >> 4) as u8;
        match word & 15 {
            _ if (word >> 32) as u32 != generation => OfferStage::Closed,
            OPEN => OfferStage::Open,
            DONE => OfferStage::Done { protocol },
            CLAIMED => OfferStage::Claimed { protocol },
            _ => OfferStage::Closed,
        }
    }

    /// Owner: takes the offer back. False if it was claimed before.
    pub fn withdraw(&self, generation: u32) -> bool {
        let [open, closed] = [OfferStage::Open, OfferStage::Closed].map(|at| at.word(generation));
        // No peer claimed it, so there is nothing to acquire.
        self.exchange(STATE, open, closed, Ordering::Relaxed)
    }

    /// Owner: grants the claimer something, not 0, such as the number of a FIFO.
    pub fn grant(&self, what: u64) {
        // A claimer that sees the grant sees what was prepared for it.
        self.store(GRANT, what, Ordering::Release);
    }

    /// Claimer: claims the offer of `generation`. False if it is no longer open.
    #[must_use]
    pub fn claim(&self, generation: u32, protocol: u8) -> bool {
        let open = OfferStage::Open.word(generation);
        let claimed = OfferStage::Claimed { protocol }.word(generation);
        // The acquire pairs with `open`.
        self.exchange(STATE, open, claimed, Ordering::Acquire)
    }

    /// Claimer: the grant; 0 if there is none yet.
    #[must_use]
    pub fn granted(&self) -> u64 {
        // The acquire pairs with `grant`.
        self.load(GRANT, Ordering::Acquire)
    }

    /// Owner: revokes the offer, claimed or not: its peer is lost, which the peer may not know. The bytes may
    /// be written again: a claimer that still reads finds out by [`BulkOffer::holds`] and
    /// [`BulkOffer::finish`].
    pub fn revoke(&self, generation: u32) {
        let closed = OfferStage::Closed.word(generation);
        // The claimer changes the state twice at most.
        for _ in 0..3 {
            let word = self.load(STATE, Ordering::Relaxed);
            if self.exchange(STATE, word, closed, Ordering::Relaxed) {
                break;
            }
        }
        // Pairs with the fence of `finish`: a claimer that reads what is written after this sees the state.
        self.words.fence(Ordering::Release);
    }

    /// Claimer: checks that the offer is at the stage at which it uses it: claimed, or open where it needs no
    /// claim.
    ///
    /// # Cost
    /// One load.
    ///
    /// # Errors
    /// [`ClaimLost`]: no more bytes arrive.
    pub fn holds(&self, generation: u32, stage: OfferStage) -> Result<(), ClaimLost> {
        let word = self.load(STATE, Ordering::Relaxed);
        let closed = OfferStage::Closed.word(generation);
        if word == stage.word(generation) {
            Ok(())
        } else if word == closed {
            Err(ClaimLost::Revoked)
        } else {
            Err(CHANGED)
        }
    }

    /// Claimer: ends its claim by `protocol`; it has all bytes and uses nothing of the offer any more.
    ///
    /// # Errors
    /// [`ClaimLost`]: the bytes that were read are arbitrary.
    pub fn finish(&self, generation: u32, protocol: u8) -> Result<(), ClaimLost> {
        let claimed = OfferStage::Claimed { protocol }.word(generation);
        let done = OfferStage::Done { protocol }.word(generation);
        // The reads come before the read of the state.
        self.words.fence(Ordering::Acquire);
        // The release: and before the owner's next writes.
        if self.exchange(STATE, claimed, done, Ordering::Release) {
            return Ok(());
        }
        // A state that was put back since is no better.
        let held = self.holds(generation, OfferStage::Claimed { protocol });
        Err(held.err().unwrap_or(CHANGED))
    }

    /// Claimer: took all bytes without a claim, and uses nothing of the offer any more. A message to the
    /// owner follows and says so.
    pub fn took(&self, generation: u32) {
        // That message carries the order.
        self.store(TOOK, u64::from(generation), Ordering::Relaxed);
    }

    /// Owner, once that message has arrived: whether the claimer called [`BulkOffer::took`].
    #[must_use]
    pub fn is_taken(&self, generation: u32) -> bool {
        let word = self.load(TOOK, Ordering::Relaxed);
        word == u64::from(generation)
    }

    /// Claimer: asks the owner to move pieces as well; two words that it must know, the first not 0.
    pub fn join(&self, what: [u64; 2]) {
        self.store(JOINED, what[1], Ordering::Relaxed);
        // An owner that sees the first word sees the second.
        self.store(JOIN, what[0], Ordering::Release);
    }

    /// Owner: the words of [`BulkOffer::join`], if the claimer has asked.
    #[must_use]
    pub fn joined(&self) -> Option<[u64; 2]> {
        // The acquire pairs with `join`.
        let first = self.load(JOIN, Ordering::Acquire);
        let second = self.load(JOINED, Ordering::Relaxed);
        (first != 0).then_some([first, second])
    }

    /// Either side of a shared transfer: takes the next free piece, if its number is below `pieces`. `None`
    /// also after some attempts that failed: a side has few rivals unless its peer is hostile.
    #[must_use]
    pub fn take(&self, pieces: u64) -> Option<u64> {
        for _ in 0..ATTEMPTS {
            let next = self.load(NEXT, Ordering::Relaxed);
            if next >= pieces {
                return None;
            }
            // Pieces are disjoint, and `shared` alone reports what came of them.
            if self.exchange(NEXT, next, next + 1, Ordering::Relaxed) {
                return Some(next);
            }
        }
        None
    }

    /// Claimer: leaves a shared transfer: no piece is taken any more.
    pub fn leave(&self) {
        // An owner that is about to take one finds another number.
        self.store(NEXT, u64::MAX, Ordering::Relaxed);
    }

    /// Owner: reports its progress in a shared transfer.
    pub fn share(&self, share: OwnerProgress) {
        let word = match share {
            OwnerProgress::Pieces(n) => n,
            OwnerProgress::Failed => u64::MAX,
        };
        // The claimer then sees the bytes of the pieces.
        self.store(SHARE, word, Ordering::Release);
    }

    /// Claimer: the owner's progress.
    #[must_use]
    pub fn shared(&self) -> OwnerProgress {
        // The acquire pairs with `share`.
        match self.load(SHARE, Ordering::Acquire) {
            u64::MAX => OwnerProgress::Failed,
            n => OwnerProgress::Pieces(n),
        }
    }
}
