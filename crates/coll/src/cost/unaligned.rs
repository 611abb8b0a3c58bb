//! The cost of a bcast by scatter and neighbour exchange with short blocks, where neighbours start when
//! both have their own block.

use super::exchanges::share;
use super::peers::{across_edge, got_by_last, to_last};
use super::rooted::RootForm;
use super::scatter_ring::scattered;
use super::{Cost, Model, Reach};
use crate::allgather::NeighborExchange;
use crate::call::{Call, Parameters};

/// The form of a scatter followed by a neighbour exchange, in block placement.
pub(super) fn exchanged(
    (scatter, root): (Cost, RootForm),
    call: &Call,
    parameters: &Parameters,
    model: &Model,
) -> u64 {
    let per_node = model.place.per_node();
    let members = NeighborExchange::members(call.size);
    let block = share(call, members);
    let rounds = u64::from(members / 2).saturating_sub(1);
    let scattered = |ranks| scattered(scatter, (ranks, block), parameters, model);
    let first = model.hop(model.reach(1), block);
    let inside = model.hop(Reach::Node, 2 * block);
    let (begun, last) = match rounds {
        0 => (0, first),
        _ => (
            first.saturating_add(inside.saturating_mul(rounds - 1)),
            inside,
        ),
    };
    let all_scattered = scattered(call.size);
    let begun = all_scattered.saturating_add(begun);
    let scatter_call = Call::scatter(0, call.size, 0, block);
    let root = root(&scatter_call, parameters, model, &mut |_, _| ());
    let least = match call.size % 2 {
        0 => begun.saturating_add(last),
        // The last pair sends its blocks to the folded rank in the last round.
        _ => (begun.saturating_add(beside_folded_rank(model, block)))
            .saturating_add(last.max(model.hop(to_last(model), block)))
            .max(got_by_last(model, block)),
    };
    // The last node starts when its first rank has its block: after the adapter has carried all that the
    // root sends, and after all ranks have theirs.
    let before = (members.div_ceil(per_node) - 1) * per_node;
    let arrival = (root.carried).saturating_add(model.hop(Reach::Network, block));
    let pace = across_edge(model, 2 * block).saturating_mul(rounds) / 2;
    let at_edge = |begun: u64| {
        begun
            .max(arrival)
            .saturating_add(first)
            .saturating_add(pace)
    };
    match before > 0 && at_edge(all_scattered) > least {
        true => least.max(at_edge(scattered(before + 1).min(all_scattered))),
        false => least,
    }
}

/// The time that a folded rank adds: in each round two ranks send it their blocks.
fn beside_folded_rank(model: &Model, block: u64) -> u64 {
    let place = model.place;
    let reach = match place.nodes() {
        1 => Reach::Node,
        _ => Reach::Network,
    };
    let middle = place.size() / 2 - 1;
    model.send(reach, block).saturating_mul(middle.into()) / 2
}
