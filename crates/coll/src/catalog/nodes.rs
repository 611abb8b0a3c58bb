//! The rows of algorithms that know which ranks are on one node: see [`hierarchy`].

use super::rounds::{chain, doubled, in_lanes, scattered_in_lanes};
use super::twins::PORTS;
use super::{Call, Collective, Needs, Parameters, Row};
use crate::hierarchy::{full_nodes, hosts};
use crate::tree::{self, Place, levels};
use crate::{allreduce, bcast, circulant, cost, direct, hierarchy};

/// Trees between nodes and inside.
const TREES: Parameters = Parameters {
    radix: 4,
    per_node: 1,
    ..Parameters::NONE
};

/// The same for short blocks, while long ones go straight.
const IRREGULAR_TREES: Parameters = Parameters {
    window: 8,
    cutoff: 16 << 10,
    ..TREES
};

pub(super) const BARRIER: Row = Row {
    collective: Collective::Barrier,
    name: "node-aware",
    about: "dissemination between nodes, trees inside: one rank of a node talks to others",
    needs: Needs::NOTHING,
    parameters: TREES,
    rounds: hierarchy::Barrier::rounds,
    cost: cost::barrier_node_aware,
};

pub(super) const GATHER: Row = Row {
    collective: Collective::Gather,
    name: "node-aware",
    about: "one message leaves each node; trees inside and between nodes",
    needs: Needs::NOTHING,
    parameters: TREES,
    rounds: hierarchy::NodeTree::rounds,
    cost: cost::gather_node_aware,
};

pub(super) const SCATTER: Row = Row {
    collective: Collective::Scatter,
    name: "node-aware",
    about: "one message enters each node; trees between nodes and inside",
    needs: Needs::NOTHING,
    parameters: TREES,
    rounds: hierarchy::NodeTree::rounds,
    cost: cost::scatter_node_aware,
};

pub(super) const GATHERV: Row = Row {
    collective: Collective::Gatherv,
    name: "node-aware",
    about: "short blocks through trees inside and between nodes, one message from each; long ones straight",
    needs: Needs {
        max_radix: direct::MAX_RADIX,
        ..Needs::NOTHING
    },
    parameters: IRREGULAR_TREES,
    rounds: hierarchy::NodeTree::rounds,
    cost: cost::gatherv_node_aware,
};

pub(super) const SCATTERV: Row = Row {
    collective: Collective::Scatterv,
    name: "node-aware",
    about: "short blocks through trees between and inside nodes, one message to each; long ones straight",
    needs: Needs {
        max_radix: direct::MAX_RADIX,
        ..Needs::NOTHING
    },
    parameters: IRREGULAR_TREES,
    rounds: hierarchy::NodeTree::rounds,
    cost: cost::scatterv_node_aware,
};

pub(super) const ALLGATHER_LANE_BRUCK: Row = Row {
    collective: Collective::Allgather,
    name: "lane-bruck",
    about: "bruck between nodes by all ranks of a node, then inside: for short blocks",
    needs: Needs::NOTHING,
    parameters: Parameters {
        radix: 2,
        per_node: 1,
        ..Parameters::NONE
    },
    rounds: hierarchy::LaneBruck::rounds,
    cost: cost::lane_bruck,
};

pub(super) const ALLGATHER_LANE_RING: Row = Row {
    collective: Collective::Allgather,
    name: "lane-ring",
    about: "rings between nodes by all ranks of a node, then inside: for large blocks",
    needs: Needs::NOTHING,
    parameters: Parameters {
        blocks: 1,
        per_node: 1,
        ..Parameters::NONE
    },
    rounds: hierarchy::LaneRing::rounds,
    cost: cost::lane_ring,
};

pub(super) const ALLTOALL: Row = Row {
    collective: Collective::Alltoall,
    name: "node-aware",
    about: "one message from node to node, shared out to the ranks of both: for short blocks",
    needs: Needs {
        apart: true,
        ..Needs::NOTHING
    },
    parameters: Parameters {
        per_node: 1,
        ..Parameters::NONE
    },
    rounds: hierarchy::Alltoall::rounds,
    cost: cost::alltoall_node_aware,
};

