//! [`VerbsEndpoint`]: the connections of a rank while they are made.

use super::buffers::Buffers;
use super::fitted_queues::FittedQueues;
use super::frame_head::MAX_INLINE;
use super::open_device::{OpenDevice, capacity};
use super::options::{VerbsOptions, VerbsTransportError};
use super::order::Order;
use super::pair_address::PairAddress;
use super::queue_sizes::QueueSizes;
use super::rail::{MOST_RAILS, PortPair, Rail};
use super::receive_queues::ReceiveQueue;
use super::request_id::RequestId;
use super::rx::{Incoming, SharedReceives, VerbsRx};
use super::tx::{Link, Pair, PortPairs, VerbsTx};
use crate::error::VerbsError;
use crate::objects::{
    Access, AddressVector, CompletionQueue, Context, GlobalRoute, Init, InitAttributes,
    ProtectionDomain, QueuePair, ReceiveAttributes, Reset, SendAttributes, SharedReceiveQueue,
};
use crate::registration::{is_forked_child, prepare_for_forks};
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
    rails: Vec<OpenRail>,
    options: VerbsOptions,
    sizes: QueueSizes,
    /// By receive queue.
    shared: Vec<Option<SharedReceiveQueue>>,
    /// By peer and rail.
    offered: BTreeMap<u32, Vec<Offered>>,
    /// Ranks that share its buffers.
    peers: u32,
    /// Entries of the completion queues.
    depth: u32,
    /// Connections that were made.
    connected: usize,
}

