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

pub(crate) const BARRIER: CatalogRow = Collective::Barrier
    .row("node-aware", cost::barrier_node_aware)
    .on_nodes(true)
    .about("dissemination between nodes, trees inside: only node leaders talk between nodes")
    .parameters(TREES)
    .rounds(hierarchy::NodeAwareBarrier::rounds);

pub(crate) const GATHER: CatalogRow = Collective::Gather
    .row("node-aware", cost::gather_node_aware)
    .on_nodes(true)
    .about("one message leaves each node; trees inside and between nodes")
    .parameters(TREES)
    .rounds(hierarchy::NodeTree::rounds);

pub(crate) const SCATTER: CatalogRow = Collective::Scatter
    .row("node-aware", cost::scatter_node_aware)
    .on_nodes(true)
    .about("one message enters each node; trees between nodes and inside")
    .parameters(TREES)
    .rounds(hierarchy::NodeTree::rounds);

pub(crate) const GATHERV: CatalogRow = Collective::Gatherv
    .row("node-aware", cost::gatherv_node_aware)
    .on_nodes(true)
    .about(
        "short blocks through trees inside and between nodes, one message from each; long ones \
         directly",
    )
    .needs(Needs::NOTHING.with_max_radix(long_blocks::MAX_RADIX))
    .parameters(IRREGULAR_TREES)
    .rounds(hierarchy::NodeTree::rounds);

pub(crate) const SCATTERV: CatalogRow = Collective::Scatterv
    .row("node-aware", cost::scatterv_node_aware)
    .on_nodes(true)
    .about(
        "short blocks through trees between and inside nodes, one message to each; long ones \
         directly",
    )
    .needs(Needs::NOTHING.with_max_radix(long_blocks::MAX_RADIX))
    .parameters(IRREGULAR_TREES)
    .rounds(hierarchy::NodeTree::rounds);

pub(crate) const ALLGATHER_RAIL_BRUCK: CatalogRow = Collective::Allgather
    .row("rail-bruck", cost::rail_bruck)
    .on_nodes(true)
    .about("bruck between nodes by all ranks of a node, then inside: for short blocks")
    .parameters(Parameters::NONE.with_radix(2).with_per_node(1))
    .rounds(hierarchy::RailBruck::rounds);

pub(crate) const ALLGATHER_RAIL_RING: CatalogRow = Collective::Allgather
    .row("rail-ring", cost::rail_ring)
    .on_nodes(true)
    .about("rings between nodes by all ranks of a node, then inside: for large blocks")
    .parameters(Parameters::NONE.with_blocks(1).with_per_node(1))
    .rounds(hierarchy::RailRing::rounds);

pub(crate) const ALLTOALL: CatalogRow = Collective::Alltoall
    .row("node-aware", cost::alltoall_node_aware)
    .on_nodes(true)
    .about("one message from node to node, spread over the ranks of both: for short blocks")
    .needs(Needs {
        apart: true,
        ..Needs::NOTHING
    })
    .parameters(Parameters::NONE.with_per_node(1))
    .rounds(hierarchy::NodeAwareAlltoall::rounds);

pub(crate) const BCAST: CatalogRow = Collective::Bcast
    .row("node-aware", cost::bcast_node_aware)
    .on_nodes(true)
    .about("the vector enters each node once; trees between nodes and inside")
    .parameters(TREES)
    .rounds(hierarchy::KnomialBcast::rounds);

pub(crate) const BCAST_POSTAL: CatalogRow = Collective::Bcast
    .row("postal", cost::bcast_postal)
    .on_nodes(true)
    .about("as node-aware, but no rank waits for a level of a tree to end: for short vectors")
    .needs(Needs::NOTHING.with_max_radix(tree::postal::MAX_RADIX))
    .parameters(TREES)
    .rounds(hierarchy::PostalBcast::rounds);

pub(crate) const BCAST_RAIL_KNOMIAL: CatalogRow = Collective::Bcast
    .row("rail-knomial", cost::rail_knomial)
    .on_nodes(true)
    .about("trees between nodes by all ranks of a node, each with a share of the vector")
    .parameters(Parameters::NONE.with_radix(2).with_per_node(1))
    .rounds(|call, parameters| in_rails(call, parameters, tree::KnomialPlace::rounds));

pub(crate) const BCAST_RAIL_CHAIN: CatalogRow = Collective::Bcast
    .row("rail-chain", cost::rail_chain)
    .on_nodes(true)
    .about("chains of blocks between nodes by all ranks of a node: for large vectors and few nodes")
    .needs(Needs::NOTHING.with_max_size(bcast::CHAIN_MAX_SIZE))
    .parameters(Parameters::NONE.with_blocks(16).with_per_node(1))
    .rounds(|call, parameters| in_rails(call, parameters, chain));

pub(crate) const BCAST_RAIL_CIRCULANT: CatalogRow = Collective::Bcast
    .row("rail-circulant", cost::rail_circulant)
    .on_nodes(true)
    .about("blocks between nodes in fewest rounds by all ranks of a node: for large vectors")
    .parameters(Parameters::NONE.with_blocks(16).with_per_node(1))
    .rounds(|call, parameters| in_rails(call, parameters, circulant::Pipeline::rounds_of));

