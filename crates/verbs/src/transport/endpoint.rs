//! [`VerbsEndpoint`]: the connections of a rank while they are made.

use super::buffers::Buffers;
use super::credits::Credits;
use super::frame_head::{HEAD, MAX_INLINE};
use super::receive_queues::{PerPeerQueue, ReceiveQueue};
use super::request_id::RequestId;
use super::rx::VerbsRx;
use super::tx::{Link, Registrations, VerbsTx};
use crate::error::{PostError, VerbsError};
use crate::objects::{
    Access, AddressVector, CompletionQueue, CompletionQueueOptions, Context, Gid, GlobalRoute,
    Init, InitAttributes, Mtu, ProtectionDomain, QueueCapacity, QueuePair, ReceiveAttributes,
    SendAttributes,
};
use crate::registration::{
    BouncePool, MemoryNotifier, NoForkSupport, RegistrationCache, RegistrationOptions,
    is_forked_child, prepare_for_forks,
};
use oxmpi_os::limit::LockedMemoryLimit;
use oxmpi_wire::{Limits, Peer};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};

/// How a rank uses a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerbsOptions {
    /// The port, from 1 on.
    pub port: u8,
    /// The index of this rank's own address in the port's table.
    pub gid_index: u8,
    /// The receive queues; this version needs one of kind `P`, of 128 B or more.
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
}

impl Default for VerbsOptions {
    /// Port 1, its first address, 64 buffers of 12 KiB for each peer, 128 B inline.
    fn default() -> Self {
        Self {
            port: 1,
            gid_index: 0,
            receive_queues: vec![ReceiveQueue::PerPeer(PerPeerQueue {
                size: 12 << 10,
                buffers: 64,
                low_mark: 48,
                window: 16,
                reserve: 8,
            })],
            inline: 128,
            piece: 1 << 30,
            registration: RegistrationOptions::default(),
            want_fork_support: -1,
        }
    }
}

/// Why a rank cannot use a device.
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
    /// A forked child uses its parent's endpoint.
    #[error(
        "this process is a forked child, and the device is its parent's: start it by exec, or open the device in it"
    )]
    Forked,
    /// Receive queues that this version does not have.
    #[error(
        "receive queues {0}: this version needs one queue of kind P with buffers of 128 B or more"
    )]
    ReceiveQueues(String),
}

impl fmt::Debug for VerbsTransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// How a peer reaches a queue pair of this rank: what the two exchange before they are connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairAddress {
    /// The number of the queue pair.
    pub number: u32,
    /// The sequence number of its first packet: 24 bits.
    pub sq_psn: u32,
    /// The LID of its port; 0 on Ethernet.
    pub lid: u16,
    /// The global address of its port.
    pub gid: Option<Gid>,
    /// The longest packet of its port.
    pub mtu: Mtu,
}

/// The body of the longest short frame where a device grants nothing inline.
const SHORT: u32 = 64;

/// The two halves of a rank before its connections are made.
///
/// For each peer, [`offer`](Self::offer) an address, exchange it for the peer's, and [`connect`](Self::connect).
/// A peer without a connection is [`Busy`](oxmpi_wire::Busy).
#[derive(Debug)]
pub struct VerbsEndpoint {
    tx: VerbsTx,
    rx: VerbsRx,
    context: Context,
    domain: ProtectionDomain,
    queue: CompletionQueue,
    options: VerbsOptions,
    buffers: PerPeerQueue,
    offered: BTreeMap<u32, Offered>,
}

#[derive(Debug)]
struct Offered {
    pair: QueuePair<Init>,
    buffers: Buffers,
    address: PairAddress,
}

impl VerbsEndpoint {
    /// Opens an endpoint for `peers` peers.
    ///
    /// # Errors
    /// When the device has no such port, or too little of anything, or the options are none of this version.
    ///
    /// # Cost
    /// Makes a queue pair and destroys it, to learn what is granted inline.
    pub fn open(
        context: &Context,
        peers: u32,
        options: VerbsOptions,
    ) -> Result<Self, VerbsTransportError> {
        let buffers = match options.receive_queues[..] {
            [ReceiveQueue::PerPeer(queue)] if queue.size >= 128 => queue,
            _ => {
                let all: Vec<_> = options
                    .receive_queues
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                return Err(VerbsTransportError::ReceiveQueues(all.join(":")));
            }
        };
        let longest = context.port(options.port)?.max_message;
        let piece = options.piece.clamp(1, longest.max(1));
        // Before anything is registered.
        let locked = LockedMemoryLimit::raise();
        tracing::debug!(%locked, "memory that may be locked");
        prepare_for_forks(context.library(), options.want_fork_support)?;
        let domain = context.alloc_pd()?;
        let channel = context.create_completion_channel()?;
        let capacity = capacity(&buffers, options.inline);
        let depth = peers.saturating_mul(capacity.max_send_wr + capacity.max_recv_wr);
        let queue = context.create_completion_queue(CompletionQueueOptions {
            channel: Some((&channel, 0)),
            ..CompletionQueueOptions::polled(depth)
        })?;
        let trial = domain.create_queue_pair(&queue, &queue, capacity)?;
        let inline = trial.capacity().max_inline_data.min(MAX_INLINE as u32);
        drop(trial);
        let short = inline
            .saturating_sub(HEAD as u32)
            .max(SHORT)
            .min(buffers.size);
        let registrations = registrations(&domain, &options.registration);
        Ok(Self {
            tx: VerbsTx::new(
                domain.clone(),
                peers,
                Limits::new(short, buffers.size),
                piece,
                registrations,
            ),
            rx: VerbsRx::new(queue.clone(), channel, peers),
            context: context.clone(),
            domain,
            queue,
            options,
            buffers,
            offered: BTreeMap::new(),
        })
    }

