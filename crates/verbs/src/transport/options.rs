//! How a rank uses a device ([`VerbsOptions`]), and why it cannot.

use super::receive_queues::{ReceiveQueue, ReceiveQueueError};
use crate::error::{PostError, VerbsError};
use oxmpi_wire::Peer;
use std::fmt;

/// How a rank uses a device. All ranks of a job need the same receive queues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerbsOptions {
    /// The port, from 1 on.
    pub port: u8,
    /// The index of this rank's own address in the port's table.
    pub gid_index: u8,
    /// The receive queues of this rank, one of 128 B or more among them. A frame takes the one of the smallest
    /// buffers that it fits.
    pub receive_queues: Vec<ReceiveQueue>,
    /// Bytes of a message that is sent inline, if the device grants so many: at most 256.
    pub inline: u32,
    /// Bytes that one request reads or writes at most; no more than the port's longest message.
    pub piece: u32,
    /// Bytes of the longest frame, if there are buffers of that size; at least 128.
    pub eager_limit: u32,
}

impl Default for VerbsOptions {
    /// Port 1, its first address, [`ReceiveQueue::DEFAULT`], 128 B inline, frames of 12 KiB.
    fn default() -> Self {
        Self {
            port: 1,
            gid_index: 0,
            receive_queues: ReceiveQueue::parse_all(ReceiveQueue::DEFAULT)
                .expect("the default is well-formed"),
            inline: 128,
            piece: 1 << 30,
            eager_limit: 12 << 10,
        }
    }
}

/// Why a rank cannot use a device, or reach a peer by it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum VerbsTransportError {
    /// A call failed.
    #[error(transparent)]
    Verbs(#[from] VerbsError),
    /// A receive was not posted.
    #[error(transparent)]
    Post(#[from] PostError),
    /// Receive queues that no rank can have.
    #[error(transparent)]
    ReceiveQueues(#[from] ReceiveQueueError),
    /// Receive queues of kind `X` for a device without XRC.
    #[error(
        "receive queues {receive_queues} need XRC, by which the processes of a host share connections, and {device} has none; write S in place of each X"
    )]
    NoExtended {
        /// The device.
        device: String,
        /// The setting.
        receive_queues: String,
    },
    /// This rank and a peer have different receive queues.
    #[error(
        "this rank has the receive queues {here}, peer {} has {there}; all ranks of a job need the same", .peer.0
    )]
    ReceiveQueuesDiffer {
        /// The peer.
        peer: Peer,
        /// Those of this rank.
        here: String,
        /// Those of the peer.
        there: String,
    },
}

impl fmt::Debug for VerbsTransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
