//! [`VerbsEndpoint`]: the connections of a rank while they are made.

use super::buffers::Buffers;
use super::capacities::{capacity, completions, try_inline};
use super::fitted_queues::FittedQueues;
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
    InitAttributes, ProtectionDomain, QueuePair, ReadyToSend, ReceiveAttributes, Reset,
    SendAttributes, SharedReceiveQueue,
};
use crate::registration::{
    BouncePool, MemoryNotifier, RegistrationCache, RegistrationOptions, is_forked_child,
    prepare_for_forks,
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
pub(super) const FOR_EVER: u8 = 7;

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

/// Queue pairs that are offered to a peer.
#[derive(Debug)]
pub(crate) struct Offered {
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
        if context.is_iwarp() {
            fitted.check_iwarp(queues, peers)?;
        }
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
        let first = capacity(&queues[0], &sizes, 0, &options);
        let [asked, inline] = try_inline(&domain, &queue, first)?;
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
            options: VerbsOptions {
                inline: asked,
                ..options
            },
        };
        let options = &connector.options;
        Ok(Self {
            tx: VerbsTx::new(
                domain.clone(),
                peers,
                (sizes, sends),
                limits,
                [piece, options.min_rdma(), options.rings.slots],
                registrations(&domain, &options.registration),
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

impl Offered {
    /// The queue pairs, by receive queue, to be connected and [added](PairConnector::add).
    pub(crate) fn take_pairs(&mut self) -> Vec<QueuePair<Init>> {
        std::mem::take(&mut self.pairs)
    }
}

impl PairConnector {
    pub(super) const fn options(&self) -> &VerbsOptions {
        &self.options
    }

    pub(super) fn is_iwarp(&self) -> bool {
        self.context.is_iwarp()
    }

    /// Whether peers share the buffers of receive queue `number`.
    pub(super) fn is_shared(&self, number: u8) -> bool {
        self.shared[usize::from(number)].is_some()
    }

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
        let mut capacity = capacity(queue, &self.sizes, number, &self.options);
        // The first message of the side that connects.
        capacity.max_send_wr += u32::from(self.is_iwarp());
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
        let mut offered = self.take_offered(peer.0).expect("an offer to this peer");
        self.check_queues(peer, there)?;
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
        let address = &offered.address;
        let (mtu, sq_psn) = (address.mtu.min(there.mtu), address.sq_psn);
        let mut connected = Vec::new();
        for (pair, number) in offered.take_pairs().into_iter().zip(0..) {
            let to = there.numbers[usize::from(number)];
            let mut receive = ReceiveAttributes::new(vector, to, there.sq_psn, mtu);
            let mut send = SendAttributes {
                timeout: connection.timeout,
                retry_cnt: connection.retry_count,
                ..SendAttributes::new(sq_psn)
            };
            if self.is_shared(number) {
                receive.min_rnr_timer = SHARED_RNR_TIMER;
                send.rnr_retry = FOR_EVER;
            }
            connected.push(pair.ready_to_receive(receive)?.ready_to_send(send)?);
        }
        self.add(peer, offered, connected, tx, rx)
    }

    /// The queue pairs that are offered to `peer`, which become the caller's.
    pub(crate) fn take_offered(&mut self, peer: u32) -> Option<Offered> {
        self.offered.remove(&peer)
    }

    /// Checks that `peer` has the receive queues of this rank.
    ///
    /// # Errors
    /// If it has others.
    pub(crate) fn check_queues(
        &self,
        peer: Peer,
        there: &PairAddress,
    ) -> Result<(), VerbsTransportError> {
        let here = &self.options.receive_queues;
        if *here == there.receive_queues {
            return Ok(());
        }
        Err(VerbsTransportError::ReceiveQueuesDiffer {
            peer,
            here: ReceiveQueue::join_all(here),
            there: ReceiveQueue::join_all(&there.receive_queues),
        })
    }

    /// Lets both halves use the queue pairs of `offered`, which are `connected`.
    ///
    /// # Errors
    /// When this process may lock no more memory for what is sent.
    pub(crate) fn add(
        &mut self,
        peer: Peer,
        offered: Offered,
        connected: Vec<QueuePair<ReadyToSend>>,
        tx: &mut VerbsTx,
        rx: &mut VerbsRx,
    ) -> Result<(), VerbsTransportError> {
        let Offered {
            buffers, address, ..
        } = offered;
        let queues = &self.options.receive_queues;
        let mut pairs = Vec::new();
        for ((pair, queue), number) in connected.into_iter().zip(queues).zip(0..) {
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
            pairs.push(Pair::new(pair, id, share, most, own));
        }
        let all = queues.iter().map(ReceiveQueue::buffers).sum();
        tx.add(peer.0, Link::new(pairs));
        let incoming = Incoming::new(buffers, Order::new(all));
        rx.add(peer.0, &address.numbers, incoming);
        Ok(())
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
