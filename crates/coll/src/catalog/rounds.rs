//! How many rounds the rows of the table promise, where several promise the same.

use super::{Call, Parameters};
use crate::digits::Digits;
use crate::hierarchy::{full_nodes, lanes_of_one, nodes_in_lanes, of_lane};
use crate::tree::levels;
pub(super) use crate::tree::most_rounds as knomial;

/// The rounds of a vector in blocks down a chain.
pub(super) fn chain(call: &Call, parameters: &Parameters) -> u64 {
    match call.size {
        1 => 0,
        size => u64::from(size) - 2 + u64::from(parameters.blocks).min(call.count),
    }
}

/// The rounds of recursive doubling, where ranks are folded onto others if their number is no power of two.
pub(super) fn doubled(size: u32) -> u64 {
    u64::from(levels(size)) + u64::from(!size.is_power_of_two())
}

/// The rounds in which each two ranks exchange; in place each rank rests in one.
pub(super) fn exchanges(call: &Call) -> u64 {
    u64::from(call.size - 1) + u64::from(call.in_place && call.size > 1)
}

/// The rounds of an allgather between neighbours, at most: of an odd number of ranks one gets a block from each other
/// one, after it has given its own.
pub(super) fn exchanged(call: &Call, _: &Parameters) -> u64 {
    match u64::from(call.size) {
        1 => 0,
        size if size.is_multiple_of(2) => size / 2,
        size => size + size / 2,
    }
}

/// The most rounds of an allgather by Bruck's algorithm that some ranks begin before others: a message
/// may then find its receiver's port taken.
pub(super) fn regathered(call: &Call, radix: u32) -> u64 {
    2 * u64::from(Digits::new(call.size, radix).exchanges())
}

/// The most rounds of a bcast in lanes: those of a lane, and of a scatter and an allgather inside the
/// nodes; exact with one rank a node.
pub(super) fn in_lanes(
    call: &Call,
    parameters: &Parameters,
    rounds: fn(&Call, &Parameters) -> u64,
) -> u64 {
    let place = nodes_in_lanes(call, parameters);
    let inside = 3 * u64::from(place.ranks_on(0) - 1);
    let lanes = lanes_of_one(place, place.nodes() - 1);
    inside + u64::from(lanes) * rounds(&of_lane(call, place), parameters)
}

/// The rounds of a reduce-scatter in lanes: one for each other rank of a node, then over the circulant graph of
/// the nodes.
pub(super) fn scattered_in_lanes(call: &Call, parameters: &Parameters) -> u64 {
    let place = full_nodes(call, parameters);
    u64::from(place.per_node() - 1) + u64::from(levels(place.nodes()))
}
