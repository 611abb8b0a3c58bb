//! Algorithms that know which ranks are on one node.

use super::lines::everyone;
use super::rounds::{Round, Rounds, allgather_bruck};
use super::{
    Model, Way, allreduce_doubling, barrier_knomial, bcast, chain, dissemination, exscan_doubling,
    gather, linear, pipeline, reduce, ring, scan, scatter, scatter_linear,
};
use crate::catalog::{Call, Parameters};
use crate::exec::IN_FLIGHT;
use crate::hierarchy::{Nodes, full_blocks, full_nodes, of_lane, one_after_another};
use crate::placement::{Order, Placement};

/// One rank of each node, which has the adapter to itself.
fn leaders(model: &Model, nodes: u32) -> Model {
    Model {
        place: Placement::new(Order::Block, nodes, 1),
        ..*model
    }
}

/// The ranks of one node.
fn inside(model: &Model, ranks: u32) -> Model {
    Model {
        place: Placement::new(Order::Block, ranks, ranks),
        ..*model
    }
}

/// The same call among the leaders, and inside a node, each with who takes part.
fn phases(call: &Call, parameters: &Parameters, model: &Model) -> [(Call, Model); 2] {
    let nodes = Nodes::of(call, parameters);
    let among = |ranks| Call {
        rank: 0,
        root: 0,
        size: ranks,
        ..*call
    };
    [
        (among(nodes.count()), leaders(model, nodes.count())),
        (among(nodes.most()), inside(model, nodes.most())),
    ]
}

/// Barrier by leaders, with trees inside the nodes.
pub(crate) fn barrier_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let [(leaders, far), (node, near)] = phases(call, parameters, model);
    dissemination(&leaders, parameters, &far) + barrier_knomial(&node, parameters, &near)
}

/// Bcast to the leaders, and inside the nodes.
pub(crate) fn bcast_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let [(leaders, far), (node, near)] = phases(call, parameters, model);
    bcast(&leaders, parameters, &far).saturating_add(bcast(&node, parameters, &near))
}

/// Reduce inside the nodes, and to the leaders.
pub(crate) fn reduce_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let [(leaders, far), (node, near)] = phases(call, parameters, model);
    reduce(&leaders, parameters, &far).saturating_add(reduce(&node, parameters, &near))
}

/// Allreduce by leaders, with trees up and down inside the nodes.
pub(crate) fn allreduce_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let [(leaders, far), (node, near)] = phases(call, parameters, model);
    let up = reduce(&node, parameters, &near);
    let down = bcast(&node, parameters, &near);
    let between = match leaders.size {
        1 => 0,
        _ => allreduce_doubling(&leaders, parameters, &far),
    };
    up.saturating_add(between).saturating_add(down)
}

/// The call of trees on blocks between the nodes, each with the blocks of its ranks, and inside them,
/// each with who takes part.
fn blocks_of_nodes(call: &Call, parameters: &Parameters, model: &Model) -> [(Call, Model); 2] {
    let place = one_after_another(call, parameters);
    let (nodes, ranks) = (place.nodes(), place.per_node().min(place.size()));
    let among = |size, count| Call {
        rank: 0,
        root: 0,
        size,
        count,
        ..*call
    };
    let whole = call.count.saturating_mul(ranks.into());
    [
        (among(nodes, whole), leaders(model, nodes)),
        (among(ranks, call.count), inside(model, ranks)),
    ]
}

/// Gather inside the nodes, and between their leaders.
pub(crate) fn gather_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let [(leaders, far), (node, near)] = blocks_of_nodes(call, parameters, model);
    // The root's node gathers where its blocks belong.
    let between = gather(&leaders, parameters, &far) - model.copy(leaders.bytes());
    between.saturating_add(gather(&node, parameters, &near))
}

/// Scatter to the leaders, and inside the nodes.
pub(crate) fn scatter_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let [(leaders, far), (node, near)] = blocks_of_nodes(call, parameters, model);
    scatter(&leaders, parameters, &far).saturating_add(scatter(&node, parameters, &near))
}

/// The phases of a scan or exscan after that inside the nodes: between the nodes, and back.
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

/// Scan inside the nodes, and what comes from those below.
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

/// Exscan inside the nodes, and what comes from those below.
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

