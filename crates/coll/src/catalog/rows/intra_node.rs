//! The rows of algorithms that use intra-node operations: see
//! [`IntraNodeOp`](crate::plan::IntraNodeOp).

use crate::call::{Call, Collective, Needs, Parameters, SharedMemory};
use crate::catalog::CatalogRow;
use crate::cost;
use crate::hierarchy::{IntraNodeAllreduce, IntraNodeBcast, IntraNodeReduce, one_after_another};
use crate::tree::{self, TreePlace};

/// The row of algorithms with an operation inside each node and trees between the node leaders.
const ON_NODES: CatalogRow = Collective::Bcast
    .row("intra-node", cost::bcast_intra_node)
    .on_nodes(true)
    .about("intra-node operations over shared memory; trees between nodes")
    .needs(Needs::NOTHING.with_shared_memory(SharedMemory::OnNodes))
    .parameters(Parameters::NONE.with_radix(4).with_per_node(1))
    .rounds(IntraNodeBcast::rounds);

/// The row of algorithms that are one operation of all ranks, on one node.
const ON_ONE: CatalogRow = Collective::Allgather
    .row("intra-node", cost::within_node)
    .on_nodes(true)
    .about("one intra-node operation over shared memory: all ranks on one node")
    .needs(Needs::NOTHING.with_shared_memory(SharedMemory::All))
    .rounds(|_, _| 0);

/// The rounds of a tree between node leaders.
fn between(call: &Call, parameters: &Parameters) -> u64 {
    let nodes = one_after_another(call, parameters).nodes();
    tree::KnomialPlace::most_rounds(nodes, parameters)
}

pub(crate) const BCAST: CatalogRow = ON_NODES;

pub(crate) const REDUCE: CatalogRow = CatalogRow {
    collective: Collective::Reduce,
    rounds: IntraNodeReduce::rounds,
    cost: cost::reduce_intra_node,
    ..ON_NODES
};

pub(crate) const ALLREDUCE: CatalogRow = CatalogRow {
    collective: Collective::Allreduce,
    about: "intra-node operations over shared memory; recursive splitting between nodes",
    needs: ON_NODES
        .needs
        .with_max_radix(crate::allreduce::RECURSIVE_SPLITTING_MAX_RADIX),
    rounds: IntraNodeAllreduce::rounds,
    cost: cost::allreduce_intra_node,
    ..ON_NODES
};

pub(crate) const GATHER: CatalogRow = CatalogRow {
    collective: Collective::Gather,
    rounds: between,
    cost: cost::gather_intra_node,
    ..ON_NODES
};

pub(crate) const SCATTER: CatalogRow = CatalogRow {
    collective: Collective::Scatter,
    rounds: between,
    cost: cost::scatter_intra_node,
    ..ON_NODES
};

pub(crate) const ALLGATHER: CatalogRow = ON_ONE;

pub(crate) const ALLTOALL: CatalogRow = CatalogRow {
    collective: Collective::Alltoall,
    ..ON_ONE
};

pub(crate) const REDUCE_SCATTER_BLOCK: CatalogRow = CatalogRow {
    collective: Collective::ReduceScatterBlock,
    ..ON_ONE
};
