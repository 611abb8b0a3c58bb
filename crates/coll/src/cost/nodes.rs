//! Algorithms that know which ranks are on one node.

use super::direct::everyone;
use super::exchanges::{
    allgather_bruck, allreduce_circulant_in_lanes, reduce_scatter_circulant_in_lanes,
};
use super::folded::among_leaders;
use super::round::Round;
use super::rounds::Rounds;
use super::trees::{gather_in_place, is_short, postal_down, postal_up, with_length};
use super::{
    Cost, Model, Way, allreduce_circulant, allreduce_splitting, barrier_knomial, bcast, chain,
    dissemination, exscan_doubling, gather, gather_linear, linear, pipeline, reduce,
    reduce_scatter_circulant, reduce_scatter_pairwise, ring, scan, scatter, scatter_linear,
};
use crate::catalog::{Call, Collective, Parameters};
use crate::circulant::Pipeline;
use crate::exec::IN_FLIGHT;
use crate::hierarchy::{
    Nodes, full_blocks, full_nodes, hosts, lanes, lanes_of_one, nodes_in_lanes, of_lane,
    one_after_another,
};
use crate::placement::{Order, Placement};

/// One rank of each node, which has the adapter to itself.
fn leaders(model: &Model, nodes: u32) -> Model {
    Model {
        place: Placement::new(Order::Block, nodes, 1),
        ..*model
    }
}

/// The ranks of one node.
pub(super) fn inside(model: &Model, ranks: u32) -> Model {
    Model {
        place: Placement::new(Order::Block, ranks, ranks),
        ..*model
    }
}

/// The call of so many elements among so many ranks.
fn among(call: &Call, size: u32, count: u64) -> Call {
    Call {
        rank: 0,
        root: 0,
        size,
        count,
        ..*call
    }
}

/// A phase: its call, and who takes part.
type Phase = (Call, Model);

/// The same call among the leaders, on a node with the most ranks, and on the last one.
fn phases(call: &Call, parameters: &Parameters, model: &Model) -> [Phase; 3] {
    let nodes = Nodes::of(call, parameters);
    let among = |size| among(call, size, call.count);
    let node = |ranks| (among(ranks), inside(model, ranks));
    [
        (among(nodes.count()), leaders(model, nodes.count())),
        node(nodes.most()),
        node(nodes.fewest()),
    ]
}

/// When the leaders of two nodes have each other's message of so many bytes, each from when it is
/// ready: the last node, which may have fewer ranks, is ready first. A long message begins when both are.
fn meet(far: &Model, bytes: u64, ready: [u64; 2]) -> [u64; 2] {
    if bytes > far.machine.eager {
        let both = ready[0].max(ready[1]);
        return [both.saturating_add(far.hop(Way::Network, bytes)); 2];
    }
    let (send, receive) = (
        far.send(Way::Network, bytes),
        far.receive(Way::Network, bytes),
    );
    let comes = far.hop(Way::Network, bytes) - receive;
    let done = |own: u64, other: u64| {
        let both = own.saturating_add(send).max(other.saturating_add(comes));
        both.saturating_add(receive)
    };
    [done(ready[0], ready[1]), done(ready[1], ready[0])]
}

/// When the later of two nodes is done, whose ranks have so much to do after their leaders.
fn later(leaders: [u64; 2], ranks: [u64; 2]) -> u64 {
    let done = |node: usize| leaders[node].saturating_add(ranks[node]);
    done(0).max(done(1))
}

/// When the leaders of two nodes go on, the first of which sends to the other: a short message is done
/// at once.
fn given(far: &Model, bytes: u64) -> [u64; 2] {
    let hop = far.hop(Way::Network, bytes);
    match bytes > far.machine.eager {
        true => [hop; 2],
        false => [far.send(Way::Network, bytes), hop],
    }
}

/// When the root's node is done that has so much to do, and one more with fewer ranks: its leader's
/// message comes meanwhile, or not much later.
fn taken(far: &Model, bytes: u64, [home, there]: [u64; 2]) -> u64 {
    let receive = far.receive(Way::Network, bytes);
    let comes = far.hop(Way::Network, bytes) - receive;
    home.max(there.saturating_add(comes))
        .saturating_add(receive)
}

/// Barrier by leaders, with trees inside the nodes.
pub(crate) fn barrier_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let [(leaders, far), node, last] = phases(call, parameters, model);
    let way = [node, last].map(|(call, near)| barrier_knomial(&call, parameters, &near) / 2);
    match leaders.size {
        2 => later(meet(&far, 0, way), way),
        _ => 2 * way[0] + dissemination(&leaders, parameters, &far),
    }
}

