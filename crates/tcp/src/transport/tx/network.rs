//! Introducing peers, connecting to them, and what an endpoint asks before it sleeps or leaves.

use oxmpi_wire::{Bytes, Network, Peer};

use super::TcpTx;
use crate::address::{BusinessCard, BusinessCardError, routes};
use crate::transport::peer_cards::{host_of, index};

impl<B: Bytes> Network for TcpTx<B> {
    type CardError = BusinessCardError;

    fn introduce(
        &mut self,
        card: &str,
        peers: &[(Peer, Option<u16>)],
    ) -> Result<(), BusinessCardError> {
        let card: BusinessCard = card.parse()?;
        for &(peer, port) in peers {
            let port = port.unwrap_or(card.port);
            self.set_card(
                peer,
                BusinessCard {
                    port,
                    ..card.clone()
                },
            );
        }
        Ok(())
    }

    fn connect(&mut self, peer: Peer) {
        self.half(peer.0);
    }

    fn is_connected(&self, peer: Peer) -> bool {
        let half = self.peers[index(peer)].as_ref();
        half.is_some_and(|half| half.stream.is_some())
    }

    fn host(&self, peer: Peer) -> &str {
        host_of(&self.cards, peer.0)
    }

    fn routes(&self, peer: Peer) -> String {
        let own = self.cards[self.me as usize].get();
        let own = own.expect("set when the rank joined");
        match self.cards[index(peer)].get() {
            Some(card) => routes(&own.addresses, card),
            None => format!("this rank waits for its connection at {own}"),
        }
    }

    fn has_local_work(&self) -> bool {
        !(self.completions.is_empty() && self.losses.is_empty() && self.to_connect.is_empty())
    }

    fn has_unsent(&self) -> bool {
        let mut peers = self.peers.iter().flatten();
        peers.any(|half| !half.is_done())
    }

    /// Undelivered bytes are dropped if they may be memory that is used again.
    fn abort(mut self) {
        let is_memory = self.zero_copy.was_used();
        for half in self.peers.iter_mut().flatten() {
            if let Some(stream) = half.stream.take() {
                let _ = stream.finish();
                if is_memory {
                    let _ = stream.reset_at_end();
                }
            }
        }
    }
}
