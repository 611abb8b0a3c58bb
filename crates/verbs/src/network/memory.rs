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
        match self.stage(with) {
            Stage::Control => {
                (self.control.register(bytes, access, with)).map(VerbsNetworkRegion::Control)
            }
            _ => (self.verbs.register(bytes, access, with)).map(VerbsNetworkRegion::Verbs),
        }
    }

    fn expose(&mut self, region: &Self::Region, to: Peer) -> Key {
        match region {
            VerbsNetworkRegion::Verbs(region) => self.verbs.expose(region, to),
            VerbsNetworkRegion::Control(region) => self.control.expose(region, to),
        }
    }

    fn release(&mut self, region: Self::Region, token: Token) {
        match region {
            VerbsNetworkRegion::Verbs(region) => self.verbs.release(region, token),
            VerbsNetworkRegion::Control(region) => self.control.release(region, token),
        }
    }
}

impl<C: Network<Bytes = RawBytes>> VerbsNetworkTx<C> {
    /// Checks that an operation on a device's region can start. False: it has ended, since the peer is lost.
    fn admit(&mut self, peer: Peer, token: Token) -> Result<bool, Busy> {
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
        match region {
            VerbsNetworkRegion::Control(region) => {
                (self.control).get(of, from, Local { region, at, len }, token)
            }
            VerbsNetworkRegion::Verbs(region) if self.admit(of, token)? => {
                (self.verbs).get(of, from, Local { region, at, len }, token)
            }
            VerbsNetworkRegion::Verbs(_) => Ok(()),
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
        match region {
            VerbsNetworkRegion::Control(region) => {
                (self.control).put(to, Local { region, at, len }, into, token)
            }
            VerbsNetworkRegion::Verbs(region) if self.admit(to, token)? => {
                (self.verbs).put(to, Local { region, at, len }, into, token)
            }
            VerbsNetworkRegion::Verbs(_) => Ok(()),
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
        match region {
            VerbsNetworkRegion::Control(region) => {
                (self.control).atomic(to, word, atomic, Local { region, at, len }, token)
            }
            VerbsNetworkRegion::Verbs(region) if self.admit(to, token)? => {
                (self.verbs).atomic(to, word, atomic, Local { region, at, len }, token)
            }
            VerbsNetworkRegion::Verbs(_) => Ok(()),
        }
    }

    fn flush_peer(&mut self, to: Peer, token: Token) -> Result<(), Busy> {
        match self.stage(to) {
            Stage::Control => self.control.flush_peer(to, token),
            _ if self.admit(to, token)? => self.verbs.flush_peer(to, token),
            _ => Ok(()),
        }
    }
}
