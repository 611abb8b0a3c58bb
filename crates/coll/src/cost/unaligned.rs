//! Bcast by a scatter and exchanges between neighbours of blocks that are short: the root has all of them and waits for
//! nobody, so neighbours begin when they have their own ones.

use super::around::scattered;
use super::exchanges::share;
use super::peers::{across_edge, got_by_last, to_last};
use super::rooted::AtRoot;
use super::{Cost, Model, Reach};
use crate::allgather::NeighborExchange;
use crate::call::{Call, Parameters};

/// A scatter and what its root does in it, and exchanges between neighbours, on nodes that are filled one after another.
pub(super) fn exchanged(
    (scatter, root): (Cost, AtRoot),
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
        // To the folded rank the last pair sends its blocks in the last round.
        _ => (begun.saturating_add(beside_folded_rank(model, block)))
            .saturating_add(last.max(model.hop(to_last(model), block)))
            .max(got_by_last(model, block)),
    };
    // The last node begins when its first rank has its block: not before the adapter has carried what the root sends, and not
    // after all have theirs.
    let before = (members.div_ceil(per_node) - 1) * per_node;
    let come = (root.carried).saturating_add(model.hop(Reach::Network, block));
    let pace = across_edge(model, 2 * block).saturating_mul(rounds) / 2;
    let at_edge = |begun: u64| begun.max(come).saturating_add(first).saturating_add(pace);
    match before > 0 && at_edge(all_scattered) > least {
        true => least.max(at_edge(scattered(before + 1).min(all_scattered))),
        false => least,
    }
}

/// What a folded rank adds, who has no block: in each round two ranks, one above the other, send it theirs. Who is latest is in
/// step with these for half of the rounds.
fn beside_folded_rank(model: &Model, block: u64) -> u64 {
    let place = model.place;
    let reach = match place.nodes() {
        1 => Reach::Node,
        _ => Reach::Network,
    };
    let middle = place.size() / 2 - 1;
    model.send(reach, block).saturating_mul(middle.into()) / 2
}
