//! How a rank uses a device ([`VerbsOptions`]), and why it cannot.

use super::frame_head::HEAD;
use super::pipeline_sizes::PipelineSizes;
use super::receive_queues::{ReceiveQueue, ReceiveQueueError};
use crate::error::{PostError, VerbsError};
use crate::objects::CmFailure;
use crate::registration::{LockedMemoryShortage, NoForkSupport, RegistrationOptions};
use oxmpi_wire::paths::{PathOverrides, RendezvousScheme};
use oxmpi_wire::{Limits, Peer};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The body of the longest short frame where a device grants nothing inline.
const SHORT: u32 = 64;

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
    /// What stays registered.
    pub registration: RegistrationOptions,
    /// Whether the process may fork (`btl_openib_want_fork_support`): negative to try, 0 not to, positive to fail where
    /// it cannot be.
    pub want_fork_support: i32,
    /// Bytes of the longest message that goes without a rendezvous, if there are buffers of that size. Openib:
    /// `eager_limit`.
    pub eager_limit: u32,
    /// How longer messages go.
    pub long: LongMessages,
    /// Rings to peers that send many frames.
    pub rings: EagerRings,
    /// What connections have in common.
    pub connection: ConnectionOptions,
    /// The file by which ranks of a node find the XRC domain that they share, for receive queues of kind `X`; `None`: one of
    /// the user's own in `/dev/shm`.
    pub xrc_file: Option<PathBuf>,
}

/// What the connections of a rank have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionOptions {
    /// The InfiniBand service level, 0 to 15.
    pub service_level: u8,
    /// The level is that of the route to each peer, which the subnet manager knows and rdmacm asks for.
    pub by_path_record: bool,
    /// The index of the partition key.
    pub pkey_index: u16,
    /// As [`SendAttributes::timeout`](crate::SendAttributes::timeout).
    pub timeout: u8,
    /// As [`SendAttributes::retry_cnt`](crate::SendAttributes::retry_cnt).
    pub retry_count: u8,
}

impl ConnectionOptions {
    /// How long a request takes to fail that gets no answer; `None`: for ever.
    pub(super) fn patience(&self) -> Option<Duration> {
        let once = Duration::from_nanos(4096) * (1 << self.timeout.min(31));
        (self.timeout != 0).then(|| once * (u32::from(self.retry_count) + 1))
    }
}

impl Default for ConnectionOptions {
    /// Level 0, the first key, six retries 1.1 s after each other.
    fn default() -> Self {
        Self {
            service_level: 0,
            by_path_record: false,
            pkey_index: 0,
            timeout: 18,
            retry_count: 6,
        }
    }
}

bitflags::bitflags! {
    /// How the bytes of long messages go, by the numbers of openib's `flags`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct TransferFlags: u32 {
        /// By frames. So do all that go neither of the other ways.
        const SEND = 1;
        /// The sender writes them.
        const PUT = 2;
        /// The receiver reads them.
        const GET = 4;
    }
}

/// How messages go that are longer than [`eager_limit`](VerbsOptions::eager_limit).
///
/// Source: the Open MPI FAQ, "How do I tune large message behavior in the Open MPI v1.3 (and later) series?".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongMessages {
    /// Whether the receiver reads them, or the sender writes them. With both, the receiver reads: that takes a message
    /// less.
    pub flags: TransferFlags,
    /// Bytes of one write, and of a piece that is registered while it moves. Openib: `rdma_pipeline_frag_size`.
    pub fragment: u32,
    /// Bytes at the start that go by frames where memory does not stay registered; `None` for
    /// [`eager_limit`](VerbsOptions::eager_limit). Openib: `rndv_eager_limit`.
    pub first: Option<u32>,
    /// Bytes at the end that do, a page at least. Openib: `rdma_pipeline_send_length`.
    pub last: u32,
    /// Shorter messages go by frames, whatever the flags: copies cost less than registrations. Memory that peers both
    /// read and write is registered whatever its length. Openib: `min_rdma_pipeline_size`.
    pub min_rdma_size: u32,
}

impl Default for LongMessages {
    /// Reads and writes, these of 1 MiB, from 256 KiB on; where memory does not stay registered, the last 1 MiB by frames.
    fn default() -> Self {
        Self {
            flags: TransferFlags::PUT.union(TransferFlags::GET),
            fragment: 1 << 20,
            first: None,
            last: 1 << 20,
            min_rdma_size: 256 << 10,
        }
    }
}

/// Eager rings: peers that send many frames write them to this rank's memory, where it polls for them, in place of
/// sending them. That has the lowest latency, and takes memory for each peer.
///
/// Source: the Open MPI FAQ, "How do I tune small messages in Open MPI v1.1 and later versions?".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EagerRings {
    /// Frames that a peer sends by queues before it is offered a ring. Openib: `eager_rdma_threshold`.
    pub threshold: u32,
    /// Peers that are offered a ring; 0 for no rings. Openib: `max_eager_rdma`.
    pub peers: u32,
    /// Slots of a ring, and more up to the next power of two. Openib: `eager_rdma_num`.
    pub slots: u32,
    /// Bytes of the longest body in a ring. Openib: `eager_limit`.
    pub size: u32,
}

impl Default for EagerRings {
    /// Rings of 16 slots of 12 KiB to the first 16 peers that send 16 frames.
    fn default() -> Self {
        Self {
            threshold: 16,
            peers: 16,
            slots: 16,
            size: 12 << 10,
        }
    }
}

