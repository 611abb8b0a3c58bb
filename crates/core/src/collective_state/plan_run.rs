//! The state of one plan that a rank carries out: its execution, its messages under way, its memory.

use oxmpi_coll::catalog::Call;
use oxmpi_coll::exec::Execution;
use oxmpi_coll::phased::RankPlan;
use oxmpi_os::RawBytes;
use oxmpi_shm::node::collective::NodeGroup;
use oxmpi_wire::{Envelope, Peer};

use super::super::collective_scratch::{PackedMessage, RunMemory};
use super::super::node_calls::{PhaseCall, StartedPhase};
use super::super::request::OpenRequest;

/// One plan that a rank carries out.
#[derive(Debug)]
pub(crate) struct PlanRun {
    pub(crate) execution: Execution<RankPlan, PendingAct>,
    pub(crate) state: RunState,
}

impl PlanRun {
    /// A run of the plan, as the collective with this number.
    #[inline(always)]
    pub(crate) fn new(plan: impl Into<RankPlan>, call: &Call, number: u32, alone: bool) -> Self {
        Self {
            execution: Execution::new(plan.into()),
            state: RunState {
                memory: RunMemory::default(),
                element: call.element_bytes,
                block: call.bytes(),
                number,
                alone,
                fast_receive: None,
                unpolled: false,
                commutes: call.commutative,
                groups: NodeGroups::Waited,
                phase: None,
            },
        }
    }

    /// The run, with intra-node phases by these groups.
    pub(crate) fn by(mut self, groups: NodeGroups) -> Self {
        self.state.groups = groups;
        self
    }

    /// Gives the run memory that is known to be enough.
    #[inline(always)]
    pub(crate) fn take_memory(&mut self, memory: RunMemory) {
        self.state.memory = memory;
    }

    /// Whether a new receive should be polled on the fast path before the endpoint makes progress, which
    /// would take its message the slower way. True once for each receive.
    #[inline]
    pub(crate) const fn take_unpolled(&mut self) -> bool {
        std::mem::replace(&mut self.state.unpolled, false)
    }

    /// Makes the run start over. No message is under way.
    pub(crate) fn restart(&mut self) {
        self.execution.restart();
    }

    /// Takes the memory back, for the next collective. No message is under way.
    pub(crate) fn take_memory_back(&mut self) -> RunMemory {
        std::mem::take(&mut self.state.memory)
    }
}

/// An act under way.
#[derive(Debug)]
pub(crate) enum PendingAct {
    Message(PendingMessage),
    /// The phase of the run.
    Phase,
}

/// A message under way, and the number of bytes that it must have.
#[derive(Debug)]
pub(crate) struct PendingMessage {
    /// `None`: the fast receive of the run.
    pub(crate) request: Option<OpenRequest>,
    pub(crate) bytes: u64,
    /// The memory that holds its bytes meanwhile, if not their own.
    pub(crate) packed: Option<Box<PackedMessage>>,
}

/// The state of a run beside its execution.
#[derive(Debug)]
pub(crate) struct RunState {
    pub(crate) memory: RunMemory,
    /// Bytes of one element.
    pub(crate) element: u64,
    /// Bytes of one block where all are equally long.
    pub(crate) block: u64,
    /// The collective's number.
    pub(crate) number: u32,
    /// Whether the thread waits for this run only, so that receives may poll the fast path.
    pub(crate) alone: bool,
    pub(crate) fast_receive: Option<FastReceive>,
    /// The fast receive has not been polled yet.
    pub(crate) unpolled: bool,
    /// Whether operands may be combined in any order.
    pub(crate) commutes: bool,
    /// The node group of intra-node phases.
    pub(crate) groups: NodeGroups,
    /// The intra-node phase under way, where the rank does not wait for it.
    pub(crate) phase: Option<PendingPhase>,
}

/// The node group by which a run does its intra-node phases.
#[derive(Debug)]
pub(crate) enum NodeGroups {
    /// The communicator's. The rank waits for each phase.
    Waited,
    /// The communicator's, once the collectives before this number in its queue have left it.
    Queued(u32),
    /// One that no other collective uses, of this index among the rank's; `None` while a phase has it.
    Own {
        index: usize,
        group: Option<Box<NodeGroup>>,
    },
}

/// An intra-node phase that the rank does not wait for, and the packed memory of its input and output.
#[derive(Debug)]
pub(crate) struct PendingPhase {
    pub(crate) stage: PhaseStage,
    pub(crate) packed: [Option<Box<PackedMessage>>; 2],
}

/// How far a phase has come.
#[derive(Debug)]
pub(crate) enum PhaseStage {
    /// It waits for its node group.
    Queued(PhaseCall),
    Running(StartedPhase),
}

/// A receive that polls the fast path as long as it is open. A run has one at a time: the next receive posts
/// it first, so that receives keep their order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastReceive {
    pub(crate) peer: Peer,
    pub(crate) envelope: Envelope,
    pub(crate) body: RawBytes,
    pub(crate) posted: Option<OpenRequest>,
}
