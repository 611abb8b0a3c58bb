//! Calls that the ranks of a node do over the memory that they share: which these are ([`serves_in_node`] and others), how
//! one runs ([`run_call`]), and how one goes on that its rank does not wait for ([`StartedPhase`]).

mod call;
mod started_phase;

use oxmpi_coll::catalog::{Algorithm, Call, Collective, Parameters, SharedMemory};
use oxmpi_coll::choice::Choice;
use oxmpi_coll::plan::IntraNodeOp;
use oxmpi_shm::node::collective::NodeGroup;

pub(crate) use self::call::{CallDriver, run_call};
pub(crate) use self::started_phase::{PhaseCall, PhaseEnd, PhaseStop, StartedPhase};

/// Whether plans of such a call may have intra-node phases, of `per_node` ranks on each of several nodes.
pub const fn serves_on_nodes(call: &Call, per_node: u32) -> bool {
    match call.collective {
        Collective::Bcast | Collective::Gather | Collective::Scatter => true,
        Collective::Reduce | Collective::Allreduce => {
            has_size(call) && NodeGroup::is_worth_reducing(per_node as usize, call.bytes())
        }
        _ => false,
    }
}

/// Whether a node group serves the call of a phase, which is one of the ranks of a node.
pub const fn serves_in_phase(call: &Call) -> bool {
    serves_in_node(call) && (!call.collective.reduces() || has_size(call))
}

/// Whether a node group serves such a call of ranks that share a node and do not wait for it. A barrier that they wait for
/// goes by flags.
pub(crate) const fn serves_started(call: &Call) -> bool {
    serves_in_phase(call) || matches!(call.collective, Collective::Barrier)
}

/// Whether a node group reduces elements of this size.
const fn has_size(call: &Call) -> bool {
    call.element_bytes > 0 && call.element_bytes <= NodeGroup::MAX_ELEMENT
}

/// Whether a node group serves such a call of ranks that share a node.
pub const fn serves_in_node(call: &Call) -> bool {
    let (size, reduces) = (call.size as usize, call.collective.reduces());
    IntraNodeOp::is_supported(call.collective)
        && (!reduces || NodeGroup::is_worth_reducing(size, call.bytes()))
}

/// The algorithm that is one operation of all ranks, which share a node and their memory; `None` where they do not.
pub(crate) fn choice_in_node(call: &Call) -> Option<Choice> {
    let mut algorithms = call.collective.algorithms();
    let suits = |&one: &Algorithm| !one.is_by_messages() && one.suits(call).is_ok();
    (call.shared_memory == SharedMemory::All).then_some(())?;
    Some(Choice {
        algorithm: algorithms.find(suits)?,
        parameters: Parameters {
            per_node: call.size,
            ..Parameters::NONE
        },
    })
}
