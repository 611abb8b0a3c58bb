//! The cost of long blocks around a ring whose last node has two ranks, where a block's request waits
//! behind another block.
//!
//! A rank starts a round when it has the previous block and its own has left. The second rank of the last
//! node receives both ways and starts after the last rank of the node before. Once it is a latency and an
//! offer later, its request finds the adapter of that node sending a block and waits for all of it.

use super::{Model, Reach};
use crate::machine::Machine;
use crate::placement::Order;

/// The time of all rounds of blocks of `bytes` bytes, cut into `pieces` between nodes, with `work` on
/// each; 0 where this pattern does not occur. A block too long for the pattern is taken for the longest
/// that shows it, so that longer blocks never cost less.
pub(super) fn alternate(model: &Model, bytes: u64, work: u64, pieces: u64) -> u64 {
    let place = model.place;
    let has_pair = place.nodes() > 1 && place.per_node() > 2 && place.on_last_node() == 2;
    if !has_pair || place.order() != Order::Block || pieces > 1 || bytes <= model.machine.eager {
        return 0;
    }
    let (shortest, longest) = lengths(model);
    if bytes <= shortest || longest <= shortest {
        return 0;
    }
    let rounds = u64::from(place.size()) - 1;
    (two_rounds(model, bytes.min(longest)) / 2)
        .saturating_add(work)
        .saturating_mul(rounds)
}

/// The range of block lengths with the pattern: longer than the first, at most the second.
fn lengths(model: &Model) -> (u64, u64) {
    let Machine { network, node, .. } = model.machine;
    let far = 2 * (network.send + network.latency) + network.recv + node.send;
    let near = node.send + node.recv + 2 * node.latency;
    let about = network
        .recv
        .saturating_sub(node.latency.saturating_sub(node.recv) + node.send);
    // Only where a copy takes longer than the adapter does longer blocks make up for what else is between
    // nodes.
    let slower = node.byte.saturating_sub(network.byte);
    let equal = |far: u64| far.saturating_sub(near).checked_div(slower).unwrap_or(0);
    (equal(far.saturating_sub(about)), equal(far + about))
}

/// The time of two rounds: the first rank is late in one of them, and the next takes that rank's copy.
fn two_rounds(model: &Model, bytes: u64) -> u64 {
    let Machine { network, node, .. } = model.machine;
    let carried = network
        .latency
        .saturating_add(bytes.saturating_mul(network.byte));
    let copied = bytes.saturating_mul(node.byte);
    (carried.saturating_mul(2))
        .saturating_add(model.both(Reach::Network, 0) + node.send)
        .saturating_add(copied)
        .saturating_add(network.send + node.recv + node.latency)
}
