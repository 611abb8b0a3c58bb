//! The cost of algorithms in rails: every rank of a node exchanges with the ranks of the same number on
//! other nodes.

use super::exchanges::{
    allgather_bruck, allreduce_circulant_in_rails, reduce_scatter_circulant_in_rails,
};
use super::nodes::{among, in_node, inside, leaders};
use super::{
    Model, Reach, allreduce_circulant, bcast, chain, linear, pipeline, reduce_scatter_circulant,
    reduce_scatter_pairwise, ring, scatter_linear,
};
use crate::call::{Call, Parameters};
use crate::circulant::Pipeline;
use crate::hierarchy::{
    full_blocks, full_nodes, nodes_in_rails, of_rail, rails, rails_of_one, ranks_on_full_nodes,
};

/// Allgather by Bruck's algorithm in rails.
pub(crate) fn rail_bruck(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let place = full_blocks(call, parameters);
    if place.per_node() == 1 {
        return allgather_bruck(call, parameters, model);
    }
    let rail = Call::allgather(0, place.nodes(), call.bytes());
    let between = side_by_side(&rail, [place.per_node(), 1], model, |rail, model| {
        allgather_bruck(rail, parameters, model)
    });
    between.saturating_add(in_node(call, place, model))
}

/// Allgather around rings in rails.
pub(crate) fn rail_ring(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let place = full_nodes(call, parameters);
    if place.per_node() == 1 {
        return ring(call, parameters, model);
    }
    let rail = Call::allgather(0, place.nodes(), call.bytes());
    let between = side_by_side(&rail, [place.per_node(), 1], model, |rail, model| {
        ring(rail, parameters, model)
    });
    between.saturating_add(in_node(call, place, model))
}

/// The time of `all` rails at the same time, each of which leaves the adapter its share; a rank of the
/// last node is in `of_one`.
fn side_by_side(
    rail: &Call,
    [all, of_one]: [u32; 2],
    model: &Model,
    time: impl Fn(&Call, &Model) -> u64,
) -> u64 {
    let [alone, all] = beside(rail, [all, of_one], model, time);
    alone.max(all)
}

/// [`side_by_side`] apart for a rank whose rail has the adapters alone, and for the adapters.
fn beside(
    rail: &Call,
    [all, of_one]: [u32; 2],
    model: &Model,
    time: impl Fn(&Call, &Model) -> u64,
) -> [u64; 2] {
    if rail.size == 1 {
        return [0; 2];
    }
    let mut busiest = leaders(model, rail.size);
    let network = model.machine.network;
    busiest.machine.network.send = network.send.saturating_mul(of_one.into());
    busiest.machine.network.recv = network.recv.saturating_mul(of_one.into());
    let alone = time(rail, &busiest);
    let mut shared = leaders(model, rail.size);
    shared.machine.network.gap = network.gap.saturating_mul(all.into());
    shared.machine.network.byte = network.byte.saturating_mul(all.into());
    shared.machine.network.send = 0;
    shared.machine.network.recv = 0;
    shared.machine.network.latency = 0;
    let messages = time(rail, &shared);
    [alone, messages.saturating_add(model.hop(Reach::Network, 0))]
}

/// Reduce-scatter inside the nodes in pairs, then over the circulant graph in rails.
pub(crate) fn reduce_scatter_rail_circulant(
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
    let rail = among(call, nodes, call.count);
    let between = side_by_side(&rail, [ranks, 1], model, reduce_scatter_circulant_in_rails);
    reduce_scatter_pairwise(&node, parameters, &inside(model, ranks)).saturating_add(between)
}

/// Allreduce in rails, with the ranks of a partly filled last node folded onto those of another. Their
/// partners are late; short messages of other ranks have arrived by then and are copied once more.
pub(crate) fn allreduce_rail_circulant(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let ranks_on_full_nodes = ranks_on_full_nodes(call, parameters);
    let others = allreduce_in_rails(
        &among(call, ranks_on_full_nodes, call.count),
        parameters,
        model,
    );
    match (call.size - ranks_on_full_nodes).checked_sub(1) {
        None => others,
        Some(more) => {
            let bytes = call.bytes();
            let visit = model
                .hop(Reach::Network, bytes)
                .saturating_add(model.load(bytes).saturating_mul(more.into()));
            let found = model.copy(bytes.min(model.machine.eager.saturating_mul(2)));
            let late = visit
                .saturating_add(model.reduce(bytes))
                .saturating_add(found.saturating_mul(2));
            late.saturating_add(others).saturating_add(visit)
        }
    }
}

/// Allreduce in rails: a reduce-scatter inside the nodes, an allreduce of each rail's share, an allgather
/// inside.
fn allreduce_in_rails(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let place = full_nodes(call, parameters);
    let (nodes, ranks) = (place.nodes(), place.per_node());
    if ranks == 1 {
        return allreduce_circulant(call, parameters, model);
    }
    let share = call.count.div_ceil(ranks.into());
    let rail = among(call, nodes, share);
    let between = side_by_side(&rail, [ranks, 1], model, allreduce_circulant_in_rails);
    // Inside a node shares go around once to be reduced and once to be gathered.
    let near = allreduce_circulant(
        &among(call, ranks, call.count),
        parameters,
        &inside(model, ranks),
    );
    near.saturating_add(between)
}