pub(crate) const BCAST_MULTIRAIL: CatalogRow = Collective::Bcast
    .row("multirail", cost::bcast_multirail)
    .on_nodes(true)
    .about(
        "blocks down a tree, then in fewest phases between nodes by all ranks of each: for larger \
         vectors",
    )
    .parameters(MULTIRAIL.with_radix(4).with_gather_radix(2))
    .rounds(hierarchy::MultirailBcast::rounds);

pub(crate) const REDUCE: CatalogRow = Collective::Reduce
    .row("node-aware", cost::reduce_node_aware)
    .on_nodes(true)
    .about("one vector leaves each node; trees inside and between nodes")
    .parameters(TREES)
    .rounds(hierarchy::KnomialReduce::rounds);

pub(crate) const REDUCE_POSTAL: CatalogRow = Collective::Reduce
    .row("postal", cost::reduce_postal)
    .on_nodes(true)
    .about(
        "as node-aware, but no rank waits for a level of a tree to end: for short vectors; the \
         operation must commute",
    )
    .needs(Needs::COMMUTATIVE.with_max_radix(tree::postal::MAX_RADIX))
    .parameters(TREES)
    .rounds(hierarchy::PostalReduce::rounds);

pub(crate) const REDUCE_MULTIRAIL: CatalogRow = Collective::Reduce
    .row("multirail", cost::reduce_multirail)
    .on_nodes(true)
    .about(
        "each rank reduces a block, in fewest phases between nodes by all ranks of each; blocks \
         up a tree: for larger vectors; the operation must commute",
    )
    .needs(Needs::COMMUTATIVE)
    .parameters(MULTIRAIL.with_gather_radix(4))
    .rounds(hierarchy::MultirailReduce::rounds);

pub(crate) const ALLREDUCE: CatalogRow = Collective::Allreduce
    .row("node-aware", cost::allreduce_node_aware)
    .on_nodes(true)
    .about(
        "only node leaders talk between nodes, by recursive doubling; trees inside: for small \
         vectors",
    )
    .parameters(TREES)
    .rounds(|call, parameters| {
        hierarchy::KnomialAllreduce::rounds(call, parameters, |leaders, _| doubled(leaders.size))
    });

pub(crate) const ALLREDUCE_POSTAL: CatalogRow = Collective::Allreduce
    .row("postal", cost::allreduce_postal)
    .on_nodes(true)
    .about(
        "as node-aware, but by recursive splitting, and no rank waits for a level of a tree to \
         end: for short vectors",
    )
    .needs(Needs::NOTHING.with_max_radix(allreduce::RECURSIVE_SPLITTING_MAX_RADIX))
    .parameters(TREES)
    .rounds(|call, parameters| {
        let splitting = allreduce::RecursiveSplitting::rounds;
        hierarchy::PostalAllreduce::rounds(call, parameters, splitting)
    });

pub(crate) const ALLREDUCE_RAIL_CIRCULANT: CatalogRow = Collective::Allreduce
    .row("rail-circulant", cost::allreduce_rail_circulant)
    .on_nodes(true)
    .about(
        "least volume in few rounds between nodes by all ranks of a node, each with a share of \
         the vector; the operation must commute",
    )
    .needs(Needs::COMMUTATIVE)
    .parameters(Parameters::NONE.with_per_node(1))
    .rounds(|call, parameters| {
        let size = ranks_on_full_nodes(call, parameters);
        let place = full_nodes(&Call { size, ..*call }, parameters);
        let visits = 2 * u64::from(size < call.size);
        visits + 2 * u64::from(levels(place.nodes())) + 2 * u64::from(levels(place.per_node()))
    });

pub(crate) const ALLREDUCE_MULTIRAIL: CatalogRow = Collective::Allreduce
    .row("multirail", cost::allreduce_multirail)
    .on_nodes(true)
    .about(
        "least volume in fewest phases between nodes by all ranks of each, full or not; the \
         operation must commute",
    )
    .needs(Needs::COMMUTATIVE)
    .parameters(MULTIRAIL)
    .rounds(hierarchy::MultirailAllreduce::rounds);

pub(crate) const REDUCE_SCATTER_RAIL_CIRCULANT: CatalogRow = Collective::ReduceScatterBlock
    .row("rail-circulant", cost::reduce_scatter_rail_circulant)
    .on_nodes(true)
    .about(
        "inside the nodes, then in fewest rounds between them by all ranks of a node: least \
         volume between nodes; the operation must commute",
    )
    .needs(Needs::COMMUTATIVE)
    .parameters(Parameters::NONE.with_per_node(1))
    .rounds(scattered_in_rails);

pub(crate) const SCAN: CatalogRow = Collective::Scan
    .row("node-aware", cost::scan_node_aware)
    .on_nodes(true)
    .about("only node leaders talk between nodes; in rank order")
    .parameters(TREES)
    .rounds(hierarchy::Prefix::rounds);

pub(crate) const EXSCAN: CatalogRow = Collective::Exscan
    .row("node-aware", cost::exscan_node_aware)
    .on_nodes(true)
    .about("only node leaders talk between nodes; in rank order")
    .parameters(TREES)
    .rounds(hierarchy::Prefix::rounds);
