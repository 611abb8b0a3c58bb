//! The network of an endpoint: one of those that the core knows, or another one.

use std::any::Any;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use oxmpi_os::RawBytes;
#[cfg(feature = "tcp")]
use oxmpi_tcp::frame::FrameSlot;
#[cfg(feature = "tcp")]
use oxmpi_tcp::{TcpRx, TcpTx};
#[cfg(feature = "verbs")]
use oxmpi_verbs::{VerbsNetworkRegion, VerbsNetworkRx, VerbsNetworkSlot, VerbsNetworkTx};
#[cfg(feature = "tcp")]
use oxmpi_wire::regions::Region;
use oxmpi_wire::{
    Access, Atomic, Busy, Bytes, Fault, Header, Key, Limits, Local, Memory, Network, Peer, Put,
    Remote, Rma, Sleeper, Slot, Token, Tx, WaitObjects,
};

use super::other_network::{OtherNetwork, OtherRx, OtherSlot, OtherTx};

/// Both halves of a network.
pub(crate) struct NetworkEnds {
    pub(crate) tx: NetworkTx,
    pub(crate) rx: NetworkRx,
}

#[cfg(feature = "tcp")]
impl NetworkEnds {
    pub(crate) fn tcp(tx: TcpTx, rx: TcpRx) -> Self {
        Self {
            tx: NetworkTx::Tcp(tx.into()),
            rx: NetworkRx::Tcp(rx.into()),
        }
    }
}

#[cfg(feature = "verbs")]
impl NetworkEnds {
    pub(crate) fn verbs(tx: VerbsTx, rx: VerbsRx) -> Self {
        Self {
            tx: NetworkTx::Verbs(tx.into()),
            rx: NetworkRx::Verbs(rx.into()),
        }
    }
}

/// Verbs, whose control network is TCP.
#[cfg(feature = "verbs")]
pub(crate) type VerbsTx = VerbsNetworkTx<TcpTx>;

/// The receiving half of [`VerbsTx`].
#[cfg(feature = "verbs")]
pub(crate) type VerbsRx = VerbsNetworkRx<TcpTx, TcpRx>;

impl From<OtherNetwork> for NetworkEnds {
    fn from(OtherNetwork { tx, rx }: OtherNetwork) -> Self {
        Self {
            tx: NetworkTx::Other(tx),
            rx: NetworkRx::Other(rx),
        }
    }
}

/// The sending half of a network.
pub(crate) enum NetworkTx {
    #[cfg(feature = "tcp")]
    Tcp(Box<TcpTx>),
    #[cfg(feature = "verbs")]
    Verbs(Box<VerbsTx>),
    Other(Box<dyn OtherTx>),
}

/// The receiving half of a network.
pub(crate) enum NetworkRx {
    #[cfg(feature = "tcp")]
    Tcp(Box<TcpRx>),
    #[cfg(feature = "verbs")]
    Verbs(Box<VerbsRx>),
    Other(Box<dyn OtherRx>),
}

/// A frame under construction.
pub(crate) enum NetworkSlot<'a> {
    #[cfg(feature = "tcp")]
    Tcp(FrameSlot<'a>),
    #[cfg(feature = "verbs")]
    Verbs(VerbsNetworkSlot<'a, FrameSlot<'a>>),
    Other(Box<dyn OtherSlot + 'a>),
}

/// Registered bytes.
pub(crate) enum NetworkRegion {
    #[cfg(feature = "tcp")]
    Tcp(Region),
    #[cfg(feature = "verbs")]
    Verbs(VerbsNetworkRegion<Region>),
    Other(Box<dyn Any + Send>),
}

/// Evaluates an expression with the value of whichever network `self` belongs to.
macro_rules! with_network {
    ($network:expr, $of_one:ident => $call:expr) => {
        match $network {
            #[cfg(feature = "tcp")]
            Self::Tcp($of_one) => $call,
            #[cfg(feature = "verbs")]
            Self::Verbs($of_one) => $call,
            Self::Other($of_one) => $call,
        }
    };
}

impl Put for NetworkSlot<'_> {
    #[inline]
    fn room(&self) -> usize {
        with_network!(self, slot => slot.room())
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        with_network!(self, slot => slot.put(bytes));
    }

    #[inline(always)]
    fn put_exact<const N: usize>(&mut self, bytes: [u8; N]) {
        match self {
            #[cfg(feature = "tcp")]
            Self::Tcp(slot) => slot.put_exact(bytes),
            #[cfg(feature = "verbs")]
            Self::Verbs(slot) => slot.put_exact(bytes),
            Self::Other(slot) => slot.put(&bytes),
        }
    }
}

