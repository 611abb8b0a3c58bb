//! [`VerbsEndpoint`]: the connections of a rank while they are made.

use super::OPERATIONS;
use super::buffers::Buffers;
use super::fitted_queues::FittedQueues;
use super::frame_head::MAX_INLINE;
use super::options::{VerbsOptions, VerbsTransportError};
use super::order::Order;
use super::pair_address::PairAddress;
use super::queue_sizes::QueueSizes;
use super::receive_queues::ReceiveQueue;
use super::request_id::RequestId;
use super::rx::{Incoming, SharedReceives, VerbsRx};
use super::tx::{Link, Pair, Registrations, VerbsTx};
use crate::error::VerbsError;
use crate::objects::{
    Access, AddressVector, CompletionQueue, CompletionQueueOptions, Context, GlobalRoute, Init,
    InitAttributes, ProtectionDomain, QueueCapacity, QueuePair, ReceiveAttributes, Reset,
    SendAttributes, SharedReceiveQueue,
};
use crate::registration::{
    BouncePool, LeavePinned, MemoryNotifier, RegistrationCache, RegistrationOptions,
    is_forked_child, prepare_for_forks,
};
use oxmpi_os::limit::LockedMemoryLimit;
use oxmpi_wire::Peer;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

/// For how long a device sends a peer away whose message finds no buffer in a shared queue: 0 is the longest time, 655 ms.
pub(super) const SHARED_RNR_TIMER: u8 = 0;

/// The value of `rnr_retry` for "for ever". Where the shares of a queue's senders exceed what is posted (many ranks, or
/// locked memory that is short), a rank that computes for long must not count as dead; the control network tells of one
/// that is.
const FOR_EVER: u8 = 7;

/// The two halves of a rank before its connections are made.
///
/// For each peer, [`offer`](Self::offer) an address, exchange it for the peer's, and [`connect`](Self::connect).
/// A peer without a connection is [`Busy`](oxmpi_wire::Busy).
#[derive(Debug)]
pub struct VerbsEndpoint {
    tx: VerbsTx,
    rx: VerbsRx,
    connector: PairConnector,
}

/// Makes the connections of a rank, also after its halves have begun to move messages.
#[derive(Debug)]
pub(crate) struct PairConnector {
    context: Context,
    domain: ProtectionDomain,
    queue: CompletionQueue,
    options: VerbsOptions,
    sizes: QueueSizes,
    /// By receive queue.
    shared: Vec<Option<SharedReceiveQueue>>,
    offered: BTreeMap<u32, Offered>,
    /// Ranks that share its buffers.
    peers: u32,
    /// Entries of the completion queue.
    depth: u32,
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
        // Before anything is registered.
        let locked = LockedMemoryLimit::raise();
        tracing::debug!(%locked, "memory that may be locked");
        let fitted = FittedQueues::of(&options, locked.bytes())?;
        prepare_for_forks(context.library(), options.want_fork_support)?;
        let domain = context.alloc_pd()?;
        let channel = context.create_completion_channel()?;
        let [of_peer, of_all] = completions(&options, &sizes);
        let wanted = of_peer.saturating_mul(peers.max(1)).saturating_add(of_all);
        let most = context.limits()?.max_cqe;
        if wanted > most {
            return Err(VerbsTransportError::TooManyPeers {
                device: context.name().to_owned(),
                peers,
                most: most.saturating_sub(of_all) / of_peer,
                receive_queues: ReceiveQueue::join_all(queues),
            });
        }
        let depth = wanted;
        let queue = context.create_completion_queue(CompletionQueueOptions {
            channel: Some((&channel, 0)),
            ..CompletionQueueOptions::polled(depth)
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
                    let shared = fitted.apply(*shared);
                    let send = Buffers::all_free(&domain, shared.buffers, shared.size)?;
                    (
                        Some(SharedReceives::new(&domain, number, &shared)?),
                        Some(send),
                    )
                }
            };
            receives.push(receive);
            sends.push(send);
        }
        let limits = options.limits(inline);
        let shared = receives.iter().map(|receives: &Option<SharedReceives>| {
            receives.as_ref().map(|receives| receives.queue().clone())
        });
        let connector = PairConnector {
            context: context.clone(),
            domain: domain.clone(),
            queue: queue.clone(),
            sizes: sizes.clone(),
            shared: shared.collect(),
            offered: BTreeMap::new(),
            peers,
            depth,
            options,
        };
        let options = &connector.options;
        Ok(Self {
            tx: VerbsTx::new(
                domain.clone(),
                peers,
                (sizes, sends),
                limits,
                [piece, options.min_rdma(), options.rings.slots],
                registrations(&domain, options),
            ),
            rx: VerbsRx::new(
                context.clone(),
                queue.clone(),
                channel,
                peers,
                receives,
                (options.rings, domain.clone()),
            ),
            connector,
        })
    }

    /// Makes a queue pair for each receive queue, with all buffers of `peer` posted, and returns where the peer
    /// reaches them.
    ///
    /// # Errors
    /// When the device has no more queue pairs, or this process may lock no more memory.
    pub fn offer(&mut self, peer: Peer) -> Result<PairAddress, VerbsTransportError> {
        self.connector.offer(peer)
    }

    /// Connects the queue pairs that were [offered](Self::offer) to `peer` with those at `there`.
    ///
    /// # Errors
    /// When the peer has other receive queues, or the device finds no route to it.
    ///
    /// # Panics
    /// If nothing was offered to `peer`, or it is connected.
    pub fn connect(&mut self, peer: Peer, there: &PairAddress) -> Result<(), VerbsTransportError> {
        self.connector
            .connect(peer, there, &mut self.tx, &mut self.rx)
    }

    /// The halves, with the connections that were made.
    #[must_use]
    pub fn into_halves(self) -> (VerbsTx, VerbsRx) {
        (self.tx, self.rx)
    }

    /// The halves, and what makes more connections between them and peers.
    pub(crate) fn into_parts(self) -> (PairConnector, VerbsTx, VerbsRx) {
        (self.connector, self.tx, self.rx)
    }
}