impl EagerRings {
    /// No rings: for devices that do not write the bytes of a request in order, and for iWARP.
    pub const OFF: Self = Self {
        threshold: 0,
        peers: 0,
        slots: 0,
        size: 0,
    };
}

impl VerbsOptions {
    /// Reach of the paths to a peer, where the device grants `inline` bytes, and memory is reached by `rails` rails. By
    /// several, long messages are written: a read takes one.
    #[must_use]
    pub fn limits(&self, inline: u32, rails: usize) -> Limits {
        let LongMessages {
            flags, fragment, ..
        } = self.long;
        let rendezvous = match (
            flags.contains(TransferFlags::PUT),
            flags.contains(TransferFlags::GET),
        ) {
            (true, false) => RendezvousScheme::Put,
            (false, true) => RendezvousScheme::Get,
            (true, true) if rails > 1 => RendezvousScheme::Put,
            (true, true) | (false, false) => RendezvousScheme::Auto,
        };
        let sizes = self.receive_queues.iter().map(ReceiveQueue::size);
        let frame = sizes.max().unwrap_or(0);
        let short = inline.saturating_sub(HEAD as u32).max(SHORT).min(frame);
        let overrides = PathOverrides {
            rendezvous,
            ..PathOverrides::eager(self.eager_limit.min(frame))
        };
        Limits {
            chunk: fragment.max(1).into(),
            overrides,
            ..Limits::new(short, frame)
        }
    }

    /// These as far as iWARP has what they need: devices place the bytes of a write in any order, and its end does not say
    /// that they have arrived, so there are no rings. By reads soft-iWARP (kernel 6.1) brings wrong bytes where both sides
    /// read. So all goes by frames.
    #[must_use]
    pub fn on_iwarp(self) -> Self {
        let mut long = self.long;
        long.flags = TransferFlags::SEND;
        Self {
            long,
            rings: EagerRings::OFF,
            ..self
        }
    }

    /// What of long messages goes in pieces where their memory does not stay registered, each by one request.
    pub(super) fn pipeline(&self) -> PipelineSizes {
        let LongMessages {
            fragment,
            first,
            last,
            ..
        } = self.long;
        PipelineSizes {
            first: first.unwrap_or(self.eager_limit).into(),
            last: last.into(),
            piece: fragment.min(self.piece).max(1).into(),
        }
    }

    /// Memory for one use that is shorter goes by frames.
    pub(super) fn min_rdma(&self) -> u32 {
        let rdma = TransferFlags::PUT | TransferFlags::GET;
        match self.long.flags.intersects(rdma) {
            true => self.long.min_rdma_size,
            false => u32::MAX,
        }
    }
}

impl Default for VerbsOptions {
    /// Port 1, its first address, [`ReceiveQueue::DEFAULT`], 128 B inline, no rendezvous up to 12 KiB.
    fn default() -> Self {
        Self {
            port: 1,
            gid_index: 0,
            receive_queues: ReceiveQueue::parse_all(ReceiveQueue::DEFAULT)
                .expect("the default is well-formed"),
            inline: 128,
            piece: 1 << 30,
            registration: RegistrationOptions::default(),
            want_fork_support: -1,
            eager_limit: 12 << 10,
            long: LongMessages::default(),
            rings: EagerRings::default(),
            connection: ConnectionOptions::default(),
            xrc_file: None,
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
    /// The process cannot fork, and is to.
    #[error(transparent)]
    Fork(#[from] NoForkSupport),
    /// The process may lock too little memory.
    #[error(transparent)]
    LockedMemory(#[from] LockedMemoryShortage),
    /// A forked child uses its parent's endpoint.
    #[error(
        "this process is a forked child, and the device is its parent's: start it by exec, or open the device in it"
    )]
    Forked,
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
    /// The device has no completion queue that is long enough.
    #[error(
        "the completion queues of {device} are long enough for {most} peers by the receive queues {receive_queues}, and \
         this job has {peers}; take queues of fewer buffers"
    )]
    TooManyPeers {
        /// The device.
        device: String,
        /// Those that there may be.
        peers: u32,
        /// Those for which a queue is long enough.
        most: u32,
        /// The setting.
        receive_queues: String,
    },
    /// This rank and a peer have no port on the same fabric.
    #[error("peer {} has no RDMA port on a fabric of this rank's ports", .peer.0)]
    NoPortPair {
        /// The peer.
        peer: Peer,
    },
    /// A shared receive queue may run short, and the device's network does not wait for receives.
    #[error(
        "the receive queue {receive_queue} has too few buffers for {peers} peers: iWARP ends a connection whose message \
         finds none, so that the low mark must be 5 times the peers at least; or write P in place of S"
    )]
    TooFewReceives {
        /// The queue.
        receive_queue: String,
        /// Those that share it.
        peers: u32,
    },
    /// rdmacm makes no connection.
    #[error("{0}")]
    NotConnected(CmFailure),
    /// A peer asks for a connection that there is, or cannot be.
    #[error(
        "the peer has asked for a connection that it has, or of a receive queue or queue pair that there is not"
    )]
    BadRequest,
    /// The connection with the node of a peer, which was to serve the peer, too, has failed meanwhile.
    #[error("the connection with the node of the peer (receive queues of kind X) has failed")]
    NodeLost,
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
