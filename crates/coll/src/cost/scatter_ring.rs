//! The cost of a bcast by scatter and ring with short blocks, where ranks start the ring as soon as they
//! have their own block.

use super::exchanges::share;
use super::lines::Line;
use super::rooted::RootForm;
use super::{Cost, Model, Reach};
use crate::call::{Call, Parameters};
use crate::placement::{Order, Placement};

/// A scatter of blocks among the first `size` ranks.
pub(super) fn scattered(
    scatter: Cost,
    (ranks, block): (u32, u64),
    parameters: &Parameters,
    model: &Model,
) -> u64 {
    let place = Placement::new(model.place.order(), ranks, model.place.per_node());
    let call = Call::scatter(0, ranks, 0, block);
    scatter(&call, parameters, &Model { place, ..*model })
}

/// The form of a scatter followed by a ring.
pub(super) fn passed_on(
    (scatter, root): (Cost, RootForm),
    call: &Call,
    parameters: &Parameters,
    model: &Model,
) -> u64 {
    let (place, last) = (model.place, call.size - 1);
    let block = share(call, call.size);
    let line = Line::down(model, last);
    let (pace, inside) = (line.pace(model, block, 0), line.inside(model, block));
    let all = |pace: u64| pace.saturating_mul(last.into());
    let [near_hop, far_hop] = [Reach::Node, Reach::Network].map(|reach| model.hop(reach, block));
    let along = |rank| {
        let Line { near, far, .. } = Line::down(model, rank);
        (near_hop.saturating_mul(near)).saturating_add(far_hop.saturating_mul(far))
    };
    let (edge, before_last_node) = match place.order() {
        Order::Block => (
            place.per_node().min(call.size) - 1,
            (place.nodes() - 1) * place.per_node(),
        ),
        Order::Cyclic => (0, call.size),
    };
    let tail = |reach| model.hop(reach, block) - model.send(reach, block);
    // A late rank has many blocks to forward before the root's own block, which then goes on to the end.
    let mut late = 0;
    let mut comes_late = |rank: u32, time: u64| {
        let pace = if rank < before_last_node {
            pace
        } else {
            inside
        };
        let passed = time.saturating_add(pace.saturating_mul(rank.into()));
        late = late.max(passed.saturating_add(along(last) - along(rank)));
    };
    let scatter_call = Call::scatter(0, call.size, 0, block);
    let root = root(&scatter_call, parameters, model, &mut comes_late);
    let scattered = |ranks| scattered(scatter, (ranks, block), parameters, model);
    // The root's own block travels as soon as everything is sent. The first rank of the next node gets
    // what precedes it when the adapter has carried that.
    let own = root.sent.saturating_add(along(last));
    let queued = match place.nodes() {
        1 => 0,
        _ => (root.carried.saturating_add(tail(Reach::Network)))
            .saturating_add(inside.saturating_mul((edge + 1).into()))
            .saturating_add(along(last) - along(edge + 1)),
    };
    // The others follow once no rank needs the root any more: those below its last child go to that child
    // only.
    let below = u64::from(call.size - root.last_child);
    let others = (root.done)
        .saturating_add(pace.saturating_mul(below - 1))
        .saturating_add(along(root.last_child - 1));
    // The latest rank forwards all that comes after its own block; so does, for longer, the latest one at
    // the end of a node.
    let near = model.reach(1);
    let passed = |scattered: u64, pace| {
        scattered.saturating_add(all(pace).saturating_sub(model.receive(near, block)))
    };
    let all_scattered = scattered(call.size);
    let latest = passed(all_scattered, inside).saturating_add(tail(near));
    let least = [own, queued, late, others, latest]
        .into_iter()
        .fold(0, u64::max);
    if place.nodes() == 1 {
        return least;
    }
    let behind = pace.saturating_mul((last - edge - 1).into());
    let beyond = (along(last) - along(edge))
        .saturating_sub(behind + model.send(Reach::Network, block))
        .max(tail(Reach::Network));
    let of_root = root.sent.saturating_add(tail(near));
    let least = least.max(passed(of_root, pace).saturating_add(beyond));
    // The ranks before the last node are not later than all ranks, so their lateness need not be asked
    // for as often.
    let at_last = |scattered| passed(scattered, pace).saturating_add(tail(Reach::Network));
    match at_last(all_scattered) > least {
        true => least.max(at_last(scattered(before_last_node).min(all_scattered))),
        false => least,
    }
}
