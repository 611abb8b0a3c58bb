//! Connections by rdmacm: the queue pairs of two ranks are connected one by one, each by a connection of its own.
//!
//! A rank listens at each of its ports, and deals its peers to them. An offer over the control network says where its sender listens, and has a key that only its receiver learns, so
//! that the key in a request names job and rank. The receiver of an offer connects; if both have offered, the one
//! whose key is smaller.

use super::connection::ListenAddress;
use super::no_rdma_port::NoRdmaPort;
use crate::error::VerbsError;
use crate::objects::{
    CmChannel, CmEvent, CmEventKind, CmIdentifier, CmKey, Gid, Init, QueuePair, ReadyToSend,
};
use crate::transport::{Offered, PairConnector, VerbsTransportError};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// Requests that may wait for this rank to poll; devices of peers repeat the others.
const BACKLOG: u32 = 1024;

/// A listener on an address of a port.
#[derive(Debug)]
pub(super) struct CmListener {
    identifier: CmIdentifier,
    address: SocketAddr,
}

/// The listeners of a rank, and its connections by rdmacm.
#[derive(Debug)]
pub(super) struct CmConnections {
    channel: CmChannel,
    /// By rail.
    listeners: Vec<CmListener>,
    /// Peers that were dealt to rails.
    dealt: usize,
    /// How long the resolution of an address, and of a route, may take.
    timeout: Duration,
    /// Keys of the offers of this rank, by peer.
    keys: BTreeMap<u32, u64>,
    /// Peers to which connections are being made.
    open: BTreeMap<u32, InMaking>,
    /// The connections of the others.
    made: BTreeMap<u32, Vec<CmIdentifier>>,
}

/// The connections with a peer that are being made.
#[derive(Debug)]
struct InMaking {
    /// The key of the peer's offer, if this rank connects.
    to: Option<u64>,
    /// The places of the devices of both rails, this rank's first.
    devices: [u8; 2],
    queues: Vec<QueueInMaking>,
    offered: Offered,
}

/// The connection of one receive queue.
#[derive(Debug)]
enum QueueInMaking {
    /// The peer has not asked for it.
    Awaited(QueuePair<Init>),
    /// This rank has asked for it.
    Asked(QueuePair<Init>, CmIdentifier),
    Made(QueuePair<ReadyToSend>, CmIdentifier),
    /// A step has failed.
    Gone,
}

/// The queue pairs of a peer, which can send as far as this side knows.
#[derive(Debug)]
pub(super) struct MadePairs {
    pub(super) offered: Offered,
    pub(super) pairs: Vec<QueuePair<ReadyToSend>>,
    /// The place of the device of the peer's rail.
    pub(super) device: u8,
    /// This rank has connected: the peer, which has accepted, can receive.
    pub(super) has_connected: bool,
}

/// What a request says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PrivateData {
    /// Of the offer that it answers.
    key: u64,
    /// The receive queue.
    queue: u8,
    /// As of [`ListenAddress`].
    device: u8,
}

impl PrivateData {
    const LEN: usize = 10;

    fn bytes(self) -> [u8; Self::LEN] {
        let [a, b, c, d, e, f, g, h] = self.key.to_le_bytes();
        [a, b, c, d, e, f, g, h, self.queue, self.device]
    }

    /// `None` if another program has asked.
    fn of(bytes: &[u8]) -> Option<Self> {
        let (key, rest) = bytes.split_first_chunk()?;
        let [queue, device, ..] = *rest else {
            return None;
        };
        let key = u64::from_le_bytes(*key);
        Some(Self { key, queue, device })
    }
}

