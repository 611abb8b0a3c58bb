//! [`VerbsEndpoint`]: the connections of a rank while they are made.

use super::OPERATIONS;
use super::buffers::Buffers;
use super::frame_head::MAX_INLINE;
use super::options::{VerbsOptions, VerbsTransportError};
use super::order::Order;
use super::pair_address::PairAddress;
use super::queue_sizes::QueueSizes;
use super::receive_queues::ReceiveQueue;
use super::request_id::RequestId;
use super::rx::{Incoming, SharedReceives, VerbsRx};
use super::tx::{Link, Pair, VerbsTx};
use crate::error::VerbsError;
use crate::objects::{
    Access, AddressVector, CompletionQueue, CompletionQueueOptions, Context, GlobalRoute, Init,
    InitAttributes, ProtectionDomain, QueueCapacity, QueuePair, ReceiveAttributes, Reset,
    SendAttributes,
};
use oxmpi_wire::Peer;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

/// The value of `rnr_retry` for "for ever": a receiver that computes posts no receives to its shared queues.
const FOR_EVER: u8 = 7;

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
    offered: BTreeMap<u32, Offered>,
}

#[derive(Debug)]
struct Offered {
    /// By receive queue.
    pairs: Vec<QueuePair<Init>>,
    /// The posted buffers of the peer's own queues.
    buffers: Vec<Option<Buffers>>,
    address: PairAddress,
}

impl VerbsEndpoint {
    /// Opens an endpoint for `peers` peers.
    ///
    /// # Errors
    /// When the device has no such port, or too little of anything, or lacks what the receive queues need.
    ///
    /// # Cost
    /// Makes a queue pair and destroys it, to learn what is granted inline. Registers the buffers of shared queues,
    /// and as many to send from.
    pub fn open(
        context: &Context,
        peers: u32,
        options: VerbsOptions,
    ) -> Result<Self, VerbsTransportError> {
        let queues = &options.receive_queues;
        ReceiveQueue::check_all(queues)?;
        if queues
            .iter()
            .any(|queue| matches!(queue, ReceiveQueue::Extended(_)))
        {
            return Err(VerbsTransportError::NoExtended {
                device: context.name().to_owned(),
                receive_queues: ReceiveQueue::join_all(queues),
            });
        }
        let sizes = QueueSizes::new(queues);
        let longest = context.port(options.port)?.max_message;
        let piece = options.piece.clamp(1, longest.max(1));
        let domain = context.alloc_pd()?;
        let channel = context.create_completion_channel()?;
        let queue = context.create_completion_queue(CompletionQueueOptions {
            channel: Some((&channel, 0)),
            ..CompletionQueueOptions::polled(depth(&options, &sizes, peers))
        })?;
        let capacity = capacity(&queues[0], &sizes, 0, &options);
        let trial = domain.create_queue_pair(&queue, &queue, capacity)?;
        let inline = trial.capacity().max_inline_data.min(MAX_INLINE as u32);
        drop(trial);
        let (mut receives, mut sends) = (Vec::new(), Vec::new());
        for (queue, number) in queues.iter().zip(0..) {
            let (receive, send) = match queue {
                ReceiveQueue::PerPeer(_) => (None, None),
                ReceiveQueue::Shared(shared) | ReceiveQueue::Extended(shared) => {
                    let send = Buffers::all_free(&domain, shared.buffers, shared.size)?;
                    (
                        Some(SharedReceives::new(&domain, number, shared)?),
                        Some(send),
                    )
                }
            };
            receives.push(receive);
            sends.push(send);
        }
        let limits = options.limits(inline);
        Ok(Self {
            tx: VerbsTx::new(
                domain.clone(),
                peers,
                sizes,
                sends,
                limits,
                [piece, options.min_rdma()],
            ),
            rx: VerbsRx::new(
                context.clone(),
                queue.clone(),
                channel,
                peers,
                receives,
                (options.rings, domain.clone()),
            ),
            context: context.clone(),
            domain,
            queue,
            options,
            offered: BTreeMap::new(),
        })
    }

    /// Makes a queue pair for each receive queue, with all buffers of `peer` posted, and returns where the peer
    /// reaches them.
    ///
    /// # Errors
    /// When the device has no more queue pairs, or this process may lock no more memory.
    pub fn offer(&mut self, peer: Peer) -> Result<PairAddress, VerbsTransportError> {
        let VerbsOptions {
            port, gid_index, ..
        } = self.options;
        let (at, gids) = (self.context.port(port)?, self.context.gids(port)?);
        let gid = gids.iter().find(|entry| entry.index == gid_index);
        let (mut pairs, mut all_buffers) = (Vec::new(), Vec::new());
        for (queue, number) in self.options.receive_queues.iter().zip(0..) {
            let pair = self.make_pair(queue, number)?.init(InitAttributes {
                access: Access::REMOTE_READ | Access::REMOTE_WRITE,
                ..InitAttributes::new(port)
            })?;
            let mut buffers = None;
            if !queue.is_shared() {
                let posted = Buffers::new(&self.domain, queue.buffers(), queue.size())?;
                for buffer in 0..queue.buffers() {
                    let id = RequestId::Receive {
                        peer: peer.0,
                        queue: number,
                        buffer,
                    };
                    pair.post_receive(id.word(), &[posted.segment(buffer)])?;
                }
                buffers = Some(posted);
            }
            pairs.push(pair);
            all_buffers.push(buffers);
        }
        let numbers: Vec<u32> = pairs.iter().map(QueuePair::number).collect();
        let address = PairAddress {
            receive_queues: self.options.receive_queues.clone(),
            // No number of an earlier connection: its late packets are then out of sequence.
            sq_psn: RandomState::new().hash_one(&numbers) as u32 & 0xff_ffff,
            numbers,
            lid: at.lid,
            gid: gid.map(|entry| entry.gid),
            mtu: at.active_mtu,
        };
        let offered = Offered {
            pairs,
            buffers: all_buffers,
            address: address.clone(),
        };
        self.offered.insert(peer.0, offered);
        Ok(address)
    }