/// Bcast in rails, each with a share of the vector: a scatter on the root's node, the rails at the same
/// time, and an allgather inside each node. `between` gives the times of the rails on a number of nodes:
/// of one rail alone, and of all at the adapters.
fn bcast_in_rails(
    call: &Call,
    parameters: &Parameters,
    model: &Model,
    between: impl Fn(&Call, [u32; 2]) -> [u64; 2],
    is_chain: bool,
) -> u64 {
    let place = nodes_in_rails(call, parameters);
    let rail = of_rail(call, place);
    let window = Parameters::NONE.with_window(8);
    let (most, share) = (place.ranks_on(0), rail.bytes());
    let scatter = Call::scatter(0, most, 0, share);
    let scattered = scatter_linear(&scatter, &window, &inside(model, most));
    let blocks = u64::from(parameters.blocks).clamp(1, rail.count.max(1));
    let others = model
        .load(share.div_ceil(blocks))
        .saturating_mul((rails(place) - 1).into());
    let done = |node, size| {
        let (ranks, of_one) = (place.ranks_on(node), rails_of_one(place, node));
        let bytes = share.saturating_mul(of_one.into());
        let gather = Call::allgather(0, ranks, bytes);
        let exchanged =
            linear(&gather, &window, &inside(model, ranks)).saturating_sub(model.copy(bytes));
        let [alone, carried] = between(&Call { size, ..rail }, [rails(place), of_one]);
        let (first, last) = (
            alone.max(carried.saturating_sub(others)),
            alone.max(carried),
        );
        let gathered = match bytes > model.machine.eager {
            true => last.saturating_add(exchanged),
            false => {
                let sent = model.send(Reach::Node, bytes).saturating_mul(ranks.into());
                let of_last = sent
                    .saturating_add(model.hop(Reach::Node, bytes))
                    .min(exchanged);
                (first.saturating_add(exchanged)).max(last.saturating_add(of_last))
            }
        };
        gathered.saturating_add(scattered.saturating_sub(model.copy(share)))
    };
    let is_even = place.on_last_node() == most;
    let before = u32::from(is_chain && !is_even);
    done(place.nodes() - 1, place.nodes()).max(done(0, place.nodes() - before))
}

/// Bcast along trees in rails.
pub(crate) fn rail_knomial(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    if nodes_in_rails(call, parameters).ranks_on(0) == 1 {
        return bcast(call, parameters, model);
    }
    let tree = |rail: &Call, model: &Model| bcast(rail, parameters, model);
    let between = |rail: &Call, numbers| beside(rail, numbers, model, tree);
    bcast_in_rails(call, parameters, model, between, false)
}

/// Bcast along chains in rails. A node forwards the data of one rail while those of the others arrive.
pub(crate) fn rail_chain(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    if nodes_in_rails(call, parameters).ranks_on(0) == 1 {
        return chain(call, parameters, model);
    }
    let between = |rail: &Call, [all, of_one]: [u32; 2]| {
        if rail.size == 1 {
            return [0; 2];
        }
        let blocks = u64::from(parameters.blocks).min(rail.count).max(1);
        let bytes = rail.bytes().div_ceil(blocks);
        let carried = model.load(bytes).saturating_mul(all.into());
        let taken = (model.receive(Reach::Network, bytes)).saturating_mul(of_one.into());
        let hops = u64::from(rail.size - 1).saturating_mul(model.hop(Reach::Network, bytes));
        let [taken, all] =
            [taken, carried].map(|each| hops.saturating_add(each.saturating_mul(blocks)));
        let alone = chain(rail, parameters, &leaders(model, rail.size));
        [alone.max(taken), all]
    };
    bcast_in_rails(call, parameters, model, between, true)
}

/// Bcast over circulant graphs in rails.
pub(crate) fn rail_circulant(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    if nodes_in_rails(call, parameters).ranks_on(0) == 1 {
        return pipeline(call, parameters, model);
    }
    let graph = |rail: &Call, model: &Model| pipeline(rail, parameters, model);
    // A rank in several rails does a round of all of them before the next round.
    let in_sequence = |rail: &Call, of_one: u32| {
        let blocks = u64::from(parameters.blocks).min(rail.count).max(1);
        let bytes = rail.bytes().div_ceil(blocks);
        let each = (model.both(Reach::Network, bytes)).max(model.load_both_directions(bytes));
        let others = each.saturating_mul(u64::from(of_one) - 1);
        let round = model.hop(Reach::Network, bytes).saturating_add(others);
        round.saturating_mul(Pipeline::rounds_of(rail, parameters))
    };
    let between = |rail: &Call, [all, of_one]: [u32; 2]| {
        let [alone, all] = beside(rail, [all, 1], model, graph);
        match of_one {
            1 => [alone, all],
            _ => [alone.max(in_sequence(rail, of_one)), all],
        }
    };
    bcast_in_rails(call, parameters, model, between, false)
}