impl CmListener {
    /// Listens at a free port of the first of `addresses` that is of the port `wanted` of a device, and whose GID
    /// `is_taken`.
    ///
    /// # Errors
    /// When none is, or none can be listened at.
    pub(super) fn listen(
        channel: &CmChannel,
        (device, port): (&str, u8),
        addresses: &[IpAddr],
        is_taken: impl Fn(Gid) -> bool,
    ) -> Result<Self, NoRdmaPort> {
        for &address in addresses {
            let mut identifier = channel.create_identifier()?;
            if let Err(why) = identifier.bind(SocketAddr::new(address, 0)) {
                tracing::debug!(%why, "no device has the address");
                continue;
            }
            let of = identifier.device();
            let is_wanted = of.is_some_and(|of| (&*of.0, of.1) == (device, port));
            if !is_wanted || !is_taken(identifier.source_gid()) {
                continue;
            }
            identifier.listen(BACKLOG)?;
            let address = SocketAddr::new(address, identifier.port());
            return Ok(Self {
                identifier,
                address,
            });
        }
        Err(NoRdmaPort::new(
            "rdmacm needs an IP address of the port (on InfiniBand that of IPoIB), and there is none that the settings allow",
        ))
    }

    /// The GID of the port that it listens at.
    pub(super) fn gid(&self) -> Gid {
        self.identifier.source_gid()
    }
}

/// How near two addresses are: in bits that their networks have in common, of which hosts of one network differ in the last.
fn nearness(a: IpAddr, b: IpAddr) -> u32 {
    match (a, b) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros().min(24) + 1,
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros().min(64) + 1,
        _ => 0,
    }
}

impl CmConnections {
    /// Those of a rank with these listeners, one for each rail, whose events come by `channel`. The resolution of an address
    /// may take `timeout`, and that of a route.
    ///
    /// # Panics
    /// Without a listener.
    pub(super) fn new(channel: CmChannel, listeners: Vec<CmListener>, timeout: Duration) -> Self {
        assert!(!listeners.is_empty(), "a rail");
        Self {
            channel,
            listeners,
            dealt: 0,
            timeout,
            keys: BTreeMap::new(),
            open: BTreeMap::new(),
            made: BTreeMap::new(),
        }
    }

    /// The rail for the next peer to which connections are offered: peers are dealt to rails in turn.
    pub(super) const fn deal(&mut self) -> u8 {
        let rail = self.dealt % self.listeners.len();
        self.dealt += 1;
        rail as u8
    }

    /// The rail that connects to an address: one of those whose addresses are nearest, in turn.
    pub(super) fn rail_to(&mut self, to: SocketAddr) -> u8 {
        let near = |listener: &CmListener| nearness(listener.address.ip(), to.ip());
        let most = self.listeners.iter().map(near).max();
        let nearest: Vec<u8> = (0..)
            .zip(&self.listeners)
            .filter(|(_, listener)| Some(near(listener)) == most)
            .map(|(rail, _)| rail)
            .collect();
        self.dealt += 1;
        nearest[self.dealt % nearest.len()]
    }

    pub(super) const fn channel(&self) -> &CmChannel {
        &self.channel
    }

    /// The key of this rank's offer to `peer`.
    pub(super) fn key(&self, peer: u32) -> Option<u64> {
        self.keys.get(&peer).copied()
    }

    /// Where `peer` connects to the queue pairs that are offered to it on a rail, whose device has this place.
    pub(super) fn offer(&mut self, peer: u32, rail: u8, device: u8) -> ListenAddress {
        let key = RandomState::new().hash_one(peer);
        self.keys.insert(peer, key);
        ListenAddress {
            address: self.listeners[usize::from(rail)].address,
            key,
            device,
        }
    }

    /// Begins to connect queue pairs, which were offered to `peer`, with those of its offer. The device of their rail has the
    /// place `device`.
    ///
    /// # Errors
    /// When a call fails.
    pub(super) fn connect(
        &mut self,
        peer: u32,
        (offered, device): (Offered, u8),
        to: ListenAddress,
    ) -> Result<(), VerbsError> {
        self.keys.remove(&peer);
        let from = self.listeners[usize::from(offered.rail)].address.ip();
        let mut making = InMaking::new(offered, Some(to.key), [device, to.device]);
        for queue in &mut making.queues {
            if let QueueInMaking::Awaited(pair) = std::mem::replace(queue, QueueInMaking::Gone) {
                let mut identifier = self.channel.create_identifier()?;
                let from = SocketAddr::new(from, 0);
                identifier.resolve_address(from, to.address, self.timeout)?;
                *queue = QueueInMaking::Asked(pair, identifier);
            }
        }
        self.open.insert(peer, making);
        Ok(())
    }

