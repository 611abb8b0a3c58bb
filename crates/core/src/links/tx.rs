//! The sending half of an endpoint's transports.

use oxmpi_os::RawBytes;
use oxmpi_shm::{ShmSlot, ShmTx};
#[cfg(feature = "tcp")]
use oxmpi_tcp::TcpTx;
use oxmpi_wire::engine::Source;
use oxmpi_wire::regions::Region;
use oxmpi_wire::{
    Access, AsTx, Atomic, Busy, Bytes, Envelope, Fault, Header, Key, Limits, Local, Memory,
    Network, Peer, Put, Remote, Rma, Slot, Token, Tx,
};

use super::LinkRanks;
#[cfg(feature = "verbs")]
use super::network::VerbsTx;
use super::network::{NetworkRegion, NetworkSlot, NetworkTx};
use super::other_network::OtherTx;

/// The sending halves of an endpoint's transports.
pub(crate) struct LinksTx {
    /// Shared memory, to the first links.
    pub(crate) node: ShmTx,
    /// Links of the node.
    node_links: u32,
    /// To the ranks of other nodes; none when all are on this node or the endpoint has left the others.
    network: Option<(NetworkTx, LinkRanks)>,
}

/// A frame under construction.
pub(crate) enum LinkSlot<'a> {
    Node(ShmSlot<'a, RawBytes>),
    Network(NetworkSlot<'a>),
}

/// Registered bytes.
pub(crate) enum LinkRegion {
    Node(Region),
    Network(NetworkRegion),
}

impl LinksTx {
    /// Sends to the `node_links` ranks of this node only.
    pub(crate) const fn node(node: ShmTx, node_links: u32) -> Self {
        Self {
            node,
            node_links,
            network: None,
        }
    }

    /// Also sends to the ranks of other nodes.
    pub(crate) fn with_network(mut self, network: NetworkTx, ranks: LinkRanks) -> Self {
        self.network = Some((network, ranks));
        self
    }

    /// Whether `peer` is on another node.
    #[inline(always)]
    pub(super) const fn is_remote(&self, peer: Peer) -> bool {
        peer.0 >= self.node_links
    }

    /// Connects to `peer`, for which this rank waits: the death of a peer shows on its connection only.
    pub(super) fn watch(&mut self, peer: Peer) {
        if let Some((network, peer)) = self.network_peer(peer) {
            network.watch(peer);
        }
    }

    /// Connects to all ranks of other nodes, if they are few, as this rank has waited long: the death of a peer
    /// shows on its connection only.
    pub(crate) fn watch_all(&mut self) {
        /// The most ranks of other nodes that are watched so.
        const FEW: u32 = 64;
        if let Some((network, ranks)) = &mut self.network
            && ranks.links().len() as u32 - self.node_links <= FEW
        {
            let remote = self.node_links..ranks.links().len() as u32;
            remote.for_each(|link| network.watch(Peer(ranks.rank(link))));
        }
    }

    /// Starts to connect to all ranks of other nodes; later polls complete it.
    pub(crate) fn connect(&mut self) {
        if let Some((network, ranks)) = &mut self.network {
            let remote = self.node_links..ranks.links().len() as u32;
            remote.for_each(|link| network.connect(Peer(ranks.rank(link))));
        }
    }

    /// Whether `peer` is connected; ranks of this node always are.
    pub(crate) fn is_connected(&self, peer: Peer) -> bool {
        match &self.network {
            Some((network, ranks)) if self.is_remote(peer) => {
                network.is_connected(Peer(ranks.rank(peer.0)))
            }
            _ => true,
        }
    }

    /// Flushes the replies to a receive that was posted, and connects to its source.
    #[inline]
    pub(crate) fn await_from(&mut self, source: Source) {
        if let Some((network, ranks)) = &mut self.network {
            if let Source::Peer(peer) = source
                && peer.0 >= self.node_links
            {
                network.watch(Peer(ranks.rank(peer.0)));
            }
            network.flush();
        }
    }

    /// The host of `peer`, if that is on another node.
    pub(crate) fn host(&self, peer: Peer) -> Option<&str> {
        match &self.network {
            Some((network, ranks)) if self.is_remote(peer) => {
                Some(network.host(Peer(ranks.rank(peer.0))))
            }
            _ => None,
        }
    }

    /// Whether the network has something to do that no arrival announces.
    pub(crate) fn has_local_work(&self) -> bool {
        self.network
            .as_ref()
            .is_some_and(|(network, _)| network.has_local_work())
    }

    /// Whether something that was sent has not left this process.
    pub(crate) fn has_unsent(&self) -> bool {
        (self.network.as_ref()).is_some_and(|(network, _)| network.has_unsent())
    }

    /// Leaves in order, after all that was sent has gone out.
    pub(crate) fn depart(&mut self) {
        self.node.depart();
        self.network = None;
    }

    /// Drops the network without closing it: it belongs to the process that this one was forked from.
    pub(crate) fn abandon(&mut self) {
        std::mem::forget(self.network.take());
    }

    /// Leaves at once, whatever was sent.
    pub(crate) fn break_off(&mut self) {
        self.node.depart();
        if let Some((network, _)) = self.network.take() {
            network.abort();
        }
    }

    /// The network, and the endpoint rank of `peer`, which is on another node.
    fn network_peer(&mut self, peer: Peer) -> Option<(&mut NetworkTx, Peer)> {
        let (network, ranks) = self.network.as_mut()?;
        Some((network, Peer(ranks.rank(peer.0))))
    }
}

impl AsTx<ShmTx> for LinksTx {
    #[inline(always)]
    fn as_tx(&mut self) -> &mut ShmTx {
        &mut self.node
    }
}

#[cfg(feature = "tcp")]
impl AsTx<TcpTx> for LinksTx {
    fn as_tx(&mut self) -> &mut TcpTx {
        match &mut self.network {
            Some((NetworkTx::Tcp(tcp), _)) => tcp,
            #[cfg(feature = "verbs")]
            Some((NetworkTx::Verbs(verbs), _)) => (**verbs).as_tx(),
            _ => unreachable!("{POLLED}"),
        }
    }
}

#[cfg(feature = "verbs")]
impl AsTx<VerbsTx> for LinksTx {
    #[inline]
    fn as_tx(&mut self) -> &mut VerbsTx {
        match &mut self.network {
            Some((NetworkTx::Verbs(verbs), _)) => verbs,
            _ => unreachable!("{POLLED}"),
        }
    }
}

/// The transport that verbs receives on.
#[cfg(feature = "verbs")]
impl AsTx<oxmpi_verbs::VerbsTx> for LinksTx {
    #[inline]
    fn as_tx(&mut self) -> &mut oxmpi_verbs::VerbsTx {
        let verbs: &mut VerbsTx = self.as_tx();
        verbs.as_tx()
    }
}

impl LinksTx {
    /// The network, which the core does not know.
    pub(super) fn other_network(&mut self) -> &mut dyn OtherTx {
        match &mut self.network {
            Some((NetworkTx::Other(other), _)) => &mut **other,
            _ => unreachable!("{POLLED}"),
        }
    }
}

/// Why an endpoint has this network.
const POLLED: &str = "only an endpoint with this network polls it";

impl Tx for LinksTx {
    type Slot<'a> = LinkSlot<'a>;

    fn limits(&self, to: Peer) -> &Limits {
        match &self.network {
            Some((network, ranks)) if self.is_remote(to) => network.limits(Peer(ranks.rank(to.0))),
            _ => self.node.limits(to),
        }
    }

    #[inline]
    fn short<C: Bytes>(&mut self, to: Peer, head: &Header, body: &C) -> Result<(), Busy> {
        if self.is_remote(to) {
            let (network, to) = self.network_peer(to).ok_or(Busy)?;
            return network.short(to, head, body);
        }
        self.node.short(to, head, body)
    }

    #[inline]
    fn whole<C: Bytes>(&mut self, to: Peer, head: &Header, body: &C) -> Result<(), Busy> {
        if self.is_remote(to) {
            let (network, to) = self.network_peer(to).ok_or(Busy)?;
            return network.whole(to, head, body);
        }
        self.node.whole(to, head, body)
    }

    /// Shared memory refuses a link to another node.
    #[inline(always)]
    fn put_short<C: Bytes>(&mut self, to: Peer, head: &Header, body: &C) -> bool {
        self.node.put_short(to, head, body)
    }

    #[inline(always)]
    fn put_word(&mut self, to: Peer, envelope: Envelope, word: u64) -> bool {
        self.node.put_word(to, envelope, word)
    }

    #[inline]
    fn allow_short(&mut self, to: Peer, below: u32) {
        if !self.is_remote(to) {
            self.node.allow_short(to, below);
        }
    }

    #[inline]
    fn frame(&mut self, to: Peer, head: &Header, len: usize) -> Result<LinkSlot<'_>, Busy> {
        if self.is_remote(to) {
            let (network, to) = self.network_peer(to).ok_or(Busy)?;
            return network.frame(to, head, len).map(LinkSlot::Network);
        }
        self.node.frame(to, head, len).map(LinkSlot::Node)
    }

    /// # Cost
    /// One compare where all ranks are on one node.
    #[inline]
    fn flush(&mut self) {
        if let Some((network, _)) = &mut self.network {
            network.flush();
        }
    }

    fn give_up(&mut self, peer: Peer, why: Fault) {
        if !self.is_remote(peer) {
            self.node.give_up(peer, why);
        } else if let Some((network, peer)) = self.network_peer(peer) {
            network.give_up(peer, why);
        }
    }
}

