//! The cost of node-aware algorithms with leaders.

use super::direct::all_exchanges;
use super::folded::among_leaders;
use super::round::Round;
use super::rounds::Rounds;
use super::trees::{gather_in_place, is_short, postal_down, postal_up, with_length};
use super::{
    Cost, Model, Reach, allreduce_splitting, barrier_knomial, bcast, dissemination,
    exscan_doubling, gather, gather_linear, reduce, scan, scatter, scatter_linear,
};
use crate::call::{Call, Collective, Parameters};
use crate::exec::IN_FLIGHT;
use crate::hierarchy::{NodeLeaders, full_blocks, one_after_another};
use crate::placement::{Order, Placement};

/// The model of one rank per node, which has the adapter to itself.
pub(super) fn leaders(model: &Model, nodes: u32) -> Model {
    Model {
        place: Placement::new(Order::Block, nodes, 1),
        ..*model
    }
}

/// The model of the ranks of one node.
pub(super) fn inside(model: &Model, ranks: u32) -> Model {
    Model {
        place: Placement::new(Order::Block, ranks, ranks),
        ..*model
    }
}

/// The call of `count` elements among `size` ranks.
pub(super) fn among(call: &Call, size: u32, count: u64) -> Call {
    Call {
        rank: 0,
        root: 0,
        size,
        count,
        ..*call
    }
}

/// A phase: its call, and the model of its ranks.
pub(super) type Phase = (Call, Model);

/// The call among the leaders, on a node with the most ranks, and on the last node.
fn phases(call: &Call, parameters: &Parameters, model: &Model) -> [Phase; 3] {
    let nodes = NodeLeaders::of(call, parameters);
    let among = |size| among(call, size, call.count);
    let node = |ranks| (among(ranks), inside(model, ranks));
    [
        (among(nodes.count()), leaders(model, nodes.count())),
        node(nodes.most()),
        node(nodes.fewest()),
    ]
}

/// The times at which the leaders of two nodes have each other's message; the last node may be ready
/// first. A long message starts when both are ready.
fn exchange_end(far: &Model, bytes: u64, ready: [u64; 2]) -> [u64; 2] {
    if bytes > far.machine.eager {
        let both = ready[0].max(ready[1]);
        return [both.saturating_add(far.hop(Reach::Network, bytes)); 2];
    }
    let (send, receive) = (
        far.send(Reach::Network, bytes),
        far.receive(Reach::Network, bytes),
    );
    let arrival = far.hop(Reach::Network, bytes) - receive;
    let done = |own: u64, other: u64| {
        let both = own.saturating_add(send).max(other.saturating_add(arrival));
        both.saturating_add(receive)
    };
    [done(ready[0], ready[1]), done(ready[1], ready[0])]
}

/// The time at which the later of two nodes is done, whose ranks continue after their leaders.
fn later(leaders: [u64; 2], ranks: [u64; 2]) -> u64 {
    let done = |node: usize| leaders[node].saturating_add(ranks[node]);
    done(0).max(done(1))
}

/// The times at which two leaders continue, the first of which sends to the other; it is done with a
/// short message at once.
fn given(far: &Model, bytes: u64) -> [u64; 2] {
    let hop = far.hop(Reach::Network, bytes);
    match bytes > far.machine.eager {
        true => [hop; 2],
        false => [far.send(Reach::Network, bytes), hop],
    }
}

/// The time at which the root's node is done with its own work and with the message of another, smaller
/// node's leader.
fn taken(far: &Model, bytes: u64, [home, there]: [u64; 2]) -> u64 {
    let receive = far.receive(Reach::Network, bytes);
    let arrival = far.hop(Reach::Network, bytes) - receive;
    home.max(there.saturating_add(arrival))
        .saturating_add(receive)
}

/// Barrier by leaders, with trees inside the nodes.
pub(crate) fn barrier_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let [(leaders, far), node, last] = phases(call, parameters, model);
    let reach = [node, last].map(|(call, near)| barrier_knomial(&call, parameters, &near) / 2);
    match leaders.size {
        2 => later(exchange_end(&far, 0, reach), reach),
        _ => 2 * reach[0] + dissemination(&leaders, parameters, &far),
    }
}

/// Bcast to the leaders, then inside the nodes, along k-nomial trees.
pub(crate) fn bcast_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    down_nodes([bcast; 2], call, parameters, model)
}

/// Bcast to the leaders, then inside the nodes, along postal trees.
pub(crate) fn bcast_postal(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    down_nodes([postal_down; 2], call, parameters, model)
}

/// From the root to the leaders, then inside the nodes.
pub(super) fn down_nodes(
    [between, inside]: [Cost; 2],
    call: &Call,
    parameters: &Parameters,
    model: &Model,
) -> u64 {
    let [(leaders, far), node, last] = phases(call, parameters, model);
    let down = [node, last].map(|(call, near)| inside(&call, parameters, &near));
    let bytes = call.bytes();
    match leaders.size {
        2 => later(given(&far, bytes), down),
        _ => between(&leaders, parameters, &far).saturating_add(down[0]),
    }
}

