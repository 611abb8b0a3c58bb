//! Node-aware plans, composed of phases inside nodes and phases between nodes.
//!
//! A phase runs among fewer ranks: those of one node; the *leaders*, the first ranks of all nodes; or a
//! *rail*, the ranks with the same local number on all nodes. It is a plan of the catalog for that group, with
//! peers and parts renamed ([`Rail`]), or an exchange of its own. A later phase of a rank needs all its
//! earlier phases; nothing is synchronised. *Multirail* plans give a node as many ports as a full node has
//! ranks, and all ranks of the node get what arrived through any port before the next phase.
//!
//! Every rank knows the placement from [`Parameters`]: nodes of one size, filled in blocks, the last one
//! perhaps in part, or cyclic. With one rank per node the plans equal those that they are composed of.
//!
//! Rails: Traeff and Hunold, "Decomposing MPI collectives for exploiting multi-lane communication",
//! 2020.

mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod folded_allreduce;
mod gather;
mod intra_node;
mod multirail_allreduce;
mod multirail_bcast;
mod multirail_reduce;
mod node_blocks;
mod node_bruck;
mod node_leaders;
mod node_ports;
mod node_reduce_scatter;
mod node_tree;
mod phase;
mod prefix;
mod rail;
mod rail_allreduce;
mod rail_bcast;
mod rail_reduce_scatter;
mod reduce;
mod scatter;

pub(crate) use allgather::{RailBruck, RailRing};
pub(crate) use allreduce::{IntraNodeAllreduce, KnomialAllreduce, PostalAllreduce};
pub(crate) use alltoall::NodeAwareAlltoall;
pub(crate) use barrier::NodeAwareBarrier;
pub(crate) use bcast::{IntraNodeBcast, KnomialBcast, PostalBcast};
pub(crate) use folded_allreduce::FoldedAllreduce;
pub(crate) use folded_allreduce::ranks_on_full_nodes;
pub(crate) use gather::{IntraNodeGather, KnomialGather};
pub(crate) use intra_node::IntraNode;
pub(crate) use multirail_allreduce::MultirailAllreduce;
pub(crate) use multirail_bcast::MultirailBcast;
pub(crate) use multirail_reduce::MultirailReduce;
use node_blocks::NodeBlocks;
pub(crate) use node_bruck::NodeBruck;
pub(crate) use node_leaders::NodeLeaders;
pub(crate) use node_ports::sharers;
pub(crate) use node_reduce_scatter::NodeReduceScatter;
pub(crate) use node_tree::NodeTree;
pub(crate) use phase::IntraNodePhase;
pub(crate) use prefix::Prefix;
pub(crate) use rail::Rail;
pub(crate) use rail_allreduce::RailAllreduce;
pub(crate) use rail_bcast::{RailChain, RailCirculant, RailKnomial};
pub(crate) use rail_bcast::{nodes_in_rails, of_rail, rails, rails_of_one};
pub(crate) use rail_reduce_scatter::RailReduceScatter;
pub(crate) use reduce::{IntraNodeReduce, KnomialReduce, PostalReduce};
pub(crate) use scatter::{IntraNodeScatter, KnomialScatter};

use crate::call::{Call, Parameters};
use crate::placement::{Order, Placement};
use crate::{gatherv, scatterv};

/// Gatherv node-aware: up a tree of nodes, each of which is a tree of its ranks.
pub(crate) type NodeAwareGatherv = gatherv::GathervTree<NodeTree>;

/// Scatterv node-aware: down a tree of nodes, each of which is a tree of its ranks.
pub(crate) type NodeAwareScatterv = scatterv::ScattervTree<NodeTree>;

/// The parameters of the second of two phases, whose radix is `gather_radix`.
pub(crate) const fn with_second_radix(parameters: &Parameters) -> Parameters {
    (*parameters).with_radix(parameters.gather_radix)
}

/// The placement of the call's ranks on full nodes; if nodes would not be full, each rank counts as a node
/// of its own.
pub(crate) fn full_nodes(call: &Call, parameters: &Parameters) -> Placement {
    let divides = call.size.is_multiple_of(parameters.per_node.max(1));
    let per_node = if divides { parameters.per_node } else { 1 };
    Placement::new(parameters.order, call.size, per_node)
}

/// The parameters within a rail, whose ranks are on different nodes. Where each rank counts as a node, the
/// only rail keeps the placement of the whole group.
pub(crate) const fn in_rail(place: Placement, parameters: &Parameters) -> Parameters {
    Parameters {
        per_node: match place.per_node() {
            1 => parameters.per_node,
            _ => 1,
        },
        ..*parameters
    }
}

/// The placement of the call's ranks in blocks, the last node perhaps not full; in cyclic placement each rank
/// counts as a node of its own.
pub(crate) fn one_after_another(call: &Call, parameters: &Parameters) -> Placement {
    let per_node = match parameters.order {
        Order::Block => parameters.per_node,
        Order::Cyclic => 1,
    };
    Placement::new(Order::Block, call.size, per_node)
}

/// As [`full_nodes`], for block placement only.
pub(crate) fn full_blocks(call: &Call, parameters: &Parameters) -> Placement {
    match parameters.order {
        Order::Block => full_nodes(call, parameters),
        Order::Cyclic => Placement::new(Order::Block, call.size, 1),
    }
}
