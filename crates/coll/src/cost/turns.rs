//! Long blocks around a ring whose last node has two ranks, where what asks for a block waits behind another one.
//!
//! A rank starts a round when the block of the one before has come and its own has left. Between nodes that takes what
//! announces the block, what asks for it once its receiver has offered a block of its own, and the adapter's time; inside
//! a node, until its sender has seen it copied. The second rank of the last node gets its block by both ways, and starts
//! after the last rank of the node before: the later, the less one way is the slower one. Once it is a latency and an offer
//! later, what asks for its block finds the adapter of that node sending a block, and waits for all of it.

use super::{Model, Way};
use crate::machine::Machine;

/// From the start of one block of so many bytes to the start of the next, where they take turns; 0 if they do not.
///
/// As a longer block never costs less, one that is too long for that is taken for the longest that is not.
pub(super) fn in_turns(model: &Model, bytes: u64) -> u64 {
    let Machine { network, node, .. } = model.machine;
    let far = 2 * (network.send + network.latency) + network.recv + node.send;
    let near = node.send + node.recv + 2 * node.latency;
    let told = model.told(Way::Node, bytes);
    let close = network.recv.saturating_sub(told + node.send);
    let slower = node.byte.saturating_sub(network.byte);
    let equal = |far: u64| far.saturating_sub(near).checked_div(slower);
    let (Some(shortest), Some(longest)) = (equal(far.saturating_sub(close)), equal(far + close))
    else {
        return 0;
    };
    if bytes <= shortest || close == 0 {
        return 0;
    }
    let bytes = bytes.min(longest);
    // Of two rounds one takes a block each way, the second asked for behind the first, and then the first rank is late, for
    // whose block the other one had no time: so the next round takes that rank's copy.
    let there_and_back = (network
        .latency
        .saturating_add(bytes.saturating_mul(network.byte)))
    .saturating_mul(2)
    .saturating_add(model.both(Way::Network, 0) + node.send);
    let copied =
        (bytes.saturating_mul(node.byte)).saturating_add(network.send + node.recv + node.latency);
    there_and_back.saturating_add(copied) / 2
}
