//! The rows of algorithms that know which ranks share a node: see [`hierarchy`].

use super::rounds::{chain, doubled, in_rails, scattered_in_rails};
use super::several::MULTIRAIL;
use crate::call::{Call, Collective, Needs, Parameters};
use crate::catalog::CatalogRow;
use crate::hierarchy::{full_nodes, ranks_on_full_nodes};
use crate::tree::{self, TreePlace, levels};
use crate::{allreduce, bcast, circulant, cost, hierarchy, long_blocks};

/// k-nomial trees between nodes and inside them.
const TREES: Parameters = Parameters::NONE.with_radix(4).with_per_node(1);

/// The same for blocks of any lengths, of which long ones bypass the tree.
const IRREGULAR_TREES: Parameters = TREES.with_window(8).with_cutoff(16 << 10);

pub(crate) const BARRIER: CatalogRow = CatalogRow {
    collective: Collective::Barrier,
    name: "node-aware",
    about: "dissemination between nodes, trees inside: only node leaders talk between nodes",
    needs: Needs::NOTHING,
    parameters: TREES,
    rounds: hierarchy::Barrier::rounds,
    cost: cost::barrier_node_aware,
};

pub(crate) const GATHER: CatalogRow = CatalogRow {
    collective: Collective::Gather,
    name: "node-aware",
    about: "one message leaves each node; trees inside and between nodes",
    needs: Needs::NOTHING,
    parameters: TREES,
    rounds: hierarchy::NodeTree::rounds,
    cost: cost::gather_node_aware,
};

pub(crate) const SCATTER: CatalogRow = CatalogRow {
    collective: Collective::Scatter,
    name: "node-aware",
    about: "one message enters each node; trees between nodes and inside",
    needs: Needs::NOTHING,
    parameters: TREES,
    rounds: hierarchy::NodeTree::rounds,
    cost: cost::scatter_node_aware,
};

pub(crate) const GATHERV: CatalogRow = CatalogRow {
    collective: Collective::Gatherv,
    name: "node-aware",
    about: "short blocks through trees inside and between nodes, one message from each; long ones directly",
    needs: Needs::NOTHING.with_max_radix(long_blocks::MAX_RADIX),
    parameters: IRREGULAR_TREES,
    rounds: hierarchy::NodeTree::rounds,
    cost: cost::gatherv_node_aware,
};

pub(crate) const SCATTERV: CatalogRow = CatalogRow {
    collective: Collective::Scatterv,
    name: "node-aware",
    about: "short blocks through trees between and inside nodes, one message to each; long ones directly",
    needs: Needs::NOTHING.with_max_radix(long_blocks::MAX_RADIX),
    parameters: IRREGULAR_TREES,
    rounds: hierarchy::NodeTree::rounds,
    cost: cost::scatterv_node_aware,
};

pub(crate) const ALLGATHER_RAIL_BRUCK: CatalogRow = CatalogRow {
    collective: Collective::Allgather,
    name: "rail-bruck",
    about: "bruck between nodes by all ranks of a node, then inside: for short blocks",
    needs: Needs::NOTHING,
    parameters: Parameters::NONE.with_radix(2).with_per_node(1),
    rounds: hierarchy::RailBruck::rounds,
    cost: cost::rail_bruck,
};

pub(crate) const ALLGATHER_RAIL_RING: CatalogRow = CatalogRow {
    collective: Collective::Allgather,
    name: "rail-ring",
    about: "rings between nodes by all ranks of a node, then inside: for large blocks",
    needs: Needs::NOTHING,
    parameters: Parameters::NONE.with_blocks(1).with_per_node(1),
    rounds: hierarchy::RailRing::rounds,
    cost: cost::rail_ring,
};

pub(crate) const ALLTOALL: CatalogRow = CatalogRow {
    collective: Collective::Alltoall,
    name: "node-aware",
    about: "one message from node to node, spread over the ranks of both: for short blocks",
    needs: Needs {
        apart: true,
        ..Needs::NOTHING
    },
    parameters: Parameters::NONE.with_per_node(1),
    rounds: hierarchy::Alltoall::rounds,
    cost: cost::alltoall_node_aware,
};

pub(crate) const BCAST: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "node-aware",
    about: "the vector enters each node once; trees between nodes and inside",
    needs: Needs::NOTHING,
    parameters: TREES,
    rounds: hierarchy::KnomialBcast::rounds,
    cost: cost::bcast_node_aware,
};

pub(crate) const BCAST_POSTAL: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "postal",
    about: "as node-aware, but no rank waits for a level of a tree to end: \
            for short vectors",
    needs: Needs::NOTHING.with_max_radix(tree::postal::MAX_RADIX),
    parameters: TREES,
    rounds: hierarchy::PostalBcast::rounds,
    cost: cost::bcast_postal,
};

pub(crate) const BCAST_RAIL_KNOMIAL: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "rail-knomial",
    about: "trees between nodes by all ranks of a node, each with a share of the vector",
    needs: Needs::NOTHING,
    parameters: Parameters::NONE.with_radix(2).with_per_node(1),
    rounds: |call, parameters| in_rails(call, parameters, tree::Knomial::rounds),
    cost: cost::rail_knomial,
};

pub(crate) const BCAST_RAIL_CHAIN: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "rail-chain",
    about: "chains of blocks between nodes by all ranks of a node: for large vectors and few \
            nodes",
    needs: Needs::NOTHING.with_max_size(bcast::CHAIN_MAX_SIZE),
    parameters: Parameters::NONE.with_blocks(16).with_per_node(1),
    rounds: |call, parameters| in_rails(call, parameters, chain),
    cost: cost::rail_chain,
};

