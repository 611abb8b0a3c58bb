//! Connections by rdmacm among those of the network.

use super::VerbsNetworkTx;
use crate::network::connection::{ListenAddress, Notice, Stage};
use crate::network::rdmacm::MadePairs;
use crate::transport::{PairAddress, VerbsRx, VerbsTransportError};
use oxmpi_wire::{Network, Peer};

impl<C: Network> VerbsNetworkTx<C> {
    /// Asks for the connections that `there` offers at `at`, by queue pairs that were offered, or that are made now.
    pub(super) fn connect_by_rdmacm(
        &mut self,
        peer: u32,
        there: &PairAddress,
        at: ListenAddress,
    ) -> Result<(), VerbsTransportError> {
        let Some(rdmacm) = &mut self.rdmacm else {
            return Err(VerbsTransportError::BadRequest);
        };
        self.connector.check_queues(Peer(peer), there)?;
        let mut offered = self.connector.take_offered(peer);
        if offered.is_none() {
            self.connector.offer(Peer(peer))?;
            offered = self.connector.take_offered(peer);
        }
        let offered = offered.expect("an offer to this peer");
        Ok(rdmacm.connect(peer, offered, at)?)
    }

    /// Goes on with the connections by rdmacm. Returns how many queue pairs were made, or not.
    pub(in crate::network) fn advance_rdmacm(&mut self, rx: &mut VerbsRx) -> u32 {
        let mut moved = 0;
        while let Some(rdmacm) = &mut self.rdmacm
            && let Some((peer, made)) = rdmacm.advance(&mut self.connector)
        {
            moved += 1;
            if let Err(why) = made.and_then(|made| self.add_made(peer, made, rx)) {
                self.not_connected(peer, &why);
            }
        }
        moved
    }

    /// Lets messages take the queue pairs of `peer`. A rank that has connected says so.
    fn add_made(
        &mut self,
        peer: u32,
        made: MadePairs,
        rx: &mut VerbsRx,
    ) -> Result<(), VerbsTransportError> {
        let MadePairs {
            offered,
            pairs,
            has_connected,
        } = made;
        (self.connector).add(Peer(peer), offered, pairs, &mut self.verbs, rx)?;
        if has_connected {
            self.set_stage(peer, Stage::Ready);
            self.send(peer, Notice::Ready);
        } else {
            self.set_stage(peer, Stage::Receiving);
        }
        Ok(())
    }

    /// Forgets the queue pairs that were offered to `peer`, and its connections.
    pub(super) fn drop_offer(&mut self, peer: u32) {
        self.connector.forget(Peer(peer));
        if let Some(rdmacm) = &mut self.rdmacm {
            rdmacm.forget(peer);
        }
    }
}