/// Reduce inside the nodes, then to the root, along k-nomial trees.
pub(crate) fn reduce_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    up_nodes([reduce; 2], call, parameters, model)
}

/// Reduce inside the nodes, then to the root, along postal trees.
pub(crate) fn reduce_postal(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    up_nodes([postal_up; 2], call, parameters, model)
}

/// Inside the nodes, then from the leaders to the root.
pub(super) fn up_nodes(
    [inside, between]: [Cost; 2],
    call: &Call,
    parameters: &Parameters,
    model: &Model,
) -> u64 {
    let [(leaders, far), node, last] = phases(call, parameters, model);
    let up = [node, last].map(|(call, near)| inside(&call, parameters, &near));
    let (bytes, merged) = (call.bytes(), model.reduce(call.bytes()));
    match leaders.size {
        // A long message starts when its receiver has room, as nothing remains to be reduced.
        2 if bytes > model.machine.eager => {
            let hop = far.hop(Reach::Network, bytes);
            up[0].max(up[1]).saturating_add(hop).saturating_add(merged)
        }
        2 => taken(&far, bytes, up).saturating_add(merged),
        _ => between(&leaders, parameters, &far).saturating_add(up[0]),
    }
}

/// Allreduce by leaders: k-nomial trees inside the nodes, recursive doubling between them.
pub(crate) fn allreduce_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let among = |(leaders, far): &Phase, _| among_leaders(leaders, far);
    by_leaders([reduce, bcast], among, call, parameters, model)
}

/// Allreduce by leaders: postal trees inside the nodes, recursive splitting between them.
pub(crate) fn allreduce_postal(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let among = |(leaders, far): &Phase, are_equal: bool| {
        // Requests of late ranks wait behind the long messages of earlier ones.
        let messages = u64::from(parameters.radix.min(leaders.size) - 1);
        let waits = match call.bytes() > far.machine.eager && !are_equal {
            true => far.load(call.bytes()).saturating_mul(messages),
            false => 0,
        };
        [allreduce_splitting(leaders, parameters, far).saturating_add(waits); 2]
    };
    by_leaders([postal_up, postal_down], among, call, parameters, model)
}

/// Allreduce by leaders. `among` gives the times at which the last leader is done and at which all others
/// are.
pub(super) fn by_leaders(
    [to_leader, from_leader]: [Cost; 2],
    among: impl Fn(&Phase, bool) -> [u64; 2],
    call: &Call,
    parameters: &Parameters,
    model: &Model,
) -> u64 {
    let [between, node, last] = phases(call, parameters, model);
    let up = [node, last].map(|(call, near)| to_leader(&call, parameters, &near));
    let down = [node, last].map(|(call, near)| from_leader(&call, parameters, &near));
    match between.0.size {
        1 => up[0].saturating_add(down[0]),
        2 => {
            let met = exchange_end(&between.1, call.bytes(), up);
            later(met, down).saturating_add(model.reduce(call.bytes()))
        }
        _ => {
            let [last, others] = among(&between, node.0.size == last.0.size);
            up[0].saturating_add(later([others, last], down))
        }
    }
}

/// The calls of trees whose blocks are those of whole nodes: between the nodes, on a node with the most
/// ranks, and on the last one.
fn blocks_of_nodes(call: &Call, parameters: &Parameters, model: &Model) -> [Phase; 3] {
    let place = one_after_another(call, parameters);
    let (nodes, ranks) = (place.nodes(), place.per_node().min(place.size()));
    let last = place.size() - (nodes - 1) * ranks;
    // Of two nodes only the last one's blocks cross.
    let carried = if nodes == 2 { last } else { ranks };
    let whole = call.count.saturating_mul(carried.into());
    let node = |ranks| (among(call, ranks, call.count), inside(model, ranks));
    [
        (among(call, nodes, whole), leaders(model, nodes)),
        node(ranks),
        node(last),
    ]
}

/// Gather inside the nodes, then between their leaders.
pub(crate) fn gather_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    gather_by_leaders(gather, call, parameters, model)
}

/// [`gather_node_aware`] with another gather inside the nodes.
pub(super) fn gather_by_leaders(
    inside: Cost,
    call: &Call,
    parameters: &Parameters,
    model: &Model,
) -> u64 {
    let [(leaders, far), node, last] = blocks_of_nodes(call, parameters, model);
    let up = [node, last].map(|(call, near)| inside(&call, parameters, &near));
    if leaders.size == 2 {
        return taken(&far, leaders.bytes(), up);
    }
    // The root's node gathers in place.
    let between = gather_in_place(&leaders, parameters, &far);
    between.saturating_add(up[0])
}

/// Scatter to the leaders, then inside the nodes.
pub(crate) fn scatter_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    scatter_by_leaders(scatter, call, parameters, model)
}

