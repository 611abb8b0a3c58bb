//! Why the collectives of a communicator have ended on this rank, and the words of a failure notice.

use std::mem::discriminant;

use oxmpi_wire::engine::Failure;
use oxmpi_wire::{Fault, Peer};

use crate::error::Error;

/// Why collectives of a communicator have ended for this rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureCause {
    /// A member was lost.
    Lost {
        /// Its rank.
        rank: u32,
        /// How it was lost.
        fault: Fault,
    },
    /// A member's part of a collective failed, or its operation panicked.
    Failed {
        /// Its rank.
        rank: u32,
    },
}

/// The body of a failure notice: a rank, and 0 where its part failed, else 1 plus the index of its fault in
/// [`FAULTS`].
pub(super) type Notice = [u32; 2];

/// The faults by which a rank can be lost, without the details that only the reporting rank knows.
const FAULTS: [Fault; 7] = {
    const REPORTED: &str = "as another rank reports";
    [
        Fault::PeerDead,
        Fault::Left,
        Fault::Protocol(REPORTED),
        Fault::Silent,
        Fault::Gone,
        Fault::Unreachable(REPORTED),
        Fault::Refused(REPORTED),
    ]
};

impl FailureCause {
    /// The cause that an error of rank `own` stands for.
    pub(super) fn of(error: &Error, own: u32) -> Self {
        match error {
            Error::Peer { peer, fault, .. } => Self::Lost {
                rank: *peer as u32,
                fault: fault.0,
            },
            _ => Self::Failed { rank: own },
        }
    }

    pub(super) fn encode(self) -> Notice {
        match self {
            Self::Failed { rank } => [rank, 0],
            Self::Lost { rank, fault } => {
                let same = |known: &Fault| discriminant(known) == discriminant(&fault);
                let at = FAULTS.iter().position(same).unwrap_or(FAULTS.len() - 1);
                [rank, at as u32 + 1]
            }
        }
    }

    pub(super) fn decode([rank, about]: Notice) -> Self {
        match FAULTS.get((about as usize).wrapping_sub(1)) {
            Some(&fault) => Self::Lost { rank, fault },
            None => Self::Failed { rank },
        }
    }
}

/// The contexts of an endpoint whose collectives have ended, and why.
#[derive(Debug, Default)]
pub(crate) struct FailureNotices(Vec<(u32, FailureCause)>);

impl FailureNotices {
    /// Why collectives of the context have ended, if they have.
    ///
    /// # Cost
    /// One compare while nothing has failed.
    #[inline]
    pub(crate) fn of(&self, context: u32) -> Option<FailureCause> {
        if self.0.is_empty() {
            return None;
        }
        let mut all = self.0.iter();
        all.find(|notice| notice.0 == context)
            .map(|notice| notice.1)
    }

    /// Notes the cause. False: the context has one already.
    pub(super) fn note(&mut self, context: u32, cause: FailureCause) -> bool {
        let new = self.of(context).is_none();
        if new {
            self.0.push((context, cause));
        }
        new
    }
}

/// Why a wait of a collective failed.
pub(crate) enum WaitFailure {
    /// A rank was lost.
    Lost(Failure),
    /// The rank at this link called another collective.
    Differs(Peer),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_reported_as_it_was() {
        for fault in FAULTS {
            let cause = FailureCause::Lost { rank: 5, fault };
            assert_eq!(FailureCause::decode(cause.encode()), cause);
        }
        let own = FailureCause::Lost {
            rank: 5,
            fault: Fault::Unreachable("no route to its host"),
        };
        assert_eq!(
            FailureCause::decode(own.encode()),
            FailureCause::Lost {
                rank: 5,
                fault: Fault::Unreachable("as another rank reports"),
            }
        );
        let failed = FailureCause::Failed { rank: 6 };
        assert_eq!(FailureCause::decode(failed.encode()), failed);
        let elsewhere = FailureCause::decode([6, u32::MAX]);
        assert_eq!(elsewhere, failed);
    }
}