impl PairConnector {
    /// Completions that nobody has polled, at most.
    pub(crate) const fn depth(&self) -> u32 {
        self.depth
    }

    /// As [`VerbsEndpoint::offer`].
    pub(crate) fn offer(&mut self, peer: Peer) -> Result<PairAddress, VerbsTransportError> {
        if is_forked_child() {
            return Err(VerbsTransportError::Forked);
        }
        let VerbsOptions {
            port,
            gid_index,
            connection,
            ..
        } = self.options;
        let (at, gids) = (self.context.port(port)?, self.context.gids(port)?);
        let gid = gids.iter().find(|entry| entry.index == gid_index);
        let (mut pairs, mut all_buffers) = (Vec::new(), Vec::new());
        for (queue, number) in self.options.receive_queues.iter().zip(0..) {
            let pair = self.make_pair(queue, number)?.init(InitAttributes {
                access: Access::REMOTE_READ | Access::REMOTE_WRITE,
                pkey_index: connection.pkey_index,
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

    /// Destroys the queue pairs that were offered to `peer`.
    pub(crate) fn forget(&mut self, peer: Peer) {
        self.offered.remove(&peer.0);
    }

    fn make_pair(&self, queue: &ReceiveQueue, number: u8) -> Result<QueuePair<Reset>, VerbsError> {
        let capacity = capacity(queue, &self.sizes, number, &self.options);
        let completions = &self.queue;
        match &self.shared[usize::from(number)] {
            Some(shared) => {
                self.domain
                    .create_queue_pair_on(shared, completions, completions, capacity)
            }
            None => self
                .domain
                .create_queue_pair(completions, completions, capacity),
        }
    }

    /// As [`VerbsEndpoint::connect`], between these halves.
    pub(crate) fn connect(
        &mut self,
        peer: Peer,
        there: &PairAddress,
        tx: &mut VerbsTx,
        rx: &mut VerbsRx,
    ) -> Result<(), VerbsTransportError> {
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
            port,
            gid_index,
            connection,
            ..
        } = self.options;
        let vector = AddressVector {
            port,
            lid: there.lid,
            service_level: connection.service_level,
            route: there.gid.map(|gid| GlobalRoute::new(gid, gid_index)),
        };
        let mtu = address.mtu.min(there.mtu);
        let queues = &self.options.receive_queues;
        let mut connected = Vec::new();
        for ((pair, queue), number) in pairs.into_iter().zip(queues).zip(0..) {
            let to = there.numbers[usize::from(number)];
            let mut receive = ReceiveAttributes::new(vector, to, there.sq_psn, mtu);
            let mut send = SendAttributes {
                timeout: connection.timeout,
                retry_cnt: connection.retry_count,
                ..SendAttributes::new(address.sq_psn)
            };
            if queue.is_shared() {
                receive.min_rnr_timer = SHARED_RNR_TIMER;
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
            let (share, most) = (queue.of_each(self.peers), queue.sends());
            connected.push(Pair::new(pair, id, share, most, own));
        }
        let all = queues.iter().map(ReceiveQueue::buffers).sum();
        tx.add(peer.0, Link::new(connected));
        let incoming = Incoming::new(buffers, Order::new(all));
        rx.add(peer.0, &address.numbers, incoming);
        Ok(())
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

/// The most completions that nobody has polled: of a peer, and of the receives of all.
fn completions(options: &VerbsOptions, sizes: &QueueSizes) -> [u32; 2] {
    let (mut of_peer, mut of_all) = (0, 0);
    for (queue, number) in options.receive_queues.iter().zip(0..) {
        let capacity = capacity(queue, sizes, number, options);
        of_peer += capacity.max_send_wr + capacity.max_recv_wr;
        if queue.is_shared() {
            of_all += queue.buffers();
        }
    }
    [of_peer, of_all]
}

/// Where registrations come from, as `options` says.
fn registrations(domain: &ProtectionDomain, options: &VerbsOptions) -> Registrations {
    let RegistrationOptions {
        leave_pinned,
        caps,
        copied,
    } = options.registration;
    let notifier = (leave_pinned != LeavePinned::Off).then(MemoryNotifier::of_process);
    let cache = notifier.and_then(|notifier| match notifier {
        Ok(notifier) => Some(RegistrationCache::new(domain.clone(), notifier, caps)),
        Err(why) => {
            tracing::debug!(%why, "no registration is cached");
            None
        }
    });
    Registrations {
        cache,
        buffers: BouncePool::new(domain.clone()),
        leave_pinned,
        pipeline: options.pipeline(),
        copied,
    }
}