pub(super) const BCAST: Row = Row {
    collective: Collective::Bcast,
    name: "node-aware",
    about: "the vector enters each node once; trees between nodes and inside",
    needs: Needs::NOTHING,
    parameters: TREES,
    rounds: hierarchy::KnomialBcast::rounds,
    cost: cost::bcast_node_aware,
};

pub(super) const BCAST_POSTAL: Row = Row {
    collective: Collective::Bcast,
    name: "postal",
    about: "as node-aware, but nobody waits for a level of a tree to end: \
            for short vectors",
    needs: Needs {
        max_radix: tree::postal::MAX_RADIX,
        ..Needs::NOTHING
    },
    parameters: TREES,
    rounds: hierarchy::PostalBcast::rounds,
    cost: cost::bcast_postal,
};

pub(super) const BCAST_LANE_KNOMIAL: Row = Row {
    collective: Collective::Bcast,
    name: "lane-knomial",
    about: "trees between nodes by all ranks of a node, each with a share of the vector",
    needs: Needs::NOTHING,
    parameters: Parameters {
        radix: 2,
        per_node: 1,
        ..Parameters::NONE
    },
    rounds: |call, parameters| in_lanes(call, parameters, tree::Knomial::rounds),
    cost: cost::lane_knomial,
};

pub(super) const BCAST_LANE_CHAIN: Row = Row {
    collective: Collective::Bcast,
    name: "lane-chain",
    about: "chains of blocks between nodes by all ranks of a node: for large vectors and few \
            nodes",
    needs: Needs {
        max_size: bcast::CHAIN_MAX_SIZE,
        ..Needs::NOTHING
    },
    parameters: Parameters {
        blocks: 16,
        per_node: 1,
        ..Parameters::NONE
    },
    rounds: |call, parameters| in_lanes(call, parameters, chain),
    cost: cost::lane_chain,
};

pub(super) const BCAST_LANE_CIRCULANT: Row = Row {
    collective: Collective::Bcast,
    name: "lane-circulant",
    about: "blocks between nodes in fewest rounds by all ranks of a node: for large vectors",
    needs: Needs::NOTHING,
    parameters: Parameters {
        blocks: 16,
        per_node: 1,
        ..Parameters::NONE
    },
    rounds: |call, parameters| in_lanes(call, parameters, circulant::Pipeline::rounds_of),
    cost: cost::lane_circulant,
};

pub(super) const BCAST_PORTS: Row = Row {
    collective: Collective::Bcast,
    name: "ports",
    about: "blocks down a tree, then in fewest phases between nodes by all ranks of each: for larger vectors",
    needs: Needs::NOTHING,
    parameters: Parameters {
        radix: 4,
        gather_radix: 2,
        ..PORTS
    },
    rounds: hierarchy::PortsBcast::rounds,
    cost: cost::bcast_ports,
};

pub(super) const REDUCE: Row = Row {
    collective: Collective::Reduce,
    name: "node-aware",
    about: "one vector leaves each node; trees inside and between nodes",
    needs: Needs::NOTHING,
    parameters: TREES,
    rounds: hierarchy::KnomialReduce::rounds,
    cost: cost::reduce_node_aware,
};

pub(super) const REDUCE_POSTAL: Row = Row {
    collective: Collective::Reduce,
    name: "postal",
    about: "as node-aware, but nobody waits for a level of a tree to end: \
            for short vectors; the operation must commute",
    needs: Needs {
        commutative: true,
        max_radix: tree::postal::MAX_RADIX,
        ..Needs::NOTHING
    },
    parameters: TREES,
    rounds: hierarchy::PostalReduce::rounds,
    cost: cost::reduce_postal,
};