pub(crate) const BCAST_RAIL_CIRCULANT: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "rail-circulant",
    about: "blocks between nodes in fewest rounds by all ranks of a node: for large vectors",
    needs: Needs::NOTHING,
    parameters: Parameters::NONE.with_blocks(16).with_per_node(1),
    rounds: |call, parameters| in_rails(call, parameters, circulant::Pipeline::rounds_of),
    cost: cost::rail_circulant,
};

pub(crate) const BCAST_MULTIRAIL: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "multirail",
    about: "blocks down a tree, then in fewest phases between nodes by all ranks of each: for larger vectors",
    needs: Needs::NOTHING,
    parameters: MULTIRAIL.with_radix(4).with_gather_radix(2),
    rounds: hierarchy::MultirailBcast::rounds,
    cost: cost::bcast_multirail,
};

pub(crate) const REDUCE: CatalogRow = CatalogRow {
    collective: Collective::Reduce,
    name: "node-aware",
    about: "one vector leaves each node; trees inside and between nodes",
    needs: Needs::NOTHING,
    parameters: TREES,
    rounds: hierarchy::KnomialReduce::rounds,
    cost: cost::reduce_node_aware,
};

pub(crate) const REDUCE_POSTAL: CatalogRow = CatalogRow {
    collective: Collective::Reduce,
    name: "postal",
    about: "as node-aware, but no rank waits for a level of a tree to end: \
            for short vectors; the operation must commute",
    needs: Needs::COMMUTATIVE.with_max_radix(tree::postal::MAX_RADIX),
    parameters: TREES,
    rounds: hierarchy::PostalReduce::rounds,
    cost: cost::reduce_postal,
};

pub(crate) const REDUCE_MULTIRAIL: CatalogRow = CatalogRow {
    collective: Collective::Reduce,
    name: "multirail",
    about: "each rank reduces a block, in fewest phases between nodes by all ranks of each; blocks up a tree: for larger \
            vectors; the operation must commute",
    needs: Needs::COMMUTATIVE,
    parameters: MULTIRAIL.with_gather_radix(4),
    rounds: hierarchy::MultirailReduce::rounds,
    cost: cost::reduce_multirail,
};

pub(crate) const ALLREDUCE: CatalogRow = CatalogRow {
    collective: Collective::Allreduce,
    name: "node-aware",
    about: "only node leaders talk between nodes, by recursive doubling; trees inside: for small \
            vectors",
    needs: Needs::NOTHING,
    parameters: TREES,
    rounds: |call, parameters| {
        hierarchy::KnomialAllreduce::rounds(call, parameters, |leaders, _| doubled(leaders.size))
    },
    cost: cost::allreduce_node_aware,
};

pub(crate) const ALLREDUCE_POSTAL: CatalogRow = CatalogRow {
    collective: Collective::Allreduce,
    name: "postal",
    about: "as node-aware, but by recursive splitting, and no rank waits for a level of a tree to end: for \
            short vectors",
    needs: Needs::NOTHING.with_max_radix(allreduce::RECURSIVE_SPLITTING_MAX_RADIX),
    parameters: TREES,
    rounds: |call, parameters| {
        let splitting = allreduce::RecursiveSplitting::rounds;
        hierarchy::PostalAllreduce::rounds(call, parameters, splitting)
    },
    cost: cost::allreduce_postal,
};

pub(crate) const ALLREDUCE_RAIL_CIRCULANT: CatalogRow = CatalogRow {
    collective: Collective::Allreduce,
    name: "rail-circulant",
    about: "least volume in few rounds between nodes by all ranks of a node, each with a share of the \
            vector; the operation must commute",
    needs: Needs::COMMUTATIVE,
    parameters: Parameters::NONE.with_per_node(1),
    rounds: |call, parameters| {
        let size = ranks_on_full_nodes(call, parameters);
        let place = full_nodes(&Call { size, ..*call }, parameters);
        let visits = 2 * u64::from(size < call.size);
        visits + 2 * u64::from(levels(place.nodes())) + 2 * u64::from(levels(place.per_node()))
    },
    cost: cost::allreduce_rail_circulant,
};

pub(crate) const ALLREDUCE_MULTIRAIL: CatalogRow = CatalogRow {
    collective: Collective::Allreduce,
    name: "multirail",
    about: "least volume in fewest phases between nodes by all ranks of each, full or not; the operation must \
            commute",
    needs: Needs::COMMUTATIVE,
    parameters: MULTIRAIL,
    rounds: hierarchy::MultirailAllreduce::rounds,
    cost: cost::allreduce_multirail,
};

pub(crate) const REDUCE_SCATTER_RAIL_CIRCULANT: CatalogRow = CatalogRow {
    collective: Collective::ReduceScatterBlock,
    name: "rail-circulant",
    about: "inside the nodes, then in fewest rounds between them by all ranks of a node: least \
            volume between nodes; the operation must commute",
    needs: Needs::COMMUTATIVE,
    parameters: Parameters::NONE.with_per_node(1),
    rounds: scattered_in_rails,
    cost: cost::reduce_scatter_rail_circulant,
};

pub(crate) const SCAN: CatalogRow = CatalogRow {
    collective: Collective::Scan,
    name: "node-aware",
    about: "only node leaders talk between nodes; in rank order",
    needs: Needs::NOTHING,
    parameters: TREES,
    rounds: hierarchy::Prefix::rounds,
    cost: cost::scan_node_aware,
};

pub(crate) const EXSCAN: CatalogRow = CatalogRow {
    collective: Collective::Exscan,
    name: "node-aware",
    about: "only node leaders talk between nodes; in rank order",
    needs: Needs::NOTHING,
    parameters: TREES,
    rounds: hierarchy::Prefix::rounds,
    cost: cost::exscan_node_aware,
};
