//! What ranks of a node do together, by memory that they share.
//!
//! The last to come is waited for. Then a flag is seen: the sender's and the receiver's part of a
//! message, and its latency. Who gets something copies it out of the others' memory, or reduces it right
//! there: the node's `byte` each, and the receiver's part once more for each further rank that it reads
//! from. All ranks do so side by side. A long vector is reduced in shares, one for each rank, which are
//! then copied: two flags, and twice the part of the vector that the others have.

use super::nodes::{by_leaders, down_nodes, gather_by_leaders, scatter_by_leaders, up_nodes};
use super::{Model, allreduce_splitting, bcast, reduce};
use crate::call::{Call, Collective, Parameters};
use crate::hierarchy::NodeLeaders;
use crate::machine::PathCosts;

/// How long it takes after the last of so many ranks has come, with vectors or blocks of so many bytes.
pub(crate) fn intra_node_op(node: PathCosts, does: Collective, size: u32, bytes: u64) -> u64 {
    let others = u64::from(size.saturating_sub(1));
    if others == 0 {
        return 0;
    }
    let flag = node.send + node.latency + node.recv;
    // From so many ranks, so many bytes in all.
    let reads = |ranks: u64, bytes: u64| {
        let more = node.recv.saturating_mul(ranks - 1);
        let copies = bytes.saturating_mul(node.byte);
        flag.saturating_add(more).saturating_add(copies)
    };
    let all = reads(others, bytes.saturating_mul(others));
    match does {
        Collective::Bcast | Collective::Scatter => reads(1, bytes),
        Collective::Reduce | Collective::Allreduce => {
            let share = bytes.div_ceil(size.into()).saturating_mul(others);
            all.min(reads(others, share).saturating_mul(2))
        }
        _ => all,
    }
}

/// Of a call all of whose ranks are on one node.
pub(crate) fn within_node(call: &Call, _: &Parameters, model: &Model) -> u64 {
    done_as(call.collective, call, model)
}

/// The same of another collective.
fn done_as(does: Collective, call: &Call, model: &Model) -> u64 {
    intra_node_op(model.machine.node, does, call.size, call.bytes())
}

/// Bcast to the leaders, and together inside the nodes.
pub(crate) fn bcast_intra_node(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    down_nodes([bcast, within_node], call, parameters, model)
}

/// Reduce together inside the nodes, and to the leaders.
pub(crate) fn reduce_intra_node(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    up_nodes([within_node, reduce], call, parameters, model)
}

/// Allreduce by leaders, and together inside the nodes; on one node all of it.
pub(crate) fn allreduce_intra_node(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    if NodeLeaders::of(call, parameters).count() == 1 {
        return within_node(call, parameters, model);
    }
    let up = |call: &Call, _: &Parameters, model: &Model| done_as(Collective::Reduce, call, model);
    let down = |call: &Call, _: &Parameters, model: &Model| done_as(Collective::Bcast, call, model);
    let among =
        |(leaders, far): &(Call, Model), _| [allreduce_splitting(leaders, parameters, far); 2];
    by_leaders([up, down], among, call, parameters, model)
}

/// Gather together inside the nodes, and between their leaders.
pub(crate) fn gather_intra_node(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    gather_by_leaders(within_node, call, parameters, model)
}

/// Scatter to the leaders, and together inside the nodes.
pub(crate) fn scatter_intra_node(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    scatter_by_leaders(within_node, call, parameters, model)
}