/// A rail with what its device has for it.
#[derive(Debug)]
struct OpenRail {
    rail: Rail,
    /// The place of its device.
    device: usize,
    domain: ProtectionDomain,
    queue: CompletionQueue,
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
        let rail = Rail {
            context: context.clone(),
            port: options.port,
            gid_index: options.gid_index,
        };
        Self::open_rails(&[rail], peers, options)
    }

    /// Opens an endpoint by several ports, of which the options name none. Peers are dealt to them in turn.
    ///
    /// # Errors
    /// As [`VerbsEndpoint::open`], for each of them.
    ///
    /// # Panics
    /// Without a rail, or with more than 8.
    ///
    /// # Cost
    /// That of [`VerbsEndpoint::open`] for each rail.
    pub fn open_rails(
        rails: &[Rail],
        peers: u32,
        options: VerbsOptions,
    ) -> Result<Self, VerbsTransportError> {
        assert!((1..=MOST_RAILS).contains(&rails.len()), "1 to 8 rails");
        let first = &rails[0].context;
        let queues = &options.receive_queues;
        ReceiveQueue::check_all(queues)?;
        if queues
            .iter()
            .any(|queue| matches!(queue, ReceiveQueue::Extended(_)))
        {
            return Err(VerbsTransportError::NoExtended {
                device: first.name().to_owned(),
                receive_queues: ReceiveQueue::join_all(queues),
            });
        }
        let sizes = QueueSizes::new(queues);
        let mut piece = options.piece;
        for rail in rails {
            piece = piece.min(rail.context.port(rail.port)?.max_message);
        }
        let piece = piece.max(1);
        // Before anything is registered.
        let locked = LockedMemoryLimit::raise();
        tracing::debug!(%locked, "memory that may be locked");
        let of_each = (locked.bytes()).map(|bytes| bytes / rails.len().max(1) as u64);
        let fitted = FittedQueues::of(&options, of_each)?;
        prepare_for_forks(first.library(), options.want_fork_support)?;
        let (devices, places) = OpenDevice::of_rails(rails, peers, &options, &sizes)?;
        let mut inline = MAX_INLINE as u32;
        for device in &devices {
            inline = inline.min(device.inline(&options, &sizes)?);
        }
        let open = |(rail, place): (&Rail, &usize)| OpenRail {
            rail: rail.clone(),
            device: *place,
            domain: devices[*place].domain.clone(),
            queue: devices[*place].queue.clone(),
        };
        let rails: Vec<OpenRail> = rails.iter().zip(&places).map(open).collect();
        let (mut receives, mut sends) = (Vec::new(), Vec::new());
        let on_each = rails
            .iter()
            .flat_map(|rail| queues.iter().map(move |queue| (rail, queue)));
        for ((OpenRail { domain, .. }, queue), number) in on_each.zip(0..) {
            let (receive, send) = match queue {
                ReceiveQueue::PerPeer(_) => (None, None),
                ReceiveQueue::Shared(shared) | ReceiveQueue::Extended(shared) => {
                    let shared = fitted.apply(*shared);
                    let send = Buffers::all_free(domain, shared.buffers, shared.size)?;
                    (
                        Some(SharedReceives::new(domain, number, &shared)?),
                        Some(send),
                    )
                }
            };
            receives.push(receive);
            sends.push(send);
        }
        let reaching = rails.iter().filter(|rail| rail.device == 0).count();
        let limits = options.limits(inline, reaching);
        let shared = receives.iter().map(|receives: &Option<SharedReceives>| {
            receives.as_ref().map(|receives| receives.queue().clone())
        });
        let registrations = devices[0].registrations(&options.registration);
        let domains: Vec<ProtectionDomain> = rails.iter().map(|rail| rail.domain.clone()).collect();
        let connector = PairConnector {
            rails,
            sizes: sizes.clone(),
            shared: shared.collect(),
            offered: BTreeMap::new(),
            peers,
            depth: devices.iter().map(|device| device.depth).sum(),
            connected: 0,
            options,
        };
        let options = &connector.options;
        Ok(Self {
            tx: VerbsTx::new(
                domains.clone(),
                peers,
                (sizes, sends),
                limits,
                [piece, options.min_rdma(), options.rings.slots],
                registrations,
            ),
            rx: VerbsRx::new(devices, peers, receives, (options.rings, domains)),
            connector,
        })
    }

    /// Makes a queue pair for each receive queue, with all buffers of `peer` posted, and returns where the peer
    /// reaches them: on each rail.
    ///
    /// # Errors
    /// When the device has no more queue pairs, or this process may lock no more memory.
    pub fn offer(&mut self, peer: Peer) -> Result<Vec<PairAddress>, VerbsTransportError> {
        self.connector.offer(peer)
    }

    /// Connects the queue pairs that were [offered](Self::offer) to `peer` with those of `port_pairs`. What was offered on
    /// other rails is destroyed.
    ///
    /// # Errors
    /// When there is no port pair, the peer has other receive queues, or no device finds a route to it. A port pair without a route
    /// counts as failed if there is another.
    ///
    /// # Panics
    /// If nothing was offered to `peer`, or it is connected; with two port pairs of one rail.
    pub fn connect(
        &mut self,
        peer: Peer,
        port_pairs: &[PortPair],
    ) -> Result<(), VerbsTransportError> {
        self.connector
            .connect(peer, port_pairs, &mut self.tx, &mut self.rx)
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
    pub(crate) fn offer(&mut self, peer: Peer) -> Result<Vec<PairAddress>, VerbsTransportError> {
        if is_forked_child() {
            return Err(VerbsTransportError::Forked);
        }
        let rails = 0..self.rails.len();
        let offered = rails.map(|rail| self.offer_on(rail, peer));
        let offered: Vec<Offered> = offered.collect::<Result<_, _>>()?;
        let addresses = offered.iter().map(|offered| offered.address.clone());
        let addresses = addresses.collect();
        self.offered.insert(peer.0, offered);
        Ok(addresses)
    }

    /// Makes the queue pairs of a rail for `peer`.
    fn offer_on(&self, rail: usize, peer: Peer) -> Result<Offered, VerbsTransportError> {
        let OpenRail {
            rail: at, domain, ..
        } = &self.rails[rail];
        let (port, gids) = (at.context.port(at.port)?, at.context.gids(at.port)?);
        let gid = gids.iter().find(|entry| entry.index == at.gid_index);
        let (mut pairs, mut all_buffers) = (Vec::new(), Vec::new());
        for (queue, number) in self.queues_of(rail) {
            let pair = self.make_pair(rail, queue, number)?.init(InitAttributes {
                access: Access::REMOTE_READ | Access::REMOTE_WRITE,
                pkey_index: self.options.connection.pkey_index,
                ..InitAttributes::new(at.port)
            })?;
            let mut buffers = None;
            if !queue.is_shared() {
                let posted = Buffers::new(domain, queue.buffers(), queue.size())?;
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
            lid: port.lid,
            gid: gid.map(|entry| entry.gid),
            mtu: port.active_mtu,
        };
        Ok(Offered {
            pairs,
            buffers: all_buffers,
            address,
        })
    }

    /// The receive queues of a rail, and their numbers.
    fn queues_of(&self, rail: usize) -> impl Iterator<Item = (&ReceiveQueue, u8)> {
        let numbers = self.sizes.queues_of(rail as u8);
        (self.options.receive_queues.iter()).zip(numbers.map(|number| number as u8))
    }

    /// What is offered to `peer`, by rail.
    pub(crate) fn offered(&self, peer: Peer) -> Vec<PairAddress> {
        let offered = self.offered.get(&peer.0).into_iter().flatten();
        offered.map(|offered| offered.address.clone()).collect()
    }

    /// The place of the device of each rail.
    pub(crate) fn devices(&self) -> Vec<u8> {
        self.rails.iter().map(|rail| rail.device as u8).collect()
    }

    /// Whether the rail is of the device that the keys of this rank's memory are for.
    fn reaches_memory(&self, rail: usize) -> bool {
        self.rails[rail].device == 0
    }

    /// Destroys the queue pairs that were offered to `peer`.
    pub(crate) fn forget(&mut self, peer: Peer) {
        self.offered.remove(&peer.0);
    }

    fn make_pair(
        &self,
        rail: usize,
        queue: &ReceiveQueue,
        number: u8,
    ) -> Result<QueuePair<Reset>, VerbsError> {
        let OpenRail {
            domain,
            queue: completions,
            ..
        } = &self.rails[rail];
        let capacity = capacity(
            queue,
            &self.sizes.on_rail(rail as u8),
            number,
            &self.options,
        );
        match &self.shared[usize::from(number)] {
            Some(shared) => domain.create_queue_pair_on(shared, completions, completions, capacity),
            None => domain.create_queue_pair(completions, completions, capacity),
        }
    }

    /// As [`VerbsEndpoint::connect`], between these halves.
    pub(crate) fn connect(
        &mut self,
        peer: Peer,
        port_pairs: &[PortPair],
        tx: &mut VerbsTx,
        rx: &mut VerbsRx,
    ) -> Result<(), VerbsTransportError> {
        let offered = self.offered.remove(&peer.0).expect("an offer to this peer");
        let mut offered: Vec<Option<Offered>> = offered.into_iter().map(Some).collect();
        if port_pairs.is_empty() {
            return Err(VerbsTransportError::NoPortPair { peer });
        }
        let queues = &self.options.receive_queues;
        let on_rails = (0..self.rails.len()).flat_map(|_| queues);
        let absent = on_rails.map(|queue| Pair::absent(queue.of_each(self.peers)));
        let mut pairs: Vec<Pair> = absent.collect();
        let mut buffers: Vec<Option<Buffers>> = pairs.iter().map(|_| None).collect();
        let (mut numbers, mut failed, mut why) = (Vec::new(), 0_u8, None);
        for (at, port_pair) in port_pairs.iter().enumerate() {
            let rail = usize::from(port_pair.rail);
            let offered = offered[rail]
                .take()
                .expect("a rail without another port pair");
            let queues = self.queues_of(rail).map(|(_, number)| number);
            let of_port_pair: Vec<_> = queues.zip(offered.address.numbers.clone()).collect();
            let connected = match self.connect_port_pair(peer, port_pair, offered) {
                Ok(connected) => connected,
                Err(VerbsTransportError::Verbs(error)) => {
                    failed |= 1 << at;
                    why = Some(error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            numbers.extend(of_port_pair);
            for (at, (mut pair, own)) in self.sizes.queues_of(port_pair.rail).zip(connected) {
                if port_pairs.len() > 1 {
                    pair.keep_copies();
                }
                (pairs[at], buffers[at]) = (pair, own);
            }
        }
        let of_rail: u32 = queues.iter().map(ReceiveQueue::buffers).sum();
        let all = of_rail * port_pairs.len() as u32;
        let reaches = |port_pair: &PortPair| {
            port_pair.reaches_memory && self.reaches_memory(port_pair.rail.into())
        };
        let rails = port_pairs
            .iter()
            .map(|port_pair| (port_pair.rail, reaches(port_pair)));
        if let Some(why) = why {
            if failed.count_ones() as usize == port_pairs.len() {
                return Err(why.into());
            }
            tracing::warn!(peer = peer.0, %why, "a rail does not reach a peer; its messages take another one");
        }
        let port_pairs = PortPairs::new(rails.collect(), failed, self.connected);
        self.connected += 1;
        let order = Order::new(all, port_pairs.has_several());
        tx.add(peer.0, Link::new(pairs, port_pairs, &self.sizes));
        rx.add(peer.0, &numbers, Incoming::new(buffers, order));
        Ok(())
    }

    /// Connects the queue pairs of a port pair. Returns each with the posted buffers of a queue of the peer's own.
    fn connect_port_pair(
        &self,
        peer: Peer,
        port_pair: &PortPair,
        offered: Offered,
    ) -> Result<Vec<(Pair, Option<Buffers>)>, VerbsTransportError> {
        let (address, there) = (offered.address, &port_pair.there);
        if address.receive_queues != there.receive_queues {
            return Err(VerbsTransportError::ReceiveQueuesDiffer {
                peer,
                here: ReceiveQueue::join_all(&address.receive_queues),
                there: ReceiveQueue::join_all(&there.receive_queues),
            });
        }
        let rail = usize::from(port_pair.rail);
        let OpenRail {
            rail: at, domain, ..
        } = &self.rails[rail];
        let connection = self.options.connection;
        let vector = AddressVector {
            port: at.port,
            lid: there.lid,
            service_level: connection.service_level,
            route: there.gid.map(|gid| GlobalRoute::new(gid, at.gid_index)),
        };
        let mtu = address.mtu.min(there.mtu);
        let offered = offered.pairs.into_iter().zip(offered.buffers);
        let ends = self.queues_of(rail).zip(&there.numbers);
        let mut connected = Vec::new();
        for ((pair, buffers), ((queue, number), to)) in offered.zip(ends) {
            let mut receive = ReceiveAttributes::new(vector, *to, there.sq_psn, mtu);
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
                false => Some(Buffers::all_free(domain, queue.sends(), queue.size())?),
            };
            let id = RequestId::Send {
                peer: peer.0,
                queue: number,
            };
            let (share, most) = (queue.of_each(self.peers), queue.sends());
            connected.push((Pair::new(pair, id, share, most, own), buffers));
        }
        Ok(connected)
    }
}
