//! Bcast by a scatter and exchanges between neighbours of blocks that are short: the root has all of them and waits for
//! nobody, so neighbours begin when they have their own ones.

use super::around::{AtRoot, Root};
use super::direct::got_by_last;
use super::lines::to_last;
use super::{Cost, Model, Way};
use crate::catalog::{Call, Parameters};
use crate::placement::{Order, Placement};

/// A scatter and what its root does in it, and exchanges between neighbours, on nodes that are filled one after another.
pub(super) fn exchanged(
    (scatter, root): (Cost, AtRoot),
    call: &Call,
    parameters: &Parameters,
    model: &Model,
) -> u64 {
    let per_node = model.place.per_node();
    let block = call.bytes().div_ceil(call.size.into());
    let members = call.size & !1;
    let rounds = u64::from(members / 2).saturating_sub(1);
    let scattered = |ranks| {
        let place = Placement::new(Order::Block, ranks, per_node);
        let call = Call::scatter(0, ranks, 0, block);
        scatter(&call, parameters, &Model { place, ..*model })
    };
    let first = model.hop(model.way(1), block);
    let inside = model.hop(Way::Node, 2 * block);
    let latest =
        (scattered(call.size).saturating_add(first)).saturating_add(inside.saturating_mul(rounds));
    // The last node begins when its first rank has its block: not before the adapter has carried what the root sends.
    let before = (members.div_ceil(per_node) - 1) * per_node;
    let at_edge = match before {
        0 => 0,
        _ => {
            let call = Call::scatter(0, call.size, 0, block);
            let Root { carried, .. } = root(&call, parameters, model, &mut |_, _| ());
            let come = carried.saturating_add(model.hop(Way::Network, block));
            let pace = across(model, 2 * block).saturating_mul(rounds) / 2;
            (scattered(before + 1).max(come))
                .saturating_add(first)
                .saturating_add(pace)
        }
    };
    let got = got_by_last(model, block);
    match call.size % 2 {
        0 => latest.max(at_edge),
        _ => (latest.saturating_add(with_guest(model, block, rounds)))
            .max(at_edge)
            .max(got),
    }
}

/// Two exchanges of a rank, one of which is with another node: the neighbour on its own has sent meanwhile what it has.
pub(super) fn across(model: &Model, bytes: u64) -> u64 {
    let copied = bytes.saturating_mul(model.machine.node.byte);
    model.hop(Way::Network, bytes) + model.send(Way::Node, bytes) + copied
}

/// What a guest adds to so many rounds. In each of them those to whom its block has come hand it on with theirs, and at the
/// same time it is their turn to send it theirs; who is latest is in step with these for half of the rounds. The last one
/// sends when all rounds are over.
fn with_guest(model: &Model, block: u64, rounds: u64) -> u64 {
    let way = match model.place.nodes() {
        1 => Way::Node,
        _ => Way::Network,
    };
    let more = block.saturating_mul(model.machine.node.byte);
    let each = model.send(way, block).saturating_add(more);
    (each.saturating_mul(rounds) / 2).saturating_add(model.hop(to_last(model), block))
}