pub(super) const REDUCE_PORTS: Row = Row {
    collective: Collective::Reduce,
    name: "ports",
    about: "each rank reduces a block, in fewest phases between nodes by all ranks of each; blocks up a tree: for larger \
            vectors; the operation must commute",
    needs: Needs {
        commutative: true,
        ..Needs::NOTHING
    },
    parameters: Parameters {
        gather_radix: 4,
        ..PORTS
    },
    rounds: hierarchy::PortsReduce::rounds,
    cost: cost::reduce_ports,
};

pub(super) const ALLREDUCE: Row = Row {
    collective: Collective::Allreduce,
    name: "node-aware",
    about: "one rank of a node talks to others, by recursive doubling; trees inside: for small \
            vectors",
    needs: Needs::NOTHING,
    parameters: TREES,
    rounds: |call, parameters| {
        hierarchy::KnomialAllreduce::rounds(call, parameters, |leaders, _| doubled(leaders.size))
    },
    cost: cost::allreduce_node_aware,
};

pub(super) const ALLREDUCE_POSTAL: Row = Row {
    collective: Collective::Allreduce,
    name: "postal",
    about: "as node-aware, but by recursive splitting, and nobody waits for a level of a tree to end: for \
            short vectors",
    needs: Needs {
        max_radix: allreduce::RECURSIVE_SPLITTING_MAX_RADIX,
        ..Needs::NOTHING
    },
    parameters: TREES,
    rounds: |call, parameters| {
        let splitting = allreduce::RecursiveSplitting::rounds;
        hierarchy::PostalAllreduce::rounds(call, parameters, splitting)
    },
    cost: cost::allreduce_postal,
};

pub(super) const ALLREDUCE_LANE_CIRCULANT: Row = Row {
    collective: Collective::Allreduce,
    name: "lane-circulant",
    about: "least volume in few rounds between nodes by all ranks of a node, each with a share of the \
            vector; the operation must commute",
    needs: Needs {
        commutative: true,
        ..Needs::NOTHING
    },
    parameters: Parameters {
        per_node: 1,
        ..Parameters::NONE
    },
    rounds: |call, parameters| {
        let size = hosts(call, parameters);
        let place = full_nodes(&Call { size, ..*call }, parameters);
        let visits = 2 * u64::from(size < call.size);
        visits + 2 * u64::from(levels(place.nodes())) + 2 * u64::from(levels(place.per_node()))
    },
    cost: cost::allreduce_lane_circulant,
};

pub(super) const ALLREDUCE_PORTS: Row = Row {
    collective: Collective::Allreduce,
    name: "ports",
    about: "least volume in fewest phases between nodes by all ranks of each, full or not; the operation must \
            commute",
    needs: Needs {
        commutative: true,
        ..Needs::NOTHING
    },
    parameters: PORTS,
    rounds: hierarchy::PortsAllreduce::rounds,
    cost: cost::allreduce_ports,
};

pub(super) const REDUCE_SCATTER_LANE_CIRCULANT: Row = Row {
    collective: Collective::ReduceScatterBlock,
    name: "lane-circulant",
    about: "inside the nodes, then in fewest rounds between them by all ranks of a node: least \
            volume between nodes; the operation must commute",
    needs: Needs {
        commutative: true,
        ..Needs::NOTHING
    },
    parameters: Parameters {
        per_node: 1,
        ..Parameters::NONE
    },
    rounds: scattered_in_lanes,
    cost: cost::reduce_scatter_lane_circulant,
};

pub(super) const SCAN: Row = Row {
    collective: Collective::Scan,
    name: "node-aware",
    about: "one rank of a node talks to others; in the order of the ranks",
    needs: Needs::NOTHING,
    parameters: TREES,
    rounds: hierarchy::Prefix::rounds,
    cost: cost::scan_node_aware,
};

pub(super) const EXSCAN: Row = Row {
    collective: Collective::Exscan,
    name: "node-aware",
    about: "one rank of a node talks to others; in the order of the ranks",
    needs: Needs::NOTHING,
    parameters: TREES,
    rounds: hierarchy::Prefix::rounds,
    cost: cost::exscan_node_aware,
};