    /// Ends the connections with `peer`. Its queue pairs may be dropped before.
    pub(super) fn forget(&mut self, peer: u32) {
        self.keys.remove(&peer);
        self.open.remove(&peer);
        self.made.remove(&peer);
    }

    /// Goes on with connections until the queue pairs of a peer are made, or cannot be. `None`: nothing more happens now.
    pub(super) fn advance(
        &mut self,
        connector: &mut PairConnector,
    ) -> Option<(u32, Result<MadePairs, VerbsTransportError>)> {
        loop {
            let event = match self.channel.next_event(Instant::now()) {
                Ok(event) => event?,
                Err(why) => {
                    // Those under way end by the death of their peers at the latest.
                    tracing::warn!(%why, "no events of connections");
                    return None;
                }
            };
            if let Some((peer, taken)) = self.take(event, connector) {
                let made = match taken {
                    Ok(()) => self.take_made(peer).map(Ok),
                    Err(why) => Some(Err(why)),
                };
                if let Some(made) = made {
                    return Some((peer, made));
                }
            }
        }
    }

    /// Takes an event of a connection with a peer: `None` if it changes nothing.
    fn take(
        &mut self,
        event: CmEvent,
        connector: &mut PairConnector,
    ) -> Option<(u32, Result<(), VerbsTransportError>)> {
        if let CmEventKind::Request(identifier) = event.kind {
            return self.take_request(identifier, &event.private_data, connector);
        }
        let (peer, number) = self.find(event.key)?;
        let making = self.open.get_mut(&peer)?;
        let result = match event.kind {
            CmEventKind::Failed(why) => Err(VerbsTransportError::NotConnected(why)),
            kind => making.step(number, &kind, self.timeout, connector),
        };
        Some((peer, result))
    }

    /// Accepts the connection of a queue pair. A request that nobody was invited to is refused.
    fn take_request(
        &mut self,
        identifier: CmIdentifier,
        data: &[u8],
        connector: &mut PairConnector,
    ) -> Option<(u32, Result<(), VerbsTransportError>)> {
        let data = PrivateData::of(data);
        let invited = data.and_then(|data| {
            let found = self.keys.iter().find(|(_, key)| **key == data.key);
            Some((*found?.0, data))
        });
        let Some((peer, data)) = invited else {
            tracing::debug!("a request to connect that answers no offer is refused");
            let _ = identifier.reject();
            return None;
        };
        let making = match self.open.entry(peer) {
            Entry::Occupied(making) => making.into_mut(),
            Entry::Vacant(entry) => {
                let offered = connector.take_only_offered(peer)?;
                entry.insert(InMaking::new(offered, None, [0, data.device]))
            }
        };
        let accepted = making.accept(data.queue, identifier, connector);
        Some((peer, accepted))
    }

    /// The connection that is being made by an identifier.
    fn find(&self, key: CmKey) -> Option<(u32, usize)> {
        self.open.iter().find_map(|(peer, making)| {
            let is_it = |queue: &QueueInMaking| match queue {
                QueueInMaking::Asked(_, of) | QueueInMaking::Made(_, of) => of.key() == key,
                QueueInMaking::Awaited(_) | QueueInMaking::Gone => false,
            };
            Some((*peer, making.queues.iter().position(is_it)?))
        })
    }