    fn make_pair(&self, queue: &ReceiveQueue, number: u8) -> Result<QueuePair<Reset>, VerbsError> {
        let capacity = capacity(queue, self.tx.queues(), number, &self.options);
        let completions = &self.queue;
        match self.rx.shared(number) {
            Some(shared) => {
                let shared = shared.queue();
                self.domain
                    .create_queue_pair_on(shared, completions, completions, capacity)
            }
            None => self
                .domain
                .create_queue_pair(completions, completions, capacity),
        }
    }

    /// Connects the queue pairs that were [offered](Self::offer) to `peer` with those at `there`.
    ///
    /// # Errors
    /// When the peer has other receive queues, or the device finds no route to it.
    ///
    /// # Panics
    /// If nothing was offered to `peer`, or it is connected.
    pub fn connect(&mut self, peer: Peer, there: &PairAddress) -> Result<(), VerbsTransportError> {
        let offered = self.offered.remove(&peer.0);
        let Offered {
            pairs,
            buffers,
            address,
        } = offered.expect("an offer to this peer");
        if address.receive_queues != there.receive_queues {
            return Err(VerbsTransportError::ReceiveQueuesDiffer {
                peer,
                here: ReceiveQueue::join_all(&address.receive_queues),
                there: ReceiveQueue::join_all(&there.receive_queues),
            });
        }
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
        let queues = &self.options.receive_queues;
        let mut connected = Vec::new();
        for ((pair, queue), number) in pairs.into_iter().zip(queues).zip(0..) {
            let to = there.numbers[usize::from(number)];
            let receive = ReceiveAttributes::new(vector, to, there.sq_psn, mtu);
            let mut send = SendAttributes::new(address.sq_psn);
            if queue.is_shared() {
                send.rnr_retry = FOR_EVER;
            }
            let pair = pair.ready_to_receive(receive)?.ready_to_send(send)?;
            let own = match queue.is_shared() {
                true => None,
                false => Some(Buffers::all_free(
                    &self.domain,
                    queue.sends(),
                    queue.size(),
                )?),
            };
            let id = RequestId::Send {
                peer: peer.0,
                queue: number,
            };
            connected.push(Pair::new(pair, id, queue, own));
        }
        let all = queues.iter().map(ReceiveQueue::buffers).sum();
        self.tx.add(peer.0, Link::new(connected));
        let incoming = Incoming::new(buffers, Order::new(all));
        self.rx.add(peer.0, &address.numbers, incoming);
        Ok(())
    }

    /// The halves, with the connections that were made.
    #[must_use]
    pub fn into_halves(self) -> (VerbsTx, VerbsRx) {
        (self.tx, self.rx)
    }
}

/// What the queue pair of receive queue `number` holds: frames and credit messages in flight, and the rank's
/// operations.
fn capacity(
    queue: &ReceiveQueue,
    sizes: &QueueSizes,
    number: u8,
    options: &VerbsOptions,
) -> QueueCapacity {
    let VerbsOptions { inline, rings, .. } = options;
    let mut sends = queue.sends();
    if number == sizes.of_accesses() {
        // Of a ring, its frames and words.
        sends += OPERATIONS as u32 + rings.slots;
    }
    let receives = if queue.is_shared() {
        0
    } else {
        queue.buffers()
    };
    QueueCapacity {
        max_inline_data: (*inline).min(MAX_INLINE as u32),
        ..QueueCapacity::new(sends, receives)
    }
}

/// The most completions that nobody has polled.
fn depth(options: &VerbsOptions, sizes: &QueueSizes, peers: u32) -> u32 {
    let queues = options.receive_queues.iter();
    let of_queue = |(queue, number): (&ReceiveQueue, u8)| {
        let QueueCapacity {
            max_send_wr,
            max_recv_wr,
            ..
        } = capacity(queue, sizes, number, options);
        let shared = if queue.is_shared() {
            queue.buffers()
        } else {
            0
        };
        peers
            .saturating_mul(max_send_wr + max_recv_wr)
            .saturating_add(shared)
    };
    queues.zip(0..).map(of_queue).fold(0, u32::saturating_add)
}
