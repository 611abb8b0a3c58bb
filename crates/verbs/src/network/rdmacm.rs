//! Connections by rdmacm: the queue pairs of two ranks are connected one by one, each by a connection of its own.
//!
//! An offer over the control network says where its sender listens, and has a key that only its receiver learns, so
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

/// A listener on an address of a port, and the connections of a rank by rdmacm.
#[derive(Debug)]
pub(super) struct CmConnections {
    channel: CmChannel,
    listener: CmIdentifier,
    address: SocketAddr,
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
}

impl PrivateData {
    const LEN: usize = 9;

    fn bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [self.queue; Self::LEN];
        bytes[..8].copy_from_slice(&self.key.to_le_bytes());
        bytes
    }

    /// `None` if another program has asked.
    fn of(bytes: &[u8]) -> Option<Self> {
        let (key, rest) = bytes.split_first_chunk()?;
        let (key, queue) = (u64::from_le_bytes(*key), *rest.first()?);
        Some(Self { key, queue })
    }
}

impl CmConnections {
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
        timeout: Duration,
    ) -> Result<Self, NoRdmaPort> {
        for &address in addresses {
            let mut listener = channel.create_identifier()?;
            if let Err(why) = listener.bind(SocketAddr::new(address, 0)) {
                tracing::debug!(%why, "no device has the address");
                continue;
            }
            let of = listener.device();
            let is_wanted = of.is_some_and(|of| (&*of.0, of.1) == (device, port));
            if !is_wanted || !is_taken(listener.source_gid()) {
                continue;
            }
            listener.listen(BACKLOG)?;
            let address = SocketAddr::new(address, listener.port());
            return Ok(Self {
                channel: channel.clone(),
                listener,
                address,
                timeout,
                keys: BTreeMap::new(),
                open: BTreeMap::new(),
                made: BTreeMap::new(),
            });
        }
        Err(NoRdmaPort::new(
            "rdmacm needs an IP address of the port (on InfiniBand that of IPoIB), and there is none that the settings allow",
        ))
    }

    /// The GID of the port that it listens at.
    pub(super) fn gid(&self) -> Gid {
        self.listener.source_gid()
    }

    pub(super) const fn channel(&self) -> &CmChannel {
        &self.channel
    }

    /// The key of this rank's offer to `peer`.
    pub(super) fn key(&self, peer: u32) -> Option<u64> {
        self.keys.get(&peer).copied()
    }

    /// Where `peer` connects to the queue pairs that are offered to it.
    pub(super) fn offer(&mut self, peer: u32) -> ListenAddress {
        let key = RandomState::new().hash_one(peer);
        self.keys.insert(peer, key);
        ListenAddress {
            address: self.address,
            key,
        }
    }

    /// Begins to connect queue pairs, which were offered to `peer`, with those of its offer.
    ///
    /// # Errors
    /// When a call fails.
    pub(super) fn connect(
        &mut self,
        peer: u32,
        offered: Offered,
        to: ListenAddress,
    ) -> Result<(), VerbsError> {
        self.keys.remove(&peer);
        let mut making = InMaking::new(offered, Some(to.key));
        for queue in &mut making.queues {
            if let QueueInMaking::Awaited(pair) = std::mem::replace(queue, QueueInMaking::Gone) {
                let mut identifier = self.channel.create_identifier()?;
                let from = SocketAddr::new(self.address.ip(), 0);
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
            Some((*found?.0, data.queue))
        });
        let Some((peer, queue)) = invited else {
            tracing::debug!("a request to connect that answers no offer is refused");
            let _ = identifier.reject();
            return None;
        };
        let making = match self.open.entry(peer) {
            Entry::Occupied(making) => making.into_mut(),
            Entry::Vacant(entry) => {
                entry.insert(InMaking::new(connector.take_only_offered(peer)?, None))
            }
        };
        let accepted = making.accept(queue, identifier, connector);
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
            pairs,
            has_connected: making.to.is_some(),
        })
    }
}

impl InMaking {
    fn new(mut offered: Offered, to: Option<u64>) -> Self {
        let pairs = offered.take_pairs();
        Self {
            to,
            queues: pairs.into_iter().map(QueueInMaking::Awaited).collect(),
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
        let queue = number as u8;
        match event {
            CmEventKind::AddressResolved => identifier.resolve_route(timeout)?,
            CmEventKind::RouteResolved => {
                let data = PrivateData { key, queue }.bytes();
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
    use super::PrivateData;

    #[test]
    fn private_data_reads_back_with_zeros_behind_it() {
        let data = PrivateData {
            key: 0x0123_4567_89ab_cdef,
            queue: 3,
        };
        let mut bytes = data.bytes().to_vec();
        assert_eq!(PrivateData::of(&bytes), Some(data));
        bytes.resize(56, 0);
        assert_eq!(PrivateData::of(&bytes), Some(data));
        assert_eq!(PrivateData::of(&bytes[..8]), None);
    }
}
