//! The cost of intra-node phases, in which ranks of a node use shared memory instead of messages.
//!
//! All ranks wait for the last one to enter. Then a flag is seen: the overheads and the latency of a
//! message. A receiver copies or reduces data in the sender's memory at the node's `byte`, with one
//! overhead more per further rank that it reads from; all ranks do so at the same time. A long vector is
//! reduced in one share per rank, which all ranks then copy: two flags, and twice the others' share of
//! the vector.

use super::nodes::{by_leaders, down_nodes, gather_by_leaders, scatter_by_leaders, up_nodes};
use super::{Model, allreduce_splitting, bcast, reduce};
use crate::call::{Call, Collective, Parameters};
use crate::hierarchy::NodeLeaders;
use crate::machine::PathCosts;

/// The time after the last of `size` ranks has entered, for vectors or blocks of `bytes` bytes.
pub(crate) fn intra_node_op(node: PathCosts, does: Collective, size: u32, bytes: u64) -> u64 {
    let others = u64::from(size.saturating_sub(1));
    if others == 0 {
        return 0;
    }
    let flag = node.send + node.latency + node.recv;
    // The number of ranks read from, and all bytes read.
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

/// A collective of ranks that are all on one node.
pub(crate) fn within_node(call: &Call, _: &Parameters, model: &Model) -> u64 {
    done_as(call.collective, call, model)
}

/// [`within_node`] for another collective.
fn done_as(does: Collective, call: &Call, model: &Model) -> u64 {
    intra_node_op(model.machine.node, does, call.size, call.bytes())
}

/// Bcast to the leaders, then intra-node phases.
pub(crate) fn bcast_intra_node(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    down_nodes([bcast, within_node], call, parameters, model)
}

/// Intra-node phases, then a reduce of the leaders.
pub(crate) fn reduce_intra_node(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    up_nodes([within_node, reduce], call, parameters, model)
}

/// Intra-node phases around an allreduce of the leaders; one phase on a single node.
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

/// Intra-node phases, then a gather of the leaders.
pub(crate) fn gather_intra_node(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    gather_by_leaders(within_node, call, parameters, model)
}

/// Scatter to the leaders, then intra-node phases.
pub(crate) fn scatter_intra_node(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    scatter_by_leaders(within_node, call, parameters, model)
}