/// What a rank gives the other ranks of its node in the end: so many messages of so many bytes.
fn hand_out(model: &Model, messages: u32, bytes: u64) -> u64 {
    if messages == 0 {
        return 0;
    }
    let path = model.machine.node;
    let each = model.both(Way::Node, bytes).saturating_mul(messages.into());
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

/// Allgather by Bruck's algorithm in lanes.
pub(crate) fn lane_bruck(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let place = full_blocks(call, parameters);
    if place.per_node() == 1 {
        return allgather_bruck(call, parameters, model);
    }
    let lane = Call::allgather(0, place.nodes(), call.bytes());
    let between = lanes(&lane, place, model, |lane, model| {
        allgather_bruck(lane, parameters, model)
    });
    between.saturating_add(in_node(call, place, model))
}

/// Allgather around rings in lanes.
pub(crate) fn lane_ring(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let place = full_nodes(call, parameters);
    if place.per_node() == 1 {
        return ring(call, parameters, model);
    }
    let lane = Call::allgather(0, place.nodes(), call.bytes());
    let between = lanes(&lane, place, model, |lane, model| {
        ring(lane, parameters, model)
    });
    between.saturating_add(in_node(call, place, model))
}

/// The time of all lanes side by side: each leaves the adapter its share.
fn lanes(lane: &Call, place: Placement, model: &Model, time: impl Fn(&Call, &Model) -> u64) -> u64 {
    if place.nodes() == 1 {
        return 0;
    }
    let mut shared = leaders(model, place.nodes());
    let alone = time(lane, &shared);
    let ranks = u64::from(place.per_node());
    let network = model.machine.network;
    shared.machine.network.gap = network.gap.saturating_mul(ranks);
    shared.machine.network.byte = network.byte.saturating_mul(ranks);
    shared.machine.network.send = 0;
    shared.machine.network.recv = 0;
    shared.machine.network.latency = 0;
    let messages = time(lane, &shared);
    alone.max(messages.saturating_add(model.hop(Way::Network, 0)))
}

/// Bcast in lanes, each with a share of the vector: a scatter on the root's node, the lanes side by
/// side, and an allgather inside each node.
fn bcast_in_lanes(
    call: &Call,
    parameters: &Parameters,
    model: &Model,
    time: fn(&Call, &Parameters, &Model) -> u64,
) -> u64 {
    let place = full_nodes(call, parameters);
    if place.per_node() == 1 {
        return time(call, parameters, model);
    }
    let lane = of_lane(call, place);
    let between = lanes(&lane, place, model, |lane, model| {
        time(lane, parameters, model)
    });
    let (ranks, near) = (place.per_node(), inside(model, place.per_node()));
    let window = Parameters {
        window: 8,
        ..Parameters::NONE
    };
    let share = lane.bytes();
    let scattered = scatter_linear(&Call::scatter(0, ranks, 0, share), &window, &near);
    let gathered = linear(&Call::allgather(0, ranks, share), &window, &near);
    between
        .saturating_add(scattered)
        .saturating_add(gathered)
        .saturating_sub(2 * model.copy(share))
}

/// Bcast by trees in lanes.
pub(crate) fn lane_knomial(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    bcast_in_lanes(call, parameters, model, bcast)
}

/// Bcast down chains in lanes.
pub(crate) fn lane_chain(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    bcast_in_lanes(call, parameters, model, chain)
}

/// Bcast over circulant graphs in lanes.
pub(crate) fn lane_circulant(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    bcast_in_lanes(call, parameters, model, pipeline)
}

/// Each rank gives its lane to the others of the node.
fn in_node(call: &Call, place: Placement, model: &Model) -> u64 {
    let lane = call.bytes().saturating_mul(place.nodes().into());
    hand_out(model, place.per_node() - 1, lane)
}

/// Alltoall with one message from node to node.
pub(crate) fn alltoall_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let place = full_blocks(call, parameters);
    let (nodes, ranks) = (place.nodes(), place.per_node());
    if ranks == 1 {
        let copied = model.copy(call.bytes().saturating_mul(2 * u64::from(nodes)));
        return everyone(model, call.bytes(), IN_FLIGHT as u32 / 2).saturating_add(copied);
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
            far: u64::from(ranks.min(nodes - 1)),
            messages: 1,
            bytes: crossing,
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
