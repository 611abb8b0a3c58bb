//! [`VerbsEndpoint`]: the connections of a rank while they are made.

use super::buffers::Buffers;
use super::growing_queue::GrowingQueue;
use super::initiators::{ExtendedDomain, Initiators, OfferedEnds};
use super::open_device::{OpenDevice, capacity};
use super::options::{VerbsOptions, VerbsTransportError};
use super::pair_address::{ExtendedAddress, PairAddress};
use super::prepared::Prepared;
use super::queue_sizes::QueueSizes;
use super::rail::{PortPair, Rail};
use super::receive_queues::ReceiveQueue;
use super::request_id::RequestId;
use super::rx::{SharedReceives, VerbsRx};
use super::tx::VerbsTx;
use crate::error::VerbsError;
use crate::objects::{
    Access, CompletionQueue, Context, Init, InitAttributes, ProtectionDomain, QueuePair, Reset,
    SharedReceiveQueue,
};
use crate::registration::{MEMORY_DEVICES, is_forked_child};
use oxmpi_wire::Peer;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

/// For how long a device sends a peer away whose message finds no buffer in a shared queue: 0 is the longest time, 655 ms.
pub(super) const SHARED_RNR_TIMER: u8 = 0;

/// The value of `rnr_retry` for "for ever". Where the shares of a queue's senders exceed what is posted (many ranks, or
/// locked memory that is short), a rank that computes for long must not count as dead; the control network tells of one
/// that is.
pub(super) const FOR_EVER: u8 = 7;

/// The most reads that a queue pair has in flight: devices keep state for each.
const MOST_READS: u32 = 16;

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
    pub(super) rails: Vec<OpenRail>,
    options: VerbsOptions,
    pub(super) sizes: QueueSizes,
    /// By receive queue.
    pub(super) shared: Vec<Option<SharedReceiveQueue>>,
    /// Those of `X` queues, which several peers share.
    pub(super) initiators: Initiators,
    /// By peer and rail.
    offered: BTreeMap<u32, Vec<Offered>>,
    /// Ranks that share its buffers.
    pub(super) peers: u32,
    /// Those of the devices.
    queues: Vec<GrowingQueue>,
    /// Offers that were made.
    offers: u32,
    /// Connections that were made.
    pub(super) connected: usize,
}

/// A rail with what its device has for it.
#[derive(Debug)]
pub(super) struct OpenRail {
    pub(super) rail: Rail,
    /// The place of its device.
    device: usize,
    pub(super) domain: ProtectionDomain,
    pub(super) queue: CompletionQueue,
    /// With receive queues of kind `X`.
    pub(super) extended: Option<ExtendedDomain>,
}