/// [`scatter_node_aware`] with another scatter inside the nodes.
pub(super) fn scatter_by_leaders(
    inside: Cost,
    call: &Call,
    parameters: &Parameters,
    model: &Model,
) -> u64 {
    let [(leaders, far), node, last] = blocks_of_nodes(call, parameters, model);
    let down = [node, last].map(|(call, near)| inside(&call, parameters, &near));
    let bytes = leaders.bytes();
    match leaders.size {
        2 => later(given(&far, bytes), down),
        _ => scatter(&leaders, parameters, &far).saturating_add(down[0]),
    }
}

/// Gatherv along a tree of nodes; a block beyond the cutoff goes straight.
pub(crate) fn gatherv_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    match is_short(call, parameters) {
        true => gather_node_aware(call, &through_tree(parameters), model),
        false => gather_linear(call, parameters, model),
    }
}

/// Scatterv along a tree of nodes, with each block's length; a block beyond the cutoff goes straight.
pub(crate) fn scatterv_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    match is_short(call, parameters) {
        true => {
            let blocks = Call {
                collective: Collective::Scatter,
                count: with_length(call),
                ..*call
            };
            scatter_node_aware(&blocks, &through_tree(parameters), model)
        }
        false => scatter_linear(call, parameters, model),
    }
}

/// Parameters with which all blocks go through a tree.
const fn through_tree(parameters: &Parameters) -> Parameters {
    parameters.with_cutoff(0)
}

/// The phases of a scan or exscan after the one inside the nodes: between the nodes, and back.
fn from_below(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let place = one_after_another(call, parameters);
    let (nodes, ranks) = (place.nodes(), place.per_node().min(place.size()));
    if nodes == 1 {
        return 0;
    }
    let between = Call::exscan(0, nodes, call.count, call.element_bytes);
    let far = exscan_doubling(&between, parameters, &leaders(model, nodes));
    let back = Call {
        size: ranks,
        ..*call
    };
    let near = bcast(&back, parameters, &inside(model, ranks));
    far.saturating_add(near)
        .saturating_add(model.reduce(call.bytes()))
}

/// Scan inside the nodes, then with the result of the nodes below.
pub(crate) fn scan_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let place = one_after_another(call, parameters);
    let ranks = place.per_node().min(place.size());
    let node = Call {
        size: ranks,
        ..*call
    };
    scan(&node, parameters, &inside(model, ranks))
        .saturating_add(from_below(call, parameters, model))
}

/// Exscan inside the nodes, then with the result of the nodes below.
pub(crate) fn exscan_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let place = one_after_another(call, parameters);
    let ranks = place.per_node().min(place.size());
    let node = Call {
        size: ranks,
        ..*call
    };
    let summed = match place.nodes() {
        1 => 0,
        _ => model.reduce(call.bytes()),
    };
    exscan_doubling(&node, parameters, &inside(model, ranks))
        .saturating_add(summed)
        .saturating_add(from_below(call, parameters, model))
}

/// The time of `messages` messages from each rank to the others of its node.
pub(super) fn hand_out(model: &Model, messages: u32, bytes: u64) -> u64 {
    if messages == 0 {
        return 0;
    }
    let path = model.machine.node;
    let each = model
        .both(Reach::Node, bytes)
        .saturating_mul(messages.into());
    let waves = if bytes > model.machine.eager {
        u64::from(messages).div_ceil(8)
    } else {
        1
    };
    let copied = match model.serial_copies {
        true => 0,
        false => bytes.saturating_mul(path.byte).saturating_mul(waves),
    };
    each.saturating_add(path.latency).saturating_add(copied)
}

/// The exchange of rails' results inside a node.
pub(super) fn in_node(call: &Call, place: Placement, model: &Model) -> u64 {
    let rail = call.bytes().saturating_mul(place.nodes().into());
    hand_out(model, place.per_node() - 1, rail)
}

/// Alltoall with one message from node to node.
pub(crate) fn alltoall_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let place = full_blocks(call, parameters);
    let (nodes, ranks) = (place.nodes(), place.per_node());
    if ranks == 1 {
        let copied = model.copy(call.bytes().saturating_mul(2 * u64::from(nodes)));
        return all_exchanges(model, call.bytes(), IN_FLIGHT as u32 / 2).saturating_add(copied);
    }
    let taken = nodes.div_ceil(ranks);
    let for_node = call.bytes().saturating_mul(ranks.into());
    let given = for_node.saturating_mul(taken.into());
    let crossing = for_node.saturating_mul(ranks.into());
    let mut rounds = Rounds::new(model);
    rounds.work(hand_out(model, ranks - 1, given));
    rounds.work(model.copy(given.saturating_add(crossing)));
    if nodes > 1 {
        rounds.add(Round {
            distance: ranks,
            span: 0,
            far: u64::from(ranks.min(nodes - 1)),
            messages: 1,
            bytes: crossing,
            ends: [crossing; 2],
            work: 0,
        });
        let load = u64::from(nodes - 1).saturating_mul(model.load(crossing));
        let spread = u64::from(ranks.min(nodes - 1)).saturating_mul(model.load(crossing));
        rounds.work(load.saturating_sub(spread));
    }
    rounds.work(hand_out(model, ranks - 1, given));
    rounds.work(model.copy(given));
    rounds.time()
}