    /// Makes a queue pair for `peer`, with all its buffers posted, and returns where the peer reaches it.
    ///
    /// # Errors
    /// When the device has no more queue pairs, or this process may lock no more memory.
    pub fn offer(&mut self, peer: Peer) -> Result<PairAddress, VerbsTransportError> {
        if is_forked_child() {
            return Err(VerbsTransportError::Forked);
        }
        let VerbsOptions {
            port,
            gid_index,
            inline,
            ..
        } = self.options;
        let (at, gids) = (self.context.port(port)?, self.context.gids(port)?);
        let gid = gids.iter().find(|entry| entry.index == gid_index);
        let capacity = capacity(&self.buffers, inline);
        let pair = self
            .domain
            .create_queue_pair(&self.queue, &self.queue, capacity)?;
        let pair = pair.init(InitAttributes {
            access: Access::REMOTE_READ | Access::REMOTE_WRITE,
            ..InitAttributes::new(port)
        })?;
        let address = PairAddress {
            number: pair.number(),
            // No number of an earlier connection: its late packets are then out of sequence.
            sq_psn: RandomState::new().hash_one(pair.number()) as u32 & 0xff_ffff,
            lid: at.lid,
            gid: gid.map(|entry| entry.gid),
            mtu: at.active_mtu,
        };
        let count = capacity.max_recv_wr;
        let buffers = Buffers::new(&self.domain, count, self.buffers.size)?;
        for buffer in 0..count {
            let id = RequestId::Receive {
                peer: peer.0,
                buffer,
            };
            pair.post_receive(id.word(), &[buffers.segment(buffer)])?;
        }
        let offered = Offered {
            pair,
            buffers,
            address,
        };
        self.offered.insert(peer.0, offered);
        Ok(address)
    }

    /// Connects the queue pair that was [offered](Self::offer) to `peer` with the one at `there`.
    ///
    /// # Errors
    /// When the device finds no route to the peer.
    ///
    /// # Panics
    /// If nothing was offered to `peer`, or it is connected.
    pub fn connect(&mut self, peer: Peer, there: &PairAddress) -> Result<(), VerbsTransportError> {
        let offered = self.offered.remove(&peer.0);
        let Offered {
            pair,
            buffers,
            address,
        } = offered.expect("an offer to this peer");
        let VerbsOptions {
            port, gid_index, ..
        } = self.options;
        let vector = AddressVector {
            port,
            lid: there.lid,
            service_level: 0,
            route: there.gid.map(|gid| GlobalRoute::new(gid, gid_index)),
        };
        let mtu = address.mtu.min(there.mtu);
        let receive = ReceiveAttributes::new(vector, there.number, there.sq_psn, mtu);
        let pair = pair.ready_to_receive(receive)?;
        let pair = pair.ready_to_send(SendAttributes::new(address.sq_psn))?;
        let sends = self.buffers.buffers + self.buffers.reserve;
        let staging = Buffers::new(&self.domain, sends, self.buffers.size)?;
        let link = Link::new(pair, Credits::new(self.buffers), staging, sends);
        self.tx.add(peer.0, link);
        self.rx.add(peer.0, buffers);
        Ok(())
    }

    /// The halves, with the connections that were made.
    #[must_use]
    pub fn into_halves(self) -> (VerbsTx, VerbsRx) {
        (self.tx, self.rx)
    }
}

/// What a queue pair holds: frames and credit messages in flight, and the rank's operations.
fn capacity(queue: &PerPeerQueue, inline: u32) -> QueueCapacity {
    let messages = queue.buffers + queue.reserve;
    QueueCapacity {
        max_inline_data: inline.min(MAX_INLINE as u32),
        ..QueueCapacity::new(messages + super::OPERATIONS as u32, messages)
    }
}

/// Where registrations come from, as `options` says.
fn registrations(domain: &ProtectionDomain, options: &RegistrationOptions) -> Registrations {
    let notifier = (options.leave_pinned).then(MemoryNotifier::of_process);
    let cache = notifier.and_then(|notifier| match notifier {
        Ok(notifier) => Some(RegistrationCache::new(
            domain.clone(),
            notifier,
            options.caps,
        )),
        Err(why) => {
            tracing::debug!(%why, "no registration is cached");
            None
        }
    });
    Registrations {
        cache,
        buffers: BouncePool::new(domain.clone()),
        copied: options.copied,
    }
}
