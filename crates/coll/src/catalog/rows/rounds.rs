//! How many rounds the rows of the table promise, where several promise the same.

use crate::call::{Call, Parameters};
use crate::digits::Digits;
use crate::hierarchy::{full_nodes, nodes_in_rails, of_rail, rails_of_one};
use crate::tree::levels;
pub(crate) use crate::tree::most_rounds as knomial;

/// The rounds of a vector in blocks down a chain.
pub(crate) fn chain(call: &Call, parameters: &Parameters) -> u64 {
    match call.size {
        1 => 0,
        size => u64::from(size) - 2 + u64::from(parameters.blocks).min(call.count),
    }
}

/// The rounds of recursive doubling, where ranks are folded onto others if their number is no power of two.
pub(crate) fn doubled(size: u32) -> u64 {
    u64::from(levels(size)) + u64::from(!size.is_power_of_two())
}

/// The rounds in which each two ranks exchange; in place each rank rests in one.
pub(crate) fn exchanges(call: &Call) -> u64 {
    u64::from(call.size - 1) + u64::from(call.in_place && call.size > 1)
}

/// The rounds of an allgather between neighbours, at most: of an odd number of ranks one gets a block from each other
/// one, after it has given its own.
pub(crate) fn exchanged(call: &Call, _: &Parameters) -> u64 {
    match u64::from(call.size) {
        1 => 0,
        size if size.is_multiple_of(2) => size / 2,
        size => size + size / 2,
    }
}

/// The most rounds of an allgather by Bruck's algorithm that some ranks begin before others: a message
/// may then find its receiver's port taken.
pub(crate) fn regathered(call: &Call, radix: u32) -> u64 {
    2 * u64::from(Digits::new(call.size, radix).exchanges())
}

/// The most rounds of a bcast in rails: those of a rail, and of a scatter and an allgather inside the
/// nodes; exact with one rank a node.
pub(crate) fn in_rails(
    call: &Call,
    parameters: &Parameters,
    rounds: fn(&Call, &Parameters) -> u64,
) -> u64 {
    let place = nodes_in_rails(call, parameters);
    let inside = 3 * u64::from(place.ranks_on(0) - 1);
    let rails = rails_of_one(place, place.nodes() - 1);
    inside + u64::from(rails) * rounds(&of_rail(call, place), parameters)
}

/// The rounds of a reduce-scatter in rails: one for each other rank of a node, then over the circulant graph of
/// the nodes.
pub(crate) fn scattered_in_rails(call: &Call, parameters: &Parameters) -> u64 {
    let place = full_nodes(call, parameters);
    u64::from(place.per_node() - 1) + u64::from(levels(place.nodes()))
}