/// Bcast to the leaders, and inside the nodes, down k-nomial trees.
pub(crate) fn bcast_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    down_nodes([bcast; 2], call, parameters, model)
}

/// The same down postal trees.
pub(crate) fn bcast_postal(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    down_nodes([postal_down; 2], call, parameters, model)
}

/// From the root to the leaders, and inside the nodes.
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

/// Reduce inside the nodes, and to the leaders, up k-nomial trees.
pub(crate) fn reduce_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    up_nodes([reduce; 2], call, parameters, model)
}

/// The same up postal trees.
pub(crate) fn reduce_postal(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    up_nodes([postal_up; 2], call, parameters, model)
}

/// Inside the nodes, and from the leaders to the root.
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
        // A long message begins when there is room for it: nothing is to be reduced any more.
        2 if bytes > model.machine.eager => {
            let hop = far.hop(Way::Network, bytes);
            up[0].max(up[1]).saturating_add(hop).saturating_add(merged)
        }
        2 => taken(&far, bytes, up).saturating_add(merged),
        _ => between(&leaders, parameters, &far).saturating_add(up[0]),
    }
}

/// Allreduce by leaders, with k-nomial trees up and down inside the nodes, and recursive doubling between
/// them.
pub(crate) fn allreduce_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let among = |(leaders, far): &Phase, _| among_leaders(leaders, far);
    by_leaders([reduce, bcast], among, call, parameters, model)
}

/// The same with postal trees, and recursive splitting.
pub(crate) fn allreduce_postal(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let among = |(leaders, far): &Phase, are_equal: bool| {
        // Who begins earlier than others has long messages under way when these ask for theirs: that waits.
        let messages = u64::from(parameters.radix.min(leaders.size) - 1);
        let waits = match call.bytes() > far.machine.eager && !are_equal {
            true => far.load(call.bytes()).saturating_mul(messages),
            false => 0,
        };
        [allreduce_splitting(leaders, parameters, far).saturating_add(waits); 2]
    };
    by_leaders([postal_up, postal_down], among, call, parameters, model)
}

/// Allreduce by leaders, with trees up and down inside the nodes. Of more than two leaders, of nodes with
/// equally many ranks or not, `among` says when the last one is done, and when all others are.
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
            let met = meet(&between.1, call.bytes(), up);
            later(met, down).saturating_add(model.reduce(call.bytes()))
        }
        _ => {
            let [last, others] = among(&between, node.0.size == last.0.size);
            up[0].saturating_add(later([others, last], down))
        }
    }
}

/// The call of trees on blocks between the nodes, each with the blocks of its ranks, and inside a node
/// with the most ranks and the last one, each with who takes part.
fn blocks_of_nodes(call: &Call, parameters: &Parameters, model: &Model) -> [Phase; 3] {
    let place = one_after_another(call, parameters);
    let (nodes, ranks) = (place.nodes(), place.per_node().min(place.size()));
    let last = place.size() - (nodes - 1) * ranks;
    // Of two nodes only the last one's blocks go from one to the other.
    let carried = if nodes == 2 { last } else { ranks };
    let whole = call.count.saturating_mul(carried.into());
    let node = |ranks| (among(call, ranks, call.count), inside(model, ranks));
    [
        (among(call, nodes, whole), leaders(model, nodes)),
        node(ranks),
        node(last),
    ]
}

/// Gather inside the nodes, and between their leaders.
pub(crate) fn gather_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    gather_by_leaders(gather, call, parameters, model)
}

/// The same with another gather inside.
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
    // The root's node gathers where its blocks belong.
    let between = gather_in_place(&leaders, parameters, &far);
    between.saturating_add(up[0])
}

/// Scatter to the leaders, and inside the nodes.
pub(crate) fn scatter_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    scatter_by_leaders(scatter, call, parameters, model)
}

/// The same with another scatter inside.
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

/// Gatherv up a tree of nodes; a block beyond the cutoff goes straight.
pub(crate) fn gatherv_node_aware(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    match is_short(call, parameters) {
        true => gather_node_aware(call, &through_tree(parameters), model),
        false => gather_linear(call, parameters, model),
    }
}

/// Scatterv down a tree of nodes, with each block's length; a block beyond the cutoff goes straight.
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

