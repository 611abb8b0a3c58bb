//! The ranks of a communicator's collectives, how this rank reaches them, and the errors that name them.

mod failure_notice;

use oxmpi_wire::engine::{Failure, Outcome};
use oxmpi_wire::{Fault, Peer};

pub(super) use self::failure_notice::received_notice;
use super::group::Group;
use super::threading::Threading;
use crate::error::{Error, FaultReason, Result};

/// The ranks of a communicator's collectives, and how this rank reaches them.
#[derive(Debug)]
pub struct Members<'a, A: Threading> {
    pub access: &'a A,
    pub group: &'a Group,
    /// The context of the communicator's collectives.
    pub context: u32,
}

impl<A: Threading> Clone for Members<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: Threading> Copy for Members<'_, A> {}

impl<A: Threading> Members<'_, A> {
    /// Checks the outcome of a message that should have had `bytes` bytes.
    pub(crate) fn ended(&self, outcome: Outcome, bytes: u64) -> Result<()> {
        match outcome {
            // Only the end of the world cancels it like this.
            Ok(status) if status.cancelled => Err(Error::Finalized),
            Ok(status) if status.len == bytes => Ok(()),
            Ok(status) => Err(self.disagree(status.source, status.len, bytes)),
            Err(Failure::Truncated { peer, sent, .. }) => Err(self.disagree(peer, sent, bytes)),
            Err(failure) => Err(self.failed(failure)),
        }
    }

    /// The error of a message that is longer or shorter than its receiver expects.
    #[cold]
    fn disagree(&self, peer: Peer, sent: u64, expected: u64) -> Error {
        match self.group.rank_of(peer.0) {
            Some(source) => Error::CollectiveCount {
                rank: self.group.rank() as usize,
                source: source as usize,
                sent,
                expected,
            },
            None => self.refused(&"a message came from a rank that is not a member"),
        }
    }

    /// The error of a call that names `rank`, which the communicator does not have.
    #[cold]
    pub fn no_rank(&self, rank: usize) -> Error {
        Error::Rank {
            rank: self.group.rank() as usize,
            named: rank,
            size: self.group.size() as usize,
        }
    }

    /// The error of a buffer that is shorter than the call says.
    #[cold]
    pub(crate) fn short_buffer(&self) -> Error {
        Error::CollectiveBuffer {
            rank: self.group.rank() as usize,
        }
    }

    /// The error of a collective that cannot run or go on.
    #[cold]
    pub fn refused(&self, why: &dyn std::fmt::Display) -> Error {
        Error::Collective {
            rank: self.group.rank() as usize,
            why: why.to_string(),
        }
    }

    /// The error of a failure, in ranks of the communicator.
    #[cold]
    pub fn failed(&self, failure: Failure) -> Error {
        let rank = self.group.rank() as usize;
        match failure {
            Failure::Truncated {
                peer,
                tag,
                sent,
                room,
            } => Error::Truncated {
                rank,
                source: self.rank_of(peer).unwrap_or_default(),
                tag,
                sent,
                room,
            },
            Failure::Fault { peer, fault } => self.lost(peer, fault),
            Failure::Generalized(number) => self
                .access
                .with(|endpoint| endpoint.collectives.error(number))
                .unwrap_or(Error::Finalized),
            Failure::Stale => Error::Transport {
                rank,
                fault: FaultReason(Fault::Protocol("a request was completed twice")),
            },
        }
    }

    /// The error of a lost peer.
    #[cold]
    pub fn lost(&self, peer: Peer, fault: Fault) -> Error {
        let rank = self.group.rank() as usize;
        match self.rank_of(peer) {
            Some(lost) => Error::Peer {
                rank,
                peer: lost,
                pid: self.access.with(|endpoint| endpoint.pid(peer)),
                host: self.access.with(|endpoint| endpoint.host(peer)),
                fault: FaultReason(fault),
            },
            None => Error::Transport {
                rank,
                fault: FaultReason(fault),
            },
        }
    }

    fn rank_of(&self, peer: Peer) -> Option<usize> {
        self.group.rank_of(peer.0).map(|rank| rank as usize)
    }
}
