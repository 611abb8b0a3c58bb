//! Plans for ranks on nodes: what goes on inside a node, and what goes on between nodes.
//!
//! A collective is composed of phases among fewer ranks: those of one node; the first ranks of all
//! nodes, their *leaders*; or a *lane*, the ranks of the same number on all nodes. A phase is a plan
//! of the catalog for that group, with its peers and parts renamed ([`Lane`]), or an exchange of its
//! own. Later phases need all of the earlier ones, rank by rank; nothing is synchronised. Elsewhere nodes have *ports*, as
//! many as a full one has ranks, and what comes through one of them all ranks have before the next phase.
//!
//! Every rank knows the placement from [`Parameters`]: nodes of one size, the last one perhaps filled in part, that are
//! filled one after another or dealt in turn. With one rank a node the plans are those that they are composed of.
//!
//! Lanes: Traeff and Hunold, "Decomposing MPI collectives for exploiting multi-lane communication",
//! 2020.

mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod gather;
mod guests;
mod in_team;
mod inside;
mod lane;
mod lane_allreduce;
mod lane_bcast;
mod lane_reduce_scatter;
mod node_blocks;
mod node_bruck;
mod node_reduce_scatter;
mod nodes;
mod ports;
mod ports_allreduce;
mod ports_bcast;
mod ports_reduce;
mod prefix;
mod reduce;
mod scatter;
mod tree;

pub use allgather::{LaneBruck, LaneRing, Lanes};
pub use allreduce::{Allreduce, KnomialAllreduce, PostalAllreduce, TeamAllreduce};
pub use alltoall::Alltoall;
pub use barrier::Barrier;
pub use bcast::{Bcast, KnomialBcast, PostalBcast, TeamBcast};
pub use gather::{Gather, KnomialGather, TeamGather};
pub use guests::GuestAllreduce;
pub(crate) use guests::hosts;
pub use in_team::InTeam;
pub use inside::Inside;
pub use lane::Lane;
pub use lane_allreduce::LaneAllreduce;
pub use lane_bcast::{LaneBcast, LaneChain, LaneCirculant, LaneKnomial};
pub(crate) use lane_bcast::{lanes, lanes_of_one, nodes_in_lanes, of_lane};
pub use lane_reduce_scatter::LaneReduceScatter;
use node_blocks::NodeBlocks;
pub use node_bruck::NodeBruck;
pub use node_reduce_scatter::NodeReduceScatter;
pub(crate) use nodes::Nodes;
pub(crate) use ports::sharers;
pub use ports_allreduce::PortsAllreduce;
pub use ports_bcast::PortsBcast;
pub use ports_reduce::PortsReduce;
pub use prefix::Prefix;
pub use reduce::{KnomialReduce, PostalReduce, Reduce, TeamReduce};
pub use scatter::{KnomialScatter, Scatter, TeamScatter};
pub use tree::NodeTree;

use crate::catalog::{Call, Parameters};
use crate::placement::{Order, Placement};
use crate::plan::{Act, Acts, Known, Plan};
use crate::{gatherv, scatterv};

/// Gatherv up a tree of nodes, each of which is a tree of its ranks.
pub type Gatherv = gatherv::Tree<NodeTree>;

/// Scatterv down such a tree.
pub type Scatterv = scatterv::Tree<NodeTree>;

/// Step `i` of a phase's plan, with its peers and parts renamed. `acts` is empty.
pub(crate) fn renamed<P: Plan>(
    plan: &P,
    i: u32,
    known: &Known<'_>,
    acts: &mut Acts,
    rename: impl Fn(Act) -> Act,
) -> Option<u32> {
    let needs = plan.step(i, known, acts)?;
    acts.rename(rename);
    Some(needs)
}

/// The parameters of the second of two phases, which has a radix of its own.
pub(crate) const fn with_second_radix(parameters: &Parameters) -> Parameters {
    Parameters {
        radix: parameters.gather_radix,
        ..*parameters
    }
}

/// The placement of the call's ranks on full nodes; where they would not be full, each rank is a
/// node of its own.
pub(crate) fn full_nodes(call: &Call, parameters: &Parameters) -> Placement {
    let divides = call.size.is_multiple_of(parameters.per_node.max(1));
    let per_node = if divides { parameters.per_node } else { 1 };
    Placement::new(parameters.order, call.size, per_node)
}

/// The parameters of a lane, whose ranks are on nodes of their own; of the only one where each rank is taken for a
/// node, and where they are is as it was.
pub(crate) const fn in_lane(place: Placement, parameters: &Parameters) -> Parameters {
    Parameters {
        per_node: match place.per_node() {
            1 => parameters.per_node,
            _ => 1,
        },
        ..*parameters
    }
}

/// The placement of the call's ranks on nodes that are filled one after another, the last one perhaps
/// in part; where ranks are dealt in turn, each rank is a node of its own.
pub(crate) fn one_after_another(call: &Call, parameters: &Parameters) -> Placement {
    let per_node = match parameters.order {
        Order::Block => parameters.per_node,
        Order::Cyclic => 1,
    };
    Placement::new(Order::Block, call.size, per_node)
}

/// The same where only blocks of ranks will do.
pub(crate) fn full_blocks(call: &Call, parameters: &Parameters) -> Placement {
    match parameters.order {
        Order::Block => full_nodes(call, parameters),
        Order::Cyclic => Placement::new(Order::Block, call.size, 1),
    }
}
