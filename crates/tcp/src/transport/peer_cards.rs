//! [`PeerCards`]: the business cards of all peers, shared by both halves of the transport.

use std::sync::{Arc, OnceLock};

use oxmpi_wire::Peer;

use crate::address::BusinessCard;

/// The business card of each rank; empty until [`TcpTx::set_card`](super::TcpTx::set_card), but for this rank's own.
pub(super) type PeerCards = Arc<[OnceLock<BusinessCard>]>;

/// The name of the host of `peer`, for messages.
pub(super) fn host_of(cards: &PeerCards, peer: u32) -> &str {
    let card = cards[peer as usize].get();
    card.map_or("an unknown host", |card| &card.host)
}

/// A peer as an index.
pub(super) const fn index(peer: Peer) -> usize {
    peer.0 as usize
}
