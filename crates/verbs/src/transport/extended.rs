//! Receive queues of kind `X`: one connection to each node, which leads to the queues of all its ranks.
//!
//! ```text
//!  rank P of node A                        node N
//!  initiator to N  ---------------------   target of P    ---  queues of rank b
//!                                                         ---  queues of rank c
//! ```
//!
//! P makes an initiator for the first rank of N with which it connects, and that rank makes the target. For the next one P
//! uses the same initiator, and the rank opens the target by its number. The other direction is the same.
//!
//! Requests of one initiator have no room of their own for each rank: so many of each are in flight that all fit
//! ([`room_of_peer`]), and further ranks of the node get another initiator ([`MOST_PEERS`]).

use super::endpoint::{FOR_EVER, Offered, OpenRail, PairConnector, SHARED_RNR_TIMER};
use super::open_device::MOST_ACCESSES;
use super::options::{VerbsOptions, VerbsTransportError};
use super::pair_address::{ExtendedAddress, PairAddress};
use super::rail::PortPair;
use super::receive_queues::ReceiveQueue;
use crate::error::VerbsError;
use crate::objects::{
    Access, Context, Gid, Init, InitAttributes, QueueCapacity, QueuePair, ReadyToReceive,
    ReadyToSend, ReceiveAttributes, SendAttributes, WeakInitiator, XrcDomain, XrcInitiator,
    XrcTarget,
};
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The most ranks of a node by one initiator.
const MOST_PEERS: u32 = 64;

/// open(2): the last part of the path is no symbolic link.
const O_NOFOLLOW: i32 = if cfg!(any(
    target_arch = "aarch64",
    target_arch = "arm",
    target_arch = "powerpc64"
)) {
    0o100_000
} else {
    0o400_000
};

/// The XRC domain of a rank on a device.
#[derive(Debug, Clone)]
pub(super) struct ExtendedDomain {
    pub(super) domain: XrcDomain,
    /// What tells it from those of other ranks of the port.
    identity: u64,
}

/// The ports of a node with the domain of some of its ranks, as a rail of this rank reaches them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NodeKey {
    rail: u8,
    gid: Option<Gid>,
    lid: u16,
    domain: u64,
}

/// Initiators that are connected.
#[derive(Debug, Default)]
pub(super) struct Initiators(Vec<ConnectedInitiator>);

#[derive(Debug)]
struct ConnectedInitiator {
    node: NodeKey,
    pair: WeakInitiator,
    /// The number of its target.
    target: u32,
    /// Ranks that were connected by it.
    peers: u32,
}

/// What a rank offers a peer on a rail.
#[derive(Debug)]
pub(super) struct OfferedEnds {
    /// Where the peer is, if it has said so before.
    node: Option<NodeKey>,
    initiator: OfferedInitiator,
    /// For the initiator of the peer, unless that has one.
    target: Option<QueuePair<Init, XrcTarget>>,
}

#[derive(Debug)]
enum OfferedInitiator {
    New(QueuePair<Init, XrcInitiator>),
    /// One that is connected with the peer's node.
    Connected(QueuePair<ReadyToSend, XrcInitiator>),
}

/// Both ends of a connection with a peer on a rail.
pub(super) struct ConnectedEnds {
    /// For each of the peer's queues.
    pub(super) pairs: Vec<QueuePair<ReadyToSend>>,
    pub(super) target: QueuePair<ReadyToReceive, XrcTarget>,
}

impl ExtendedDomain {
    /// Opens that of a file, which is made if it is not there.
    ///
    /// # Errors
    /// When the device opens no domain.
    pub(super) fn open(context: &Context, file: Option<&Path>) -> Result<Self, VerbsError> {
        let opened = match file {
            Some(path) => open_file(path),
            None => default_file().and_then(|path| open_file(&path)),
        };
        let opened = opened.inspect_err(|why| {
            tracing::warn!(%why, "no file for the XRC domain: no rank of this node shares its connections");
        });
        let (file, identity) = match opened {
            Ok((file, identity)) => (Some(file), identity),
            Err(_) => (None, RandomState::new().hash_one(0)),
        };
        let domain = context.open_xrc_domain(file.as_ref().map(AsFd::as_fd))?;
        Ok(Self { domain, identity })
    }
}