/// Calls a method of the slot, whichever transport it belongs to.
macro_rules! slot {
    ($self:ident, $call:ident($($argument:expr)?)) => {
        match $self {
            Self::Node(slot) => slot.$call($($argument)?),
            Self::Network(slot) => slot.$call($($argument)?),
        }
    };
}

impl Put for LinkSlot<'_> {
    #[inline]
    fn room(&self) -> usize {
        slot!(self, room())
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        slot!(self, put(bytes));
    }

    #[inline(always)]
    fn put_exact<const N: usize>(&mut self, bytes: [u8; N]) {
        slot!(self, put_exact(bytes));
    }
}

impl Slot for LinkSlot<'_> {
    #[inline]
    fn send(self) {
        slot!(self, send());
    }
}

/// The fault of an endpoint that has left its network.
const LEFT: Fault = Fault::Unreachable("this rank has left the job");

impl Memory for LinksTx {
    type Bytes = RawBytes;
    type Region = LinkRegion;

    fn register(
        &mut self,
        bytes: RawBytes,
        access: Access,
        with: Peer,
    ) -> Result<LinkRegion, Fault> {
        if self.is_remote(with) {
            let (network, with) = self.network_peer(with).ok_or(LEFT)?;
            return network
                .register(bytes, access, with)
                .map(LinkRegion::Network);
        }
        (self.node.register(bytes, access, with)).map(LinkRegion::Node)
    }

