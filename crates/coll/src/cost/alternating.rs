//! Long blocks around a ring whose last node has two ranks, where what asks for a block waits behind another one.
//!
//! A rank starts a round when the block of the one before has come and its own has left. Between nodes that takes what
//! announces the block, what asks for it once its receiver has offered a block of its own, and the adapter's time; inside
//! a node, until its sender has seen it copied. The second rank of the last node gets its block by both ways, and starts
//! after the last rank of the node before: the later, the less one way is the slower one. Once it is a latency and an offer
//! later, what asks for its block finds the adapter of that node sending a block, and waits for all of it.

use super::{Model, Reach};
use crate::machine::Machine;
use crate::placement::Order;

/// All rounds of blocks of so many bytes, with so much work on each, in so many pieces between nodes; 0 where they do not
/// take turns. Pieces don't, nor do ranks that are all in step, two on each node.
///
/// As a longer block never costs less, one that is too long to take turns is taken for the longest that does.
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

/// Blocks take turns that are longer than the first of these, and no longer than the second: both ways take about as long.
fn lengths(model: &Model) -> (u64, u64) {
    let Machine { network, node, .. } = model.machine;
    let far = 2 * (network.send + network.latency) + network.recv + node.send;
    let near = node.send + node.recv + 2 * node.latency;
    let about = network
        .recv
        .saturating_sub(node.latency.saturating_sub(node.recv) + node.send);
    // Only where a copy takes longer than the adapter does longer blocks make up for what else is between nodes.
    let slower = node.byte.saturating_sub(network.byte);
    let equal = |far: u64| far.saturating_sub(near).checked_div(slower).unwrap_or(0);
    (equal(far.saturating_sub(about)), equal(far + about))
}

/// Of two rounds one takes a block each way, the second asked for behind the first; then the first rank is late, for whose
/// block the other one had no time, so the next round takes that rank's copy.
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