/// Queue pairs that are offered to a peer.
#[derive(Debug)]
pub(crate) struct Offered {
    pub(crate) rail: u8,
    /// By receive queue; none if these are of kind `X`.
    pub(super) pairs: Vec<QueuePair<Init>>,
    /// The posted buffers of the peer's own queues.
    pub(super) buffers: Vec<Option<Buffers>>,
    pub(super) address: PairAddress,
    /// With receive queues of kind `X`.
    pub(super) extended: Option<OfferedEnds>,
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
        let Prepared {
            sizes,
            piece,
            fitted,
            devices,
            places,
            inline: [asked, inline],
        } = Prepared::new(rails, peers, &options)?;
        let queues = &options.receive_queues;
        let open = |(rail, place): (&Rail, &usize)| OpenRail {
            rail: rail.clone(),
            device: *place,
            domain: devices[*place].domain.clone(),
            queue: devices[*place].queue.clone(),
            extended: devices[*place].extended.clone(),
        };
        let rails: Vec<OpenRail> = rails.iter().zip(&places).map(open).collect();
        let (mut receives, mut sends) = (Vec::new(), Vec::new());
        let on_each = rails
            .iter()
            .flat_map(|rail| queues.iter().map(move |queue| (rail, queue)));
        for ((open, queue), number) in on_each.zip(0..) {
            let domain = &open.domain;
            let xrc = open.extended.as_ref().map(|xrc| (&xrc.domain, &open.queue));
            let (receive, send) = match queue {
                ReceiveQueue::PerPeer(_) => (None, None),
                ReceiveQueue::Shared(shared) | ReceiveQueue::Extended(shared) => {
                    let shared = fitted.apply(*shared);
                    let send = Buffers::all_free(domain, shared.buffers, shared.size)?;
                    (
                        Some(SharedReceives::new(domain, xrc, number, &shared)?),
                        Some(send),
                    )
                }
            };
            receives.push(receive);
            sends.push(send);
        }
        let reaching = (rails.iter().filter(|rail| rail.device < MEMORY_DEVICES)).count();
        let limits = options.limits(inline, reaching);
        let shared = receives.iter().map(|receives: &Option<SharedReceives>| {
            receives.as_ref().map(|receives| receives.queue().clone())
        });
        let registrations = OpenDevice::registrations(&devices, &options);
        let domains: Vec<ProtectionDomain> = rails.iter().map(|rail| rail.domain.clone()).collect();
        let connector = PairConnector {
            rails,
            sizes: sizes.clone(),
            shared: shared.collect(),
            initiators: Initiators::default(),
            offered: BTreeMap::new(),
            peers,
            queues: (devices.iter())
                .map(|device| device.growing.clone())
                .collect(),
            offers: 0,
            connected: 0,
            options: VerbsOptions {
                inline: asked,
                ..options
            },
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
            rx: VerbsRx::new(
                devices,
                peers,
                receives,
                (options.rings, domains),
                options.connection.patience(),
            ),
            connector,
        })
    }

    /// Checks that an endpoint for one peer could be opened by these ports, but registers nothing.
    ///
    /// # Errors
    /// As [`VerbsEndpoint::open_rails`].
    ///
    /// # Panics
    /// As [`VerbsEndpoint::open_rails`].
    pub(crate) fn check_rails(
        rails: &[Rail],
        options: &VerbsOptions,
    ) -> Result<(), VerbsTransportError> {
        Prepared::new(rails, 1, options).map(drop)
    }

    /// Makes a queue pair for each receive queue, with all buffers of `peer` posted, and returns where the peer
    /// reaches them: on each rail.
    ///
    /// # Errors
    /// When the device has no more queue pairs, or this process may lock no more memory.
    pub fn offer(&mut self, peer: Peer) -> Result<Vec<PairAddress>, VerbsTransportError> {
        self.connector.offer(peer, &[])
    }

    /// Connects the queue pairs that were [offered](Self::offer) to `peer` with those of `port_pairs`. What was offered on
    /// other rails is destroyed.
    ///
    /// # Errors
    /// When nothing was offered to the peer, there is no port pair, the peer has other receive queues, or no device finds a route to it. A port pair without a route
    /// counts as failed if there is another.
    ///
    /// # Panics
    /// With two port pairs of one rail.
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

impl Offered {
    /// The queue pairs, by receive queue, to be connected.
    pub(crate) fn take_pairs(&mut self) -> Vec<QueuePair<Init>> {
        std::mem::take(&mut self.pairs)
    }
}

impl PairConnector {
    pub(super) const fn options(&self) -> &VerbsOptions {
        &self.options
    }

    pub(super) fn is_iwarp(&self) -> bool {
        self.rails[0].rail.context.is_iwarp()
    }

    /// Whether peers share the buffers of receive queue `number`.
    pub(super) fn is_shared(&self, number: u8) -> bool {
        self.shared[usize::from(number)].is_some()
    }

    /// Completions that nobody has polled, at most.
    pub(crate) fn depth(&self) -> u32 {
        self.queues.iter().map(GrowingQueue::depth).sum()
    }