/// The file of this user's ranks on this node. It stays, and is empty.
fn default_file() -> io::Result<PathBuf> {
    let user = std::fs::metadata("/proc/self")?.uid();
    let shared = Path::new("/dev/shm");
    let folder = match shared.is_dir() {
        true => shared.to_owned(),
        false => std::env::temp_dir(),
    };
    Ok(folder.join(format!("oxmpi-xrc-{user}")))
}

/// A file of this user, which other users do not open, and its identity.
fn open_file(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.mode(0o600).custom_flags(O_NOFOLLOW).open(path)?;
    let of = file.metadata()?;
    if !of.is_file() || of.uid() != std::fs::metadata("/proc/self")?.uid() {
        let why = format!("{} is no file of this user", path.display());
        return Err(io::Error::other(why));
    }
    Ok((file, of.dev().rotate_left(32) ^ of.ino()))
}

/// Requests of one peer that an initiator has in flight at most, for each of which it has room.
fn room_of_peer(options: &VerbsOptions, peers: u32) -> u32 {
    let queues = options.receive_queues.iter();
    let messages: u32 = queues.map(|queue| queue.most_in_flight(peers)).sum();
    messages + MOST_ACCESSES + options.rings.slots
}

/// What an initiator holds, and for how many ranks of a node that is.
///
/// # Errors
/// When the device does not answer.
pub(super) fn initiator_capacity(
    context: &Context,
    options: &VerbsOptions,
    peers: u32,
) -> Result<(QueueCapacity, u32), VerbsError> {
    let room = room_of_peer(options, peers);
    let most = context.limits()?.max_qp_wr / room;
    let most = most.min(MOST_PEERS).min(peers).max(1);
    let capacity = QueueCapacity {
        max_inline_data: options.inline.min(super::frame_head::MAX_INLINE as u32),
        ..QueueCapacity::new(room * most, 0)
    };
    Ok((capacity, most))
}

impl NodeKey {
    fn of(rail: u8, there: &PairAddress) -> Option<Self> {
        let domain = there.extended?.domain;
        let PairAddress { gid, lid, .. } = *there;
        Some(Self {
            rail,
            gid,
            lid,
            domain,
        })
    }
}

impl Initiators {
    /// One that is connected with a node, and takes another rank of it.
    fn find(&mut self, node: NodeKey, most: u32) -> Option<&mut ConnectedInitiator> {
        self.0.retain(|known| known.pair.upgrade().is_some());
        let takes = |known: &&mut ConnectedInitiator| known.node == node && known.peers < most;
        self.0.iter_mut().find(takes)
    }
}

impl PairConnector {
    /// Whether all receive queues are of kind `X`.
    pub(crate) fn is_extended(&self) -> bool {
        let queues = &self.options().receive_queues;
        matches!(queues.first(), Some(ReceiveQueue::Extended(_)))
    }

    /// Where this rank is and which queues it has, on each rail: a peer can then offer an initiator that it has to this
    /// node.
    ///
    /// # Errors
    /// When a device does not answer.
    pub(crate) fn extended_addresses(&self) -> Result<Vec<PairAddress>, VerbsTransportError> {
        let of_rail = |rail| {
            let numbers = self.numbers_of_queues(rail);
            let extended = self.extended_address(rail);
            Ok(self.address(rail, numbers, Some(extended))?)
        };
        (0..self.rails.len()).map(of_rail).collect()
    }

    /// Whether an initiator is on its way to the node of a peer, which soon takes that peer, too.
    pub(crate) fn awaits_initiator(&self, port_pairs: &[PortPair]) -> bool {
        let is_awaited = |offered: &Offered, node| {
            let ends = offered.extended.as_ref();
            let new = ends.filter(|ends| matches!(ends.initiator, OfferedInitiator::New(_)));
            new.is_some_and(|ends| ends.node == Some(node))
        };
        port_pairs.iter().any(|port_pair| {
            let node = NodeKey::of(port_pair.rail, &port_pair.there);
            let mut offered = self.all_offered();
            node.is_some_and(|node| offered.any(|offered| is_awaited(offered, node)))
        })
    }

    fn extended_address(&self, rail: usize) -> ExtendedAddress {
        let OpenRail { extended, .. } = &self.rails[rail];
        ExtendedAddress {
            domain: extended.as_ref().map_or(0, |extended| extended.identity),
            initiator: 0,
            connected: 0,
            target: 0,
        }
    }

