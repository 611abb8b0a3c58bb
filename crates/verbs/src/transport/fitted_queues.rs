//! How many buffers the shared receive queues of a process have that may lock little memory.
//!
//! Peers need not know: a sender is bounded by `sends` of the setting, and tries again while no receive is posted. Queues
//! of one peer keep their buffers, which are its credits.

use super::buffers::Buffers;
use super::options::{VerbsOptions, VerbsTransportError};
use super::receive_queues::{ReceiveQueue, SharedQueue};
use super::registered_bytes::RegisteredBytes;
use crate::registration::{LockedMemoryShortage, QueueNeeds};

/// Buffers with which a shared queue still works.
const LEAST: u32 = 4;

/// The most buffers of a shared receive queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FittedQueues {
    /// As many as fit.
    buffers: u32,
    /// The most that a setting asks for.
    wanted: u32,
}

impl FittedQueues {
    /// Those of a process that may lock `limit` bytes (`None`: any number), and has a peer.
    ///
    /// # Errors
    /// The smallest queues exceed the limit.
    pub(crate) fn of(
        options: &VerbsOptions,
        limit: Option<u64>,
    ) -> Result<Self, LockedMemoryShortage> {
        let shared = || {
            options
                .receive_queues
                .iter()
                .filter(|queue| queue.is_shared())
        };
        let wanted = shared().map(ReceiveQueue::buffers).max().unwrap_or(0);
        // As many again are to send from.
        let strides = shared().map(|queue| 2 * Buffers::stride(queue.size()) as u64);
        let needs = QueueNeeds {
            fixed: RegisteredBytes::of(options).peer,
            per_buffer: strides.sum(),
            wanted,
            least: LEAST.min(wanted),
        };
        let buffers = needs.fit(limit)?;
        Ok(Self { buffers, wanted })
    }

    /// A queue with no more buffers than fit.
    pub(super) fn apply(self, queue: SharedQueue) -> SharedQueue {
        match queue.buffers <= self.buffers {
            true => queue,
            false => SharedQueue {
                buffers: self.buffers,
                low_mark: queue.low_mark.min(self.buffers / 2),
                ..queue
            },
        }
    }

    /// Checks that a message of any of `peers` peers finds a receive always: iWARP ends connections whose does not.
    ///
    /// # Errors
    /// A shared queue of too few buffers.
    pub(super) fn check_iwarp(
        self,
        queues: &[ReceiveQueue],
        peers: u32,
    ) -> Result<(), VerbsTransportError> {
        let is_short = |queue: &&ReceiveQueue| match queue {
            ReceiveQueue::Shared(shared) => !self.apply(*shared).has_shares_for(peers),
            ReceiveQueue::PerPeer(_) | ReceiveQueue::Extended(_) => false,
        };
        match queues.iter().find(is_short) {
            Some(queue) => Err(VerbsTransportError::TooFewReceives {
                receive_queue: queue.to_string(),
                peers,
            }),
            None => Ok(()),
        }
    }

    /// The warning that queues are smaller than a setting asks for.
    pub(crate) fn warning(self) -> Option<String> {
        let Self { buffers, wanted } = self;
        (buffers < wanted).then(|| {
            format!(
                "shared receive queues have {buffers} buffers, not {wanted}, as this process may lock little memory, of which \
                 half is left for messages; raise the limit (`ulimit -l`), or ask for less by verbs_receive_queues"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_queues_shrink_to_half_of_the_limit() {
        let options = VerbsOptions::default();
        let usual = FittedQueues::of(&options, None).unwrap();
        assert_eq!((usual.buffers, usual.warning()), (256, None));
        // What most Linux systems allow.
        let limit = 8 << 20;
        let fitted = FittedQueues::of(&options, Some(limit)).unwrap();
        let text = fitted.warning().expect("less than the default");
        assert!(text.contains("buffers, not 256"), "{text}");
        let smaller = options.receive_queues.iter().map(|queue| match *queue {
            ReceiveQueue::Shared(queue) => ReceiveQueue::Shared(fitted.apply(queue)),
            queue => queue,
        });
        let smaller = VerbsOptions {
            receive_queues: smaller.collect(),
            ..options.clone()
        };
        let bytes = RegisteredBytes::of(&smaller);
        let taken = bytes.endpoint + bytes.peer;
        assert!((limit / 4..=limit / 2).contains(&taken), "{taken}");
        for queue in &smaller.receive_queues {
            assert_eq!(queue.to_string().parse(), Ok(*queue), "one that can be");
        }
        let error = FittedQueues::of(&options, Some(64 << 10)).unwrap_err();
        assert!(error.needed > error.limit);
    }
}
