//! One claim: what it takes, how far it has come, and what a step of it came to.

use oxmpi_wire::Fault;
use oxmpi_wire::layout::StridedRuns;
use oxmpi_wire::regions::RegionId;

use crate::ring::{BulkOffer, ClaimLost, Corrupt, FifoReader, MappedWords, OfferStage};
use crate::transport::cma::PeerProcess;
use crate::transport::control::OperationId;
use crate::transport::tx::bulk::TimedGet;
use crate::transport::tx::bulk::grant::{Grant, OfferWindow};

/// One claimed offer of a peer.
pub(super) struct Claim {
    pub(super) id: OperationId,
    pub(super) peer: u32,
    pub(super) offer: BulkOffer<MappedWords<'static>>,
    pub(super) generation: u32,
    /// The region to pull if the protocol fails.
    pub(super) name: RegionId,
    pub(super) from_at: u64,
    pub(super) timed: TimedGet,
    /// The bytes came in a ping-pong window with the message, so the offer is not claimed.
    pub(super) pushed: bool,
    pub(super) progress: ClaimProgress,
}

/// How far a claim has come.
pub(super) enum ClaimProgress {
    /// Waits for a window; `granted` is the last grant, of no use, or 0.
    Waiting { granted: u64 },
    /// Copies out of a window.
    Draining {
        window: OfferWindow,
        reader: FifoReader<MappedWords<'static>>,
        /// Bytes of the window.
        window_len: u64,
    },
    /// Reads the owner's memory from address `from` on; `done` bytes are here.
    Reading {
        process: PeerProcess,
        from: u64,
        done: u64,
    },
    /// Copies mapped memory, whose places count from address `from`; `done` bytes are here.
    Copying {
        from: *mut u8,
        runs: StridedRuns,
        done: u64,
    },
    /// Both sides copy pieces of the owner's memory.
    Sharing {
        process: PeerProcess,
        from: u64,
        /// Pieces that this side has copied, and those that the owner reports.
        mine: u64,
        theirs: u64,
        /// The owner's memory cannot be read: this side takes the pieces that are left, so that the owner takes no
        /// more, waits for those of the owner, and then pulls.
        failed: bool,
    },
    /// The owner writes all pieces to this rank's memory; `theirs` of them are there.
    Written { theirs: u64 },
    /// The protocol failed: pull as soon as there is room to ask.
    Pull,
}

// SAFETY: the address in `Copying` is shared memory, reached by opaque copies only, and belongs to
// no thread.
unsafe impl Send for ClaimProgress {}

/// The result of a step of a claim.
pub(super) enum ClaimStep {
    /// Nothing could be done yet.
    Idle,
    /// Some bytes were moved.
    Moved,
    /// All bytes are here.
    Complete,
    /// The protocol is not available after all.
    Unavailable,
    /// The peer was asked to stream the bytes: the operation goes on by frames.
    Pulled,
    /// The peer is lost.
    Broken(Fault),
}

impl From<Corrupt> for ClaimStep {
    fn from(corrupt: Corrupt) -> Self {
        Self::Broken(Fault::Protocol(corrupt.0))
    }
}

impl From<ClaimLost> for ClaimStep {
    fn from(void: ClaimLost) -> Self {
        match void {
            ClaimLost::Revoked => Self::Broken(Fault::Refused("the peer has given this rank up")),
            ClaimLost::Corrupt(corrupt) => corrupt.into(),
        }
    }
}

impl Claim {
    /// The stage of the offer while the claim is open.
    pub(super) fn stage(&self) -> OfferStage {
        if self.pushed {
            OfferStage::Open
        } else {
            OfferStage::Claimed {
                protocol: self.timed.protocol.code(),
            }
        }
    }

    /// Checks that the owner has not revoked the offer.
    pub(super) fn holds(&self) -> Result<(), ClaimLost> {
        self.offer.holds(self.generation, self.stage())
    }

    /// Tells the owner that the claim is over.
    pub(super) fn finish(&self) -> Result<(), ClaimLost> {
        if !self.pushed {
            return self
                .offer
                .finish(self.generation, self.timed.protocol.code());
        }
        // A window of which the owner fills in more than this get takes stays the owner's.
        if self.takes_all() {
            self.offer.took(self.generation);
        }
        Ok(())
    }

    /// Whether the get takes all that the owner fills into its window.
    pub(super) fn takes_all(&self) -> bool {
        Grant::of_word(self.offer.granted()).is_some_and(|grant| grant.bytes == self.timed.len)
    }
}