    fn expose(&mut self, region: &LinkRegion, to: Peer) -> Key {
        match region {
            LinkRegion::Node(region) => self.node.expose(region, to),
            LinkRegion::Network(region) => match self.network_peer(to) {
                Some((network, to)) => network.expose(region, to),
                None => Key([0; Key::LEN]),
            },
        }
    }

    fn release(&mut self, region: LinkRegion, token: Token) {
        match (region, &mut self.network) {
            (LinkRegion::Node(region), _) => self.node.release(region, token),
            (LinkRegion::Network(region), Some((network, _))) => network.release(region, token),
            // The network was closed, and all that was registered with it released.
            (LinkRegion::Network(_), None) => {}
        }
    }
}

impl Rma for LinksTx {
    fn get(
        &mut self,
        of: Peer,
        from: Remote<'_>,
        to: Local<'_, LinkRegion>,
        token: Token,
    ) -> Result<(), Busy> {
        let Local { at, len, .. } = to;
        match to.region {
            LinkRegion::Node(region) => self.node.get(of, from, Local { region, at, len }, token),
            LinkRegion::Network(region) => {
                let (network, of) = self.network_peer(of).ok_or(Busy)?;
                network.get(of, from, Local { region, at, len }, token)
            }
        }
    }

    fn put(
        &mut self,
        to: Peer,
        from: Local<'_, LinkRegion>,
        into: Remote<'_>,
        token: Token,
    ) -> Result<(), Busy> {
        let Local { at, len, .. } = from;
        match from.region {
            LinkRegion::Node(region) => self.node.put(to, Local { region, at, len }, into, token),
            LinkRegion::Network(region) => {
                let (network, to) = self.network_peer(to).ok_or(Busy)?;
                network.put(to, Local { region, at, len }, into, token)
            }
        }
    }

    fn atomic(
        &mut self,
        to: Peer,
        word: Remote<'_>,
        atomic: Atomic,
        old: Local<'_, LinkRegion>,
        token: Token,
    ) -> Result<(), Busy> {
        let Local { at, len, .. } = old;
        match old.region {
            LinkRegion::Node(region) => {
                (self.node).atomic(to, word, atomic, Local { region, at, len }, token)
            }
            LinkRegion::Network(region) => {
                let (network, to) = self.network_peer(to).ok_or(Busy)?;
                network.atomic(to, word, atomic, Local { region, at, len }, token)
            }
        }
    }

    fn flush_peer(&mut self, to: Peer, token: Token) -> Result<(), Busy> {
        if !self.is_remote(to) {
            return self.node.flush_peer(to, token);
        }
        let (network, to) = self.network_peer(to).ok_or(Busy)?;
        network.flush_peer(to, token)
    }
}