    fn numbers_of_queues(&self, rail: usize) -> Vec<u32> {
        let queues = self.queues_of(rail);
        let numbers = queues.map(|(_, number)| {
            let shared = self.shared[usize::from(number)].as_ref();
            shared.and_then(|shared| shared.xrc_number()).unwrap_or(0)
        });
        numbers.collect()
    }

    /// Makes the ends that a rail offers a peer, of which `there` is known if it has said where it is.
    pub(super) fn offer_extended(
        &mut self,
        rail: usize,
        there: Option<&PairAddress>,
    ) -> Result<Offered, VerbsTransportError> {
        let OpenRail {
            rail: at,
            domain,
            queue,
            extended,
            ..
        } = &self.rails[rail];
        let init = InitAttributes {
            access: Access::REMOTE_READ | Access::REMOTE_WRITE,
            pkey_index: self.options().connection.pkey_index,
            ..InitAttributes::new(at.port)
        };
        let (capacity, most) = initiator_capacity(&at.context, self.options(), self.peers)?;
        let mut address = self.extended_address(rail);
        let mut target = None;
        if !there
            .and_then(|there| there.extended)
            .is_some_and(|there| there.connected != 0)
            && let Some(extended) = extended
        {
            let made = extended.domain.create_target()?.init(init)?;
            address.target = made.number();
            target = Some(made);
        }
        let make = || domain.create_initiator(queue, capacity)?.init(init);
        let node = there.and_then(|there| NodeKey::of(rail as u8, there));
        let known = node.and_then(|node| self.initiators.find(node, most));
        let known = known.and_then(|known| known.pair.upgrade().zip(Some(known.target)));
        let initiator = match known {
            Some((pair, target)) => {
                (address.initiator, address.connected) = (pair.number(), target);
                OfferedInitiator::Connected(pair)
            }
            None => {
                let pair = make()?;
                address.initiator = pair.number();
                OfferedInitiator::New(pair)
            }
        };
        let numbers = self.numbers_of_queues(rail);
        Ok(Offered {
            pairs: Vec::new(),
            buffers: numbers.iter().map(|_| None).collect(),
            address: self.address(rail, numbers, Some(address))?,
            extended: Some(OfferedEnds {
                node,
                initiator,
                target,
            }),
        })
    }

    /// Connects the ends that were offered to a peer with those that it has offered.
    ///
    /// # Errors
    /// When the peer has offered none that fit, or the device refuses.
    pub(super) fn connect_extended(
        &mut self,
        port_pair: &PortPair,
        offered: &mut Offered,
        receive: &ReceiveAttributes,
        send: &SendAttributes,
    ) -> Result<ConnectedEnds, VerbsTransportError> {
        const UNFIT: VerbsTransportError = VerbsTransportError::BadRequest;
        let PortPair { rail, there, .. } = port_pair;
        let node = NodeKey::of(*rail, there).ok_or(UNFIT)?;
        let to = there.extended.ok_or(UNFIT)?;
        let OfferedEnds {
            initiator, target, ..
        } = offered.extended.take().ok_or(UNFIT)?;
        let receive = |number| ReceiveAttributes {
            dest_qp_num: number,
            min_rnr_timer: SHARED_RNR_TIMER,
            ..*receive
        };
        let OpenRail {
            rail: at, extended, ..
        } = &self.rails[usize::from(*rail)];
        let target = match (to.connected, target, extended) {
            (0, Some(target), _) => target.ready_to_receive(receive(to.initiator))?,
            (number @ 1.., _, Some(extended)) => extended.domain.open_target(number)?,
            _ => return Err(UNFIT),
        };
        let (_, most) = initiator_capacity(&at.context, self.options(), self.peers)?;
        let initiator = match initiator {
            OfferedInitiator::Connected(pair) => {
                if let Some(known) = self.initiators.find(node, most) {
                    known.peers += 1;
                }
                pair
            }
            OfferedInitiator::New(pair) if to.target != 0 => {
                let pair = pair.ready_to_receive(receive(to.target))?;
                let pair = pair.ready_to_send(SendAttributes {
                    rnr_retry: FOR_EVER,
                    ..*send
                })?;
                self.initiators.0.push(ConnectedInitiator {
                    node,
                    pair: pair.downgrade(),
                    target: to.target,
                    peers: 1,
                });
                pair
            }
            OfferedInitiator::New(_) => return Err(UNFIT),
        };
        let queues = there.numbers.iter();
        Ok(ConnectedEnds {
            pairs: queues.map(|queue| initiator.addressed_to(*queue)).collect(),
            target,
        })
    }
}