    /// The queue pairs of `peer`, if all are made.
    fn take_made(&mut self, peer: u32) -> Option<MadePairs> {
        let is_made = |queue: &QueueInMaking| matches!(queue, QueueInMaking::Made(..));
        let is_whole = self.open.get(&peer)?.queues.iter().all(is_made);
        let making = is_whole.then(|| self.open.remove(&peer))??;
        self.keys.remove(&peer);
        let made = making.queues.into_iter().filter_map(|queue| match queue {
            QueueInMaking::Made(pair, identifier) => Some((pair, identifier)),
            _ => None,
        });
        let (pairs, identifiers) = made.unzip();
        self.made.insert(peer, identifiers);
        Some(MadePairs {
            offered: making.offered,
            device: making.devices[1],
            pairs,
            has_connected: making.to.is_some(),
        })
    }
}

impl InMaking {
    fn new(mut offered: Offered, to: Option<u64>, devices: [u8; 2]) -> Self {
        let pairs = offered.take_pairs();
        Self {
            to,
            queues: pairs.into_iter().map(QueueInMaking::Awaited).collect(),
            devices,
            offered,
        }
    }

    /// Accepts the connection of receive queue `number`.
    fn accept(
        &mut self,
        number: u8,
        mut identifier: CmIdentifier,
        connector: &PairConnector,
    ) -> Result<(), VerbsTransportError> {
        let queue = self.queues.get_mut(usize::from(number));
        let queue = queue.ok_or(VerbsTransportError::BadRequest)?;
        let QueueInMaking::Awaited(pair) = std::mem::replace(queue, QueueInMaking::Gone) else {
            return Err(VerbsTransportError::BadRequest);
        };
        let pair = connector.accept(number, pair, &mut identifier)?;
        *queue = QueueInMaking::Made(pair, identifier);
        Ok(())
    }

    /// Goes on with the connection of receive queue `number` that this rank has asked for.
    fn step(
        &mut self,
        number: usize,
        event: &CmEventKind,
        timeout: Duration,
        connector: &PairConnector,
    ) -> Result<(), VerbsTransportError> {
        let (Some(key), QueueInMaking::Asked(pair, identifier)) =
            (self.to, &mut self.queues[number])
        else {
            return Ok(());
        };
        let (queue, [device, _]) = (number as u8, self.devices);
        match event {
            CmEventKind::AddressResolved => identifier.resolve_route(timeout)?,
            CmEventKind::RouteResolved => {
                let data = PrivateData { key, queue, device }.bytes();
                identifier.connect(connector.parameters(queue, pair, &data))?;
            }
            CmEventKind::Response | CmEventKind::Established => {
                let asked = std::mem::replace(&mut self.queues[number], QueueInMaking::Gone);
                if let QueueInMaking::Asked(pair, mut identifier) = asked {
                    let pair = connector.complete(queue, pair, &mut identifier)?;
                    self.queues[number] = QueueInMaking::Made(pair, identifier);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{PrivateData, nearness};

    #[test]
    fn hosts_of_one_network_are_equally_near() {
        let near = |a: &str, b: &str| nearness(a.parse().unwrap(), b.parse().unwrap());
        assert_eq!(near("10.1.0.7", "10.1.0.6"), near("10.1.0.7", "10.1.0.200"));
        assert!(near("10.1.0.7", "10.1.0.6") > near("10.2.0.7", "10.1.0.6"));
        assert_eq!(near("fd00::1", "fd00::2"), near("fd00::1", "fd00::ffff"));
        assert!(near("fd00::1", "10.1.0.6") < near("10.2.0.7", "192.168.0.1"));
    }

    #[test]
    fn private_data_reads_back_with_zeros_behind_it() {
        let data = PrivateData {
            key: 0x0123_4567_89ab_cdef,
            queue: 3,
            device: 1,
        };
        let mut bytes = data.bytes().to_vec();
        assert_eq!(PrivateData::of(&bytes), Some(data));
        bytes.resize(56, 0);
        assert_eq!(PrivateData::of(&bytes), Some(data));
        assert_eq!(PrivateData::of(&bytes[..9]), None);
    }
}