impl Slot for NetworkSlot<'_> {
    #[inline]
    fn send(self) {
        with_network!(self, slot => slot.send());
    }
}

impl Tx for NetworkTx {
    type Slot<'a> = NetworkSlot<'a>;

    fn limits(&self, to: Peer) -> &Limits {
        with_network!(self, tx => tx.limits(to))
    }

    #[inline]
    fn short<B: Bytes>(&mut self, to: Peer, head: &Header, body: &B) -> Result<(), Busy> {
        match self {
            #[cfg(feature = "tcp")]
            Self::Tcp(tcp) => tcp.short(to, head, body),
            #[cfg(feature = "verbs")]
            Self::Verbs(verbs) => verbs.short(to, head, body),
            Self::Other(_) => self.whole(to, head, body),
        }
    }

    #[inline]
    fn whole<B: Bytes>(&mut self, to: Peer, head: &Header, body: &B) -> Result<(), Busy> {
        match self {
            #[cfg(feature = "tcp")]
            Self::Tcp(tcp) => tcp.whole(to, head, body),
            #[cfg(feature = "verbs")]
            Self::Verbs(verbs) => verbs.whole(to, head, body),
            Self::Other(other) => {
                let mut slot = NetworkSlot::Other(other.frame(to, head, head.len as usize)?);
                body.drain(0, head.len as usize, &mut slot);
                slot.send();
                Ok(())
            }
        }
    }

    #[inline]
    fn frame(&mut self, to: Peer, head: &Header, len: usize) -> Result<NetworkSlot<'_>, Busy> {
        match self {
            #[cfg(feature = "tcp")]
            Self::Tcp(tcp) => tcp.frame(to, head, len).map(NetworkSlot::Tcp),
            #[cfg(feature = "verbs")]
            Self::Verbs(verbs) => verbs.frame(to, head, len).map(NetworkSlot::Verbs),
            Self::Other(other) => other.frame(to, head, len).map(NetworkSlot::Other),
        }
    }

    #[inline]
    fn flush(&mut self) {
        with_network!(self, tx => tx.flush());
    }

    fn give_up(&mut self, peer: Peer, why: Fault) {
        with_network!(self, tx => tx.give_up(peer, why));
    }
}

impl Network for NetworkTx {
    type CardError = String;

    fn introduce(&mut self, card: &str, peers: &[(Peer, Option<u16>)]) -> Result<(), String> {
        with_network!(self, tx => tx.introduce(card, peers).map_err(|why| why.to_string()))
    }

    fn connect(&mut self, peer: Peer) {
        with_network!(self, tx => tx.connect(peer));
    }

    fn watch(&mut self, peer: Peer) {
        match self {
            #[cfg(feature = "tcp")]
            Self::Tcp(tcp) => tcp.watch(peer),
            #[cfg(feature = "verbs")]
            Self::Verbs(verbs) => verbs.watch(peer),
            Self::Other(other) => other.connect(peer),
        }
    }

    fn is_connected(&self, peer: Peer) -> bool {
        with_network!(self, tx => tx.is_connected(peer))
    }

    fn host(&self, peer: Peer) -> &str {
        with_network!(self, tx => tx.host(peer))
    }

    fn routes(&self, peer: Peer) -> String {
        with_network!(self, tx => tx.routes(peer))
    }

    fn has_local_work(&self) -> bool {
        with_network!(self, tx => tx.has_local_work())
    }

    fn has_unsent(&self) -> bool {
        with_network!(self, tx => tx.has_unsent())
    }

    fn abort(self) {
        with_network!(self, tx => tx.abort());
    }
}

/// Why a region and a network belong together.
#[cfg(feature = "tcp")]
const ONE_NETWORK: &str = "an endpoint has one network, which made its regions";

impl Memory for NetworkTx {
    type Bytes = RawBytes;
    type Region = NetworkRegion;

    fn register(
        &mut self,
        bytes: RawBytes,
        access: Access,
        with: Peer,
    ) -> Result<NetworkRegion, Fault> {
        match self {
            #[cfg(feature = "tcp")]
            Self::Tcp(tcp) => tcp.register(bytes, access, with).map(NetworkRegion::Tcp),
            #[cfg(feature = "verbs")]
            Self::Verbs(verbs) => (verbs.register(bytes, access, with)).map(NetworkRegion::Verbs),
            Self::Other(other) => (other.register(bytes, access, with)).map(NetworkRegion::Other),
        }
    }