/// Parameters by which blocks go through a tree, however many a message has.
const fn through_tree(parameters: &Parameters) -> Parameters {
    Parameters {
        cutoff: 0,
        ..*parameters
    }
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
    let between = side_by_side(&lane, [place.per_node(), 1], model, |lane, model| {
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
    let between = side_by_side(&lane, [place.per_node(), 1], model, |lane, model| {
        ring(lane, parameters, model)
    });
    between.saturating_add(in_node(call, place, model))
}

/// The time of so many lanes side by side: each leaves the adapter its share, and a rank of the last node
/// is in some of them.
fn side_by_side(
    lane: &Call,
    [all, of_one]: [u32; 2],
    model: &Model,
    time: impl Fn(&Call, &Model) -> u64,
) -> u64 {
    let [alone, all] = beside(lane, [all, of_one], model, time);
    alone.max(all)
}

/// The same for a rank whose lane is alone at the adapters, and for the adapters.
fn beside(
    lane: &Call,
    [all, of_one]: [u32; 2],
    model: &Model,
    time: impl Fn(&Call, &Model) -> u64,
) -> [u64; 2] {
    if lane.size == 1 {
        return [0; 2];
    }
    let mut busiest = leaders(model, lane.size);
    let network = model.machine.network;
    busiest.machine.network.send = network.send.saturating_mul(of_one.into());
    busiest.machine.network.recv = network.recv.saturating_mul(of_one.into());
    let alone = time(lane, &busiest);
    let mut shared = leaders(model, lane.size);
    shared.machine.network.gap = network.gap.saturating_mul(all.into());
    shared.machine.network.byte = network.byte.saturating_mul(all.into());
    shared.machine.network.send = 0;
    shared.machine.network.recv = 0;
    shared.machine.network.latency = 0;
    let messages = time(lane, &shared);
    [alone, messages.saturating_add(model.hop(Way::Network, 0))]
}

/// Reduce-scatter inside the nodes in pairs, a lane's blocks for each rank, and over the circulant graph
/// in lanes.
pub(crate) fn reduce_scatter_lane_circulant(
    call: &Call,
    parameters: &Parameters,
    model: &Model,
) -> u64 {
    let place = full_nodes(call, parameters);
    let (nodes, ranks) = (place.nodes(), place.per_node());
    if ranks == 1 {
        return reduce_scatter_circulant(call, parameters, model);
    }
    let node = among(call, ranks, call.count.saturating_mul(nodes.into()));
    let lane = among(call, nodes, call.count);
    let between = side_by_side(&lane, [ranks, 1], model, reduce_scatter_circulant_in_lanes);
    reduce_scatter_pairwise(&node, parameters, &inside(model, ranks)).saturating_add(between)
}

/// Allreduce in lanes, before and after which the ranks of a last node that is filled in part visit those
/// of another. A host is late: there and back the halves of a vector, quarters and so on have come before
/// it asks for them, if they are short, and are copied once more.
pub(crate) fn allreduce_lane_circulant(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let hosts = hosts(call, parameters);
    let others = allreduce_in_lanes(&among(call, hosts, call.count), parameters, model);
    match (call.size - hosts).checked_sub(1) {
        None => others,
        Some(more) => {
            let bytes = call.bytes();
            let visit = model
                .hop(Way::Network, bytes)
                .saturating_add(model.load(bytes).saturating_mul(more.into()));
            let found = model.copy(bytes.min(model.machine.eager.saturating_mul(2)));
            let late = visit
                .saturating_add(model.reduce(bytes))
                .saturating_add(found.saturating_mul(2));
            late.saturating_add(others).saturating_add(visit)
        }
    }
}

/// Allreduce in lanes: a reduce-scatter inside the nodes, an allreduce of each lane's share, and an allgather
/// inside, all over circulant graphs.
fn allreduce_in_lanes(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let place = full_nodes(call, parameters);
    let (nodes, ranks) = (place.nodes(), place.per_node());
    if ranks == 1 {
        return allreduce_circulant(call, parameters, model);
    }
    let share = call.count.div_ceil(ranks.into());
    let lane = among(call, nodes, share);
    let between = side_by_side(&lane, [ranks, 1], model, allreduce_circulant_in_lanes);
    // In the node shares go around once to be reduced, and once to be gathered.
    let near = allreduce_circulant(
        &among(call, ranks, call.count),
        parameters,
        &inside(model, ranks),
    );
    near.saturating_add(between)
}

/// Bcast in lanes, each with a share of the vector: a scatter on the root's node, the lanes side by side,
/// and an allgather inside each node. `between` says when so many nodes have what goes through a lane
/// alone, and what goes through all at the adapters, with those that a rank of the last node is in; where
/// that is a chain a last node of fewer ranks is the end.
///
/// A node's ranks tell one another short shares while those of other lanes still come.
fn bcast_in_lanes(
    call: &Call,
    parameters: &Parameters,
    model: &Model,
    between: impl Fn(&Call, [u32; 2]) -> [u64; 2],
    is_chain: bool,
) -> u64 {
    let place = nodes_in_lanes(call, parameters);
    let lane = of_lane(call, place);
    let window = Parameters {
        window: 8,
        ..Parameters::NONE
    };
    let (most, share) = (place.ranks_on(0), lane.bytes());
    let scatter = Call::scatter(0, most, 0, share);
    let scattered = scatter_linear(&scatter, &window, &inside(model, most));
    let blocks = u64::from(parameters.blocks).clamp(1, lane.count.max(1));
    let others = model
        .load(share.div_ceil(blocks))
        .saturating_mul((lanes(place) - 1).into());
    let done = |node, size| {
        let (ranks, of_one) = (place.ranks_on(node), lanes_of_one(place, node));
        let bytes = share.saturating_mul(of_one.into());
        let gather = Call::allgather(0, ranks, bytes);
        let told =
            linear(&gather, &window, &inside(model, ranks)).saturating_sub(model.copy(bytes));
        let [alone, carried] = between(&Call { size, ..lane }, [lanes(place), of_one]);
        let (first, last) = (
            alone.max(carried.saturating_sub(others)),
            alone.max(carried),
        );
        let gathered = match bytes > model.machine.eager {
            true => last.saturating_add(told),
            false => {
                let sent = model.send(Way::Node, bytes).saturating_mul(ranks.into());
                let of_last = sent.saturating_add(model.hop(Way::Node, bytes)).min(told);
                (first.saturating_add(told)).max(last.saturating_add(of_last))
            }
        };
        gathered.saturating_add(scattered.saturating_sub(model.copy(share)))
    };
    let is_even = place.on_last_node() == most;
    let before = u32::from(is_chain && !is_even);
    done(place.nodes() - 1, place.nodes()).max(done(0, place.nodes() - before))
}

/// Bcast by trees in lanes.
pub(crate) fn lane_knomial(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    if nodes_in_lanes(call, parameters).ranks_on(0) == 1 {
        return bcast(call, parameters, model);
    }
    let tree = |lane: &Call, model: &Model| bcast(lane, parameters, model);
    let between = |lane: &Call, numbers| beside(lane, numbers, model, tree);
    bcast_in_lanes(call, parameters, model, between, false)
}

/// Bcast down chains in lanes. What comes to a node in one lane leaves it while the others come.
pub(crate) fn lane_chain(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    if nodes_in_lanes(call, parameters).ranks_on(0) == 1 {
        return chain(call, parameters, model);
    }
    let between = |lane: &Call, [all, of_one]: [u32; 2]| {
        if lane.size == 1 {
            return [0; 2];
        }
        let blocks = u64::from(parameters.blocks).min(lane.count).max(1);
        let bytes = lane.bytes().div_ceil(blocks);
        let carried = model.load(bytes).saturating_mul(all.into());
        let taken = (model.receive(Way::Network, bytes)).saturating_mul(of_one.into());
        let hops = u64::from(lane.size - 1).saturating_mul(model.hop(Way::Network, bytes));
        let [taken, all] =
            [taken, carried].map(|each| hops.saturating_add(each.saturating_mul(blocks)));
        let alone = chain(lane, parameters, &leaders(model, lane.size));
        [alone.max(taken), all]
    };
    bcast_in_lanes(call, parameters, model, between, true)
}

/// Bcast over circulant graphs in lanes.
pub(crate) fn lane_circulant(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    if nodes_in_lanes(call, parameters).ranks_on(0) == 1 {
        return pipeline(call, parameters, model);
    }
    let graph = |lane: &Call, model: &Model| pipeline(lane, parameters, model);
    // Who is in several lanes does a round of all of them before the next one.
    let in_turn = |lane: &Call, of_one: u32| {
        let blocks = u64::from(parameters.blocks).min(lane.count).max(1);
        let bytes = lane.bytes().div_ceil(blocks);
        let each = (model.both(Way::Network, bytes)).max(model.load_both_ways(bytes));
        let others = each.saturating_mul(u64::from(of_one) - 1);
        let round = model.hop(Way::Network, bytes).saturating_add(others);
        round.saturating_mul(Pipeline::rounds_of(lane, parameters))
    };
    let between = |lane: &Call, [all, of_one]: [u32; 2]| {
        let [alone, all] = beside(lane, [all, 1], model, graph);
        match of_one {
            1 => [alone, all],
            _ => [alone.max(in_turn(lane, of_one)), all],
        }
    };
    bcast_in_lanes(call, parameters, model, between, false)
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
