//! Numbers of rounds that several rows of the catalog promise.

use crate::call::{Call, Parameters};
use crate::digits::Digits;
use crate::hierarchy::{full_nodes, nodes_in_rails, of_rail, rails_of_one};
use crate::tree::levels;
pub(crate) use crate::tree::most_rounds as knomial;

/// Rounds of a vector in blocks down a chain.
pub(crate) fn chain(call: &Call, parameters: &Parameters) -> u64 {
    match call.size {
        1 => 0,
        size => u64::from(size) - 2 + u64::from(parameters.blocks).min(call.count),
    }
}

/// Rounds of recursive doubling; ranks beyond a power of two are folded onto others.
pub(crate) fn doubled(size: u32) -> u64 {
    u64::from(levels(size)) + u64::from(!size.is_power_of_two())
}

/// Rounds of pairwise exchanges with every rank; in place, each rank rests in one.
pub(crate) fn exchanges(call: &Call) -> u64 {
    u64::from(call.size - 1) + u64::from(call.in_place && call.size > 1)
}

/// At most the rounds of an allgather by neighbor exchange. If the number of ranks is odd, the last rank
/// receives a block from each other rank, after it has sent its own.
pub(crate) fn exchanged(call: &Call, _: &Parameters) -> u64 {
    match u64::from(call.size) {
        1 => 0,
        size if size.is_multiple_of(2) => size / 2,
        size => size + size / 2,
    }
}

/// At most the rounds of a Bruck allgather that some ranks begin before others: a message may find its
/// receiver busy.
pub(crate) fn regathered(call: &Call, radix: u32) -> u64 {
    2 * u64::from(Digits::new(call.size, radix).exchanges())
}

/// At most the rounds of a rail bcast: those of the rails, of a scatter and of an allgather inside the
/// nodes; exact with one rank per node.
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

/// Rounds of a rail reduce-scatter: one for each other rank of the node, then those of the circulant graph
/// of the nodes.
pub(crate) fn scattered_in_rails(call: &Call, parameters: &Parameters) -> u64 {
    let place = full_nodes(call, parameters);
    u64::from(place.per_node() - 1) + u64::from(levels(place.nodes()))
}
