//! Registered memory and access to that of peers, by the network that carries a peer's messages.

use super::connection::Stage;
use super::tx::VerbsNetworkTx;
use oxmpi_os::RawBytes;
use oxmpi_wire::regions::Region;
use oxmpi_wire::{
    Access, Atomic, Busy, Fault, Key, Local, Memory, Network, Peer, Remote, Rma, Token,
};

/// Registered bytes.
#[derive(Debug)]
pub enum VerbsNetworkRegion<R> {
    /// With the device.
    Verbs(Region),
    /// With the control network.
    Control(R),
    /// With both: which one carries the messages of the peer is not known yet.
    Both(Region, R),
}

/// The registration for the network of a peer.
enum Half<'a, R> {
    Verbs(&'a Region),
    Control(&'a R),
}

impl<R> VerbsNetworkRegion<R> {
    /// The registration for a peer whose messages take the control network, or the device. `None`: it has not this one.
    const fn half(&self, by_control: bool) -> Option<Half<'_, R>> {
        match (self, by_control) {
            (Self::Verbs(region) | Self::Both(region, _), false) => Some(Half::Verbs(region)),
            (Self::Control(region) | Self::Both(_, region), true) => Some(Half::Control(region)),
            _ => None,
        }
    }
}

impl<C: Network<Bytes = RawBytes>> Memory for VerbsNetworkTx<C> {
    type Bytes = RawBytes;
    type Region = VerbsNetworkRegion<C::Region>;

    fn register(
        &mut self,
        bytes: RawBytes,
        access: Access,
        with: Peer,
    ) -> Result<Self::Region, Fault> {
        if self.stage(with) == Stage::Control {
            let region = self.control.register(bytes, access, with);
            return region.map(VerbsNetworkRegion::Control);
        }
        let region = self.verbs.register(bytes, access, with)?;
        let is_settled = matches!(self.stage(with), Stage::Ready | Stage::Lost);
        if is_settled || !self.may_leave(with.0) {
            return Ok(VerbsNetworkRegion::Verbs(region));
        }
        Ok(match self.control.register(bytes, access, with) {
            Ok(other) => VerbsNetworkRegion::Both(region, other),
            Err(_) => VerbsNetworkRegion::Verbs(region),
        })
    }

    /// To a peer of the network that the region is not registered with, a key of nothing.
    fn expose(&mut self, region: &Self::Region, to: Peer) -> Key {
        match region.half(self.stage(to) == Stage::Control) {
            Some(Half::Verbs(region)) => self.verbs.expose(region, to),
            Some(Half::Control(region)) => self.control.expose(region, to),
            None => Key([0; Key::LEN]),
        }
    }

    fn release(&mut self, region: Self::Region, token: Token) {
        match region {
            VerbsNetworkRegion::Verbs(region) => self.verbs.release(region, token),
            VerbsNetworkRegion::Control(region) => self.control.release(region, token),
            VerbsNetworkRegion::Both(region, other) => {
                self.half_released.push(token);
                self.verbs.release(region, token);
                self.control.release(other, token);
            }
        }
    }
}

impl<C: Network<Bytes = RawBytes>> VerbsNetworkTx<C> {
    /// The registration by which an operation with `peer` can start. `None`: it has ended, since the peer is lost, or
    /// the region is not for the peer's network.
    fn admit<'a>(
        &mut self,
        peer: Peer,
        region: &'a VerbsNetworkRegion<C::Region>,
        token: Token,
    ) -> Result<Option<Half<'a, C::Region>>, Busy> {
        match region.half(self.stage(peer) == Stage::Control) {
            Some(Half::Verbs(region)) => {
                let is_admitted = self.admit_by_verbs(peer, token)?;
                Ok(is_admitted.then_some(Half::Verbs(region)))
            }
            None => {
                let rule = "a region is for the network of the peer that it was registered for";
                let end = (token, Err(Fault::Invalid(rule)));
                self.completions.push_back(end);
                Ok(None)
            }
            by_control => Ok(by_control),
        }
    }

    /// Checks that an operation by the device can start. False: it has ended, since the peer is lost.
    fn admit_by_verbs(&mut self, peer: Peer, token: Token) -> Result<bool, Busy> {
        match self.stage(peer) {
            Stage::Ready => Ok(true),
            Stage::Lost => {
                let why = self.lost.get(&peer.0).copied().unwrap_or(Fault::PeerDead);
                self.completions.push_back((token, Err(why)));
                Ok(false)
            }
            _ => Err(self.refuse(peer)),
        }
    }

    /// Whether this is the end of one registration of a released region that has another one.
    pub(super) fn is_half_released(&mut self, token: Token) -> bool {
        let at = self.half_released.iter().position(|half| *half == token);
        at.map(|at| self.half_released.swap_remove(at)).is_some()
    }
}

impl<C: Network<Bytes = RawBytes>> Rma for VerbsNetworkTx<C> {
    fn get(
        &mut self,
        of: Peer,
        from: Remote<'_>,
        to: Local<'_, Self::Region>,
        token: Token,
    ) -> Result<(), Busy> {
        let Local { region, at, len } = to;
        match self.admit(of, region, token)? {
            Some(Half::Verbs(region)) => {
                (self.verbs).get(of, from, Local { region, at, len }, token)
            }
            Some(Half::Control(region)) => {
                (self.control).get(of, from, Local { region, at, len }, token)
            }
            None => Ok(()),
        }
    }

    fn put(
        &mut self,
        to: Peer,
        from: Local<'_, Self::Region>,
        into: Remote<'_>,
        token: Token,
    ) -> Result<(), Busy> {
        let Local { region, at, len } = from;
        match self.admit(to, region, token)? {
            Some(Half::Verbs(region)) => {
                (self.verbs).put(to, Local { region, at, len }, into, token)
            }
            Some(Half::Control(region)) => {
                (self.control).put(to, Local { region, at, len }, into, token)
            }
            None => Ok(()),
        }
    }

    fn atomic(
        &mut self,
        to: Peer,
        word: Remote<'_>,
        atomic: Atomic,
        old: Local<'_, Self::Region>,
        token: Token,
    ) -> Result<(), Busy> {
        let Local { region, at, len } = old;
        match self.admit(to, region, token)? {
            Some(Half::Verbs(region)) => {
                (self.verbs).atomic(to, word, atomic, Local { region, at, len }, token)
            }
            Some(Half::Control(region)) => {
                (self.control).atomic(to, word, atomic, Local { region, at, len }, token)
            }
            None => Ok(()),
        }
    }

    fn flush_peer(&mut self, to: Peer, token: Token) -> Result<(), Busy> {
        match self.stage(to) {
            Stage::Control => self.control.flush_peer(to, token),
            _ if self.admit_by_verbs(to, token)? => self.verbs.flush_peer(to, token),
            _ => Ok(()),
        }
    }
}