    /// As [`VerbsEndpoint::offer`]. With `X` queues, a peer that has said where it is gets the connection that this rank has
    /// with its node: by `port_pairs`.
    pub(crate) fn offer(
        &mut self,
        peer: Peer,
        port_pairs: &[PortPair],
    ) -> Result<Vec<PairAddress>, VerbsTransportError> {
        self.make_room()?;
        let rails = 0..self.rails.len();
        let offered = rails.map(|rail| match self.is_extended() {
            true => {
                let port_pair = port_pairs.iter().find(|of| usize::from(of.rail) == rail);
                self.offer_extended(rail, port_pair.map(|port_pair| &port_pair.there))
            }
            false => self.offer_on(rail, peer),
        });
        let offered: Vec<Offered> = offered.collect::<Result<_, _>>()?;
        let addresses = offered.iter().map(|offered| offered.address.clone());
        let addresses = addresses.collect();
        self.offered.insert(peer.0, offered);
        Ok(addresses)
    }

    /// As [`VerbsEndpoint::offer`], on one rail only.
    pub(crate) fn offer_on_rail(
        &mut self,
        peer: Peer,
        rail: u8,
    ) -> Result<PairAddress, VerbsTransportError> {
        self.make_room()?;
        let offered = self.offer_on(rail.into(), peer)?;
        let address = offered.address.clone();
        self.offered.insert(peer.0, vec![offered]);
        Ok(address)
    }

    /// Makes room for the completions of another peer.
    fn make_room(&mut self) -> Result<(), VerbsTransportError> {
        if is_forked_child() {
            return Err(VerbsTransportError::Forked);
        }
        self.offers += 1;
        for queue in &mut self.queues {
            queue.fit(self.offers)?;
        }
        Ok(())
    }

    /// Makes the queue pairs of a rail for `peer`.
    fn offer_on(&self, rail: usize, peer: Peer) -> Result<Offered, VerbsTransportError> {
        let OpenRail {
            rail: at, domain, ..
        } = &self.rails[rail];
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
        let numbers = pairs.iter().map(QueuePair::number).collect();
        Ok(Offered {
            rail: rail as u8,
            pairs,
            buffers: all_buffers,
            address: self.address(rail, numbers, None)?,
            extended: None,
        })
    }

    /// Where peers reach what this rank has on a rail by these numbers.
    pub(super) fn address(
        &self,
        rail: usize,
        numbers: Vec<u32>,
        extended: Option<ExtendedAddress>,
    ) -> Result<PairAddress, VerbsError> {
        let at = &self.rails[rail].rail;
        let (port, gids) = (at.context.port(at.port)?, at.context.gids(at.port)?);
        let gid = gids.iter().find(|entry| entry.index == at.gid_index);
        let limits = at.context.limits()?;
        let reads = limits.max_qp_rd_atom.min(limits.max_qp_init_rd_atom);
        Ok(PairAddress {
            receive_queues: self.options.receive_queues.clone(),
            // No number of an earlier connection: its late packets are then out of sequence.
            sq_psn: RandomState::new().hash_one(&numbers) as u32 & 0xff_ffff,
            numbers,
            lid: port.lid,
            gid: gid.map(|entry| entry.gid),
            mtu: port.active_mtu,
            reads: reads.clamp(1, MOST_READS) as u8,
            extended,
        })
    }

    /// All that is offered, to whichever peer.
    pub(super) fn all_offered(&self) -> impl Iterator<Item = &Offered> {
        self.offered.values().flatten()
    }

    /// The receive queues of a rail, and their numbers.
    pub(super) fn queues_of(&self, rail: usize) -> impl Iterator<Item = (&ReceiveQueue, u8)> {
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

    /// The place of the device of a rail.
    pub(super) fn device(&self, rail: u8) -> usize {
        self.rails[usize::from(rail)].device
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
        let sizes = self.sizes.on_rail(rail as u8);
        let mut capacity = capacity(queue, &sizes, number, &self.options);
        // The first message of the side that connects.
        capacity.max_send_wr += u32::from(self.is_iwarp());
        match &self.shared[usize::from(number)] {
            Some(shared) => domain.create_queue_pair_on(shared, completions, completions, capacity),
            None => domain.create_queue_pair(completions, completions, capacity),
        }
    }

    /// The queue pairs that are offered to `peer`, by rail, which become the caller's.
    pub(crate) fn take_offered(&mut self, peer: u32) -> Option<Vec<Offered>> {
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
}
