//! The messages between one rank and all others, inside its node and on other nodes.

use super::{Model, Reach};
use crate::placement::Order;

/// The number of a rank's messages inside its node and to other nodes.
#[derive(Clone, Copy)]
pub(super) struct PeerCounts {
    pub(super) near: u64,
    pub(super) far: u64,
}

impl PeerCounts {
    /// One message with every other rank, for a rank of a full node.
    pub(super) fn of(model: &Model) -> Self {
        PeerCounts::on(model, model.place.per_node().min(model.place.size()))
    }

    /// One message with every other rank, for a rank of a node of `ranks` ranks.
    pub(super) fn on(model: &Model, ranks: u32) -> Self {
        PeerCounts {
            near: u64::from(ranks) - 1,
            far: u64::from(model.place.size() - ranks),
        }
    }

    /// `times` messages with each of them.
    pub(super) const fn each(self, times: u32) -> Self {
        PeerCounts {
            near: self.near * times as u64,
            far: self.far * times as u64,
        }
    }

    /// The processor's time for all messages.
    pub(super) fn processor(&self, each: impl Fn(Reach) -> u64) -> u64 {
        let near = each(Reach::Node).saturating_mul(self.near);
        near.saturating_add(each(Reach::Network).saturating_mul(self.far))
    }

    pub(super) const fn last(&self) -> Reach {
        if self.far > 0 {
            Reach::Network
        } else {
            Reach::Node
        }
    }

    /// The time of all messages with `window` under way at a time.
    pub(super) fn flight(&self, window: u32, near: u64, far: u64) -> u64 {
        let all = self
            .near
            .saturating_mul(near)
            .saturating_add(self.far.saturating_mul(far));
        let longest = if self.far > 0 { far } else { near };
        (all / u64::from(window.max(1))).max(longest)
    }
}

/// The last rank's time to receive a message from every other rank.
pub(super) fn got_by_last(model: &Model, bytes: u64) -> u64 {
    let peers = PeerCounts::on(model, model.place.on_last_node());
    let load = model.load(bytes).saturating_mul(peers.far);
    let got = peers.processor(|reach| model.receive(reach, bytes));
    got.max(load)
}

/// The time of two exchanges of a rank at the end of a node, one of which crosses nodes.
pub(super) fn across_edge(model: &Model, bytes: u64) -> u64 {
    let far = model.hop(Reach::Network, bytes);
    let near = model.send(Reach::Node, bytes) + bytes.saturating_mul(model.machine.node.byte);
    match model.place.per_node() {
        1 => far.saturating_mul(2),
        2 => far.saturating_add(near).saturating_add(model.load(bytes)),
        _ => far.saturating_add(near),
    }
}

/// The path to the last rank from the rank below it.
pub(super) fn to_last(model: &Model) -> Reach {
    match model.place.order() {
        Order::Block if model.place.on_last_node() > 1 => Reach::Node,
        Order::Cyclic if model.place.nodes() == 1 => Reach::Node,
        _ => Reach::Network,
    }
}