    fn expose(&mut self, region: &NetworkRegion, to: Peer) -> Key {
        match (self, region) {
            #[cfg(feature = "tcp")]
            (Self::Tcp(tcp), NetworkRegion::Tcp(region)) => tcp.expose(region, to),
            #[cfg(feature = "verbs")]
            (Self::Verbs(verbs), NetworkRegion::Verbs(region)) => verbs.expose(region, to),
            (Self::Other(other), NetworkRegion::Other(region)) => other.expose(region, to),
            #[cfg(feature = "tcp")]
            _ => unreachable!("{ONE_NETWORK}"),
        }
    }

    fn release(&mut self, region: NetworkRegion, token: Token) {
        match (self, region) {
            #[cfg(feature = "tcp")]
            (Self::Tcp(tcp), NetworkRegion::Tcp(region)) => tcp.release(region, token),
            #[cfg(feature = "verbs")]
            (Self::Verbs(verbs), NetworkRegion::Verbs(region)) => verbs.release(region, token),
            (Self::Other(other), NetworkRegion::Other(region)) => other.release(region, token),
            #[cfg(feature = "tcp")]
            _ => unreachable!("{ONE_NETWORK}"),
        }
    }
}

impl Rma for NetworkTx {
    fn get(
        &mut self,
        of: Peer,
        from: Remote<'_>,
        to: Local<'_, NetworkRegion>,
        token: Token,
    ) -> Result<(), Busy> {
        let Local { region, at, len } = to;
        match (self, region) {
            #[cfg(feature = "tcp")]
            (Self::Tcp(tcp), NetworkRegion::Tcp(region)) => {
                tcp.get(of, from, Local { region, at, len }, token)
            }
            #[cfg(feature = "verbs")]
            (Self::Verbs(verbs), NetworkRegion::Verbs(region)) => {
                verbs.get(of, from, Local { region, at, len }, token)
            }
            (Self::Other(other), NetworkRegion::Other(region)) => {
                other.get(of, from, Local { region, at, len }, token)
            }
            #[cfg(feature = "tcp")]
            _ => unreachable!("{ONE_NETWORK}"),
        }
    }

    fn put(
        &mut self,
        to: Peer,
        from: Local<'_, NetworkRegion>,
        into: Remote<'_>,
        token: Token,
    ) -> Result<(), Busy> {
        let Local { region, at, len } = from;
        match (self, region) {
            #[cfg(feature = "tcp")]
            (Self::Tcp(tcp), NetworkRegion::Tcp(region)) => {
                tcp.put(to, Local { region, at, len }, into, token)
            }
            #[cfg(feature = "verbs")]
            (Self::Verbs(verbs), NetworkRegion::Verbs(region)) => {
                verbs.put(to, Local { region, at, len }, into, token)
            }
            (Self::Other(other), NetworkRegion::Other(region)) => {
                other.put(to, Local { region, at, len }, into, token)
            }
            #[cfg(feature = "tcp")]
            _ => unreachable!("{ONE_NETWORK}"),
        }
    }

    fn atomic(
        &mut self,
        to: Peer,
        word: Remote<'_>,
        atomic: Atomic,
        old: Local<'_, NetworkRegion>,
        token: Token,
    ) -> Result<(), Busy> {
        let Local { region, at, len } = old;
        match (self, region) {
            #[cfg(feature = "tcp")]
            (Self::Tcp(tcp), NetworkRegion::Tcp(region)) => {
                tcp.atomic(to, word, atomic, Local { region, at, len }, token)
            }
            #[cfg(feature = "verbs")]
            (Self::Verbs(verbs), NetworkRegion::Verbs(region)) => {
                verbs.atomic(to, word, atomic, Local { region, at, len }, token)
            }
            (Self::Other(other), NetworkRegion::Other(region)) => {
                other.atomic(to, word, atomic, Local { region, at, len }, token)
            }
            #[cfg(feature = "tcp")]
            _ => unreachable!("{ONE_NETWORK}"),
        }
    }

    fn flush_peer(&mut self, to: Peer, token: Token) -> Result<(), Busy> {
        with_network!(self, tx => tx.flush_peer(to, token))
    }
}

impl Sleeper for NetworkRx {
    fn arm(&mut self) -> bool {
        with_network!(self, rx => rx.arm())
    }
}

impl WaitObjects for NetworkRx {
    type WaitObject<'a> = BorrowedFd<'a>;

    fn watch<'a>(&'a self, watch: &mut dyn FnMut(BorrowedFd<'a>)) {
        with_network!(self, rx => rx.watch(watch));
    }

    fn longest_sleep(&self) -> Duration {
        with_network!(self, rx => rx.longest_sleep())
    }
}
