//! The rows of algorithms that serve several collectives: blocks of one length or of any lengths, and
//! all neighbourhood collectives.

use super::rounds::exchanges;
use crate::call::{Collective, Needs, Parameters};
use crate::catalog::CatalogRow;
use crate::digits::Digits;
use crate::{cost, gather, hierarchy, reduce_scatter};

/// The most ranks of a node that share one incoming message: all, on nodes of ordinary size.
const SHARED: u32 = 64;

/// The parameters of multirail phases, with the radix inside a node.
pub(crate) const MULTIRAIL: Parameters = Parameters::NONE
    .with_radix(2)
    .with_blocks(SHARED)
    .with_per_node(1);

pub(crate) const fn gather_linear(collective: Collective) -> CatalogRow {
    collective
        .row("linear", cost::gather_linear)
        .about("each block directly to its receiver, at the root's pace: for large blocks")
        .parameters(Parameters::NONE.with_window(8))
        .rounds(gather::GatherLinear::rounds)
}

pub(crate) const fn scatter_linear(collective: Collective) -> CatalogRow {
    collective
        .row("linear", cost::scatter_linear)
        .about("each block directly to its receiver, at the root's pace: for large blocks")
        .parameters(Parameters {
            window: 8,
            // With blocks of any lengths only the root knows whether they are eager.
            per_node: matches!(collective, Collective::Scatter) as u32,
            ..Parameters::NONE
        })
        .rounds(|call, _| u64::from(call.size - 1))
}

pub(crate) const fn allgather_bruck(collective: Collective) -> CatalogRow {
    collective
        .row("bruck", cost::allgather_bruck)
        .about("fewest rounds and least volume for every number of ranks")
        .parameters(Parameters::NONE.with_radix(2))
        .rounds(|call, parameters| Digits::new(call.size, parameters.radix).exchanges().into())
}

pub(crate) const fn allgather_ring(collective: Collective) -> CatalogRow {
    collective
        .row("ring", cost::ring)
        .about("least volume between neighbours, many rounds: for large blocks")
        .parameters(Parameters {
            // Not every rank of an allgatherv knows how long the blocks are.
            blocks: matches!(collective, Collective::Allgather) as u32,
            per_node: 1,
            ..Parameters::NONE
        })
        .rounds(|call, parameters| u64::from(call.size - 1) * u64::from(parameters.blocks.max(1)))
}

pub(crate) const fn allgather_linear(collective: Collective) -> CatalogRow {
    collective
        .row("linear", cost::linear)
        .about(
            "each block directly to its receiver, no message waits for another: for large blocks",
        )
        .parameters(Parameters::NONE.with_window(8))
        .rounds(|call, _| u64::from(call.size - 1))
}

pub(crate) const fn allgather_circulant(collective: Collective) -> CatalogRow {
    collective
        .row("circulant", cost::allgather_circulant)
        .about("fewest rounds and least volume for every number of ranks")
}

pub(crate) const fn allgather_node_aware(collective: Collective) -> CatalogRow {
    collective
        .row("node-aware", cost::allgather_node_aware)
        .on_nodes(true)
        .about(
            "fewest phases between nodes: all ranks of a node talk to others, then among \
             themselves",
        )
        .parameters(MULTIRAIL)
        .rounds(hierarchy::NodeBruck::rounds)
}

pub(crate) const fn alltoall_pairwise(collective: Collective) -> CatalogRow {
    collective
        .row("pairwise", cost::alltoall_pairwise)
        .about("least volume, one exchange at a time: for large blocks")
        .rounds(|call, _| exchanges(call))
}

pub(crate) const fn alltoall_linear(collective: Collective) -> CatalogRow {
    collective
        .row("linear", cost::alltoall_linear)
        .about("least volume, a window of exchanges at a time")
        .parameters(Parameters::NONE.with_window(16).with_per_node(1))
        .rounds(|call, _| u64::from(call.size - 1) * (1 + u64::from(call.in_place)))
}

pub(crate) const fn neighbors(collective: Collective) -> CatalogRow {
    collective
        .row("linear", cost::neighbors)
        .about("a message for each neighbour, a window of them at a time")
        .parameters(Parameters::NONE.with_window(16))
        .rounds(|call, _| u64::from(call.sources) + u64::from(call.destinations))
}

pub(crate) const fn reduce_scatter_circulant(collective: Collective) -> CatalogRow {
    collective
        .row("circulant", cost::reduce_scatter_circulant)
        .about("fewest rounds and, for equal blocks, least volume; the operation must commute")
        .needs(Needs::COMMUTATIVE)
}

pub(crate) const fn reduce_scatter_halving(collective: Collective) -> CatalogRow {
    collective
        .row("halving", cost::reduce_scatter_halving)
        .about("fewest rounds and least volume for powers of two; the operation must commute")
        .needs(Needs::COMMUTATIVE.with_power_of_two(true))
}

pub(crate) const fn reduce_scatter_pairwise(collective: Collective) -> CatalogRow {
    collective
        .row("pairwise", cost::reduce_scatter_pairwise)
        .about("least volume, many rounds, in rank order")
        .needs(Needs::NOTHING.with_max_size(reduce_scatter::PAIRWISE_MAX_SIZE))
        .rounds(|call, _| u64::from(call.size - 1))
}

pub(crate) const fn reduce_scatter_node_aware(collective: Collective) -> CatalogRow {
    collective
        .row("node-aware", cost::reduce_scatter_node_aware)
        .on_nodes(true)
        .about(
            "fewest phases between nodes: all ranks of a node talk to others; the operation must \
             commute",
        )
        .needs(Needs::COMMUTATIVE)
        .parameters(MULTIRAIL)
        .rounds(hierarchy::NodeReduceScatter::rounds)
}
