//! The state of one plan that a rank carries out: its execution, its messages under way, its memory.

use oxmpi_coll::catalog::{AnyPlan, Call};
use oxmpi_coll::exec::Execution;
use oxmpi_os::RawBytes;
use oxmpi_wire::{Envelope, Peer};

use super::super::collective_scratch::{PackedMessage, RunMemory};
use super::super::request::OpenRequest;

/// One plan that a rank carries out.
#[derive(Debug)]
pub(in crate::raw) struct PlanRun {
    pub(in crate::raw) execution: Execution<AnyPlan, PendingMessage>,
    pub(in crate::raw) state: RunState,
}

impl PlanRun {
    /// A run of the plan, as the collective with this number.
    #[inline(always)]
    pub(in crate::raw) fn new(plan: AnyPlan, call: &Call, number: u32, alone: bool) -> Self {
        Self {
            execution: Execution::new(plan),
            state: RunState {
                memory: RunMemory::default(),
                element: call.element_bytes,
                block: call.bytes(),
                number,
                alone,
                fast_receive: None,
                unpolled: false,
            },
        }
    }

    /// Gives the run memory that is known to be enough.
    #[inline(always)]
    pub(in crate::raw) fn take_memory(&mut self, memory: RunMemory) {
        self.state.memory = memory;
    }

    /// Whether a new receive should be polled on the fast path before the endpoint makes progress, which
    /// would take its message the slower way. True once for each receive.
    #[inline]
    pub(in crate::raw) const fn take_unpolled(&mut self) -> bool {
        std::mem::replace(&mut self.state.unpolled, false)
    }

    /// Makes the run start over. No message is under way.
    pub(in crate::raw) fn restart(&mut self) {
        self.execution.restart();
    }

    /// Takes the memory back, for the next collective. No message is under way.
    pub(in crate::raw) fn take_memory_back(&mut self) -> RunMemory {
        std::mem::take(&mut self.state.memory)
    }
}

/// A message under way, and the number of bytes that it must have.
#[derive(Debug)]
pub(in crate::raw) struct PendingMessage {
    /// `None`: the fast receive of the run.
    pub(in crate::raw) request: Option<OpenRequest>,
    pub(in crate::raw) bytes: u64,
    /// The memory that holds its bytes meanwhile, if not their own.
    pub(in crate::raw) packed: Option<Box<PackedMessage>>,
}

/// The state of a run beside its execution.
#[derive(Debug)]
pub(in crate::raw) struct RunState {
    pub(in crate::raw) memory: RunMemory,
    /// Bytes of one element.
    pub(in crate::raw) element: u64,
    /// Bytes of one block where all are equally long.
    pub(in crate::raw) block: u64,
    /// The collective's number.
    pub(in crate::raw) number: u32,
    /// Whether the thread waits for this run only, so that receives may poll the fast path.
    pub(in crate::raw) alone: bool,
    pub(in crate::raw) fast_receive: Option<FastReceive>,
    /// The fast receive has not been polled yet.
    pub(in crate::raw) unpolled: bool,
}

/// A receive that polls the fast path as long as it is open. A run has one at a time: the next receive posts
/// it first, so that receives keep their order.
#[derive(Clone, Copy, Debug)]
pub(in crate::raw) struct FastReceive {
    pub(in crate::raw) peer: Peer,
    pub(in crate::raw) envelope: Envelope,
    pub(in crate::raw) body: RawBytes,
    pub(in crate::raw) posted: Option<OpenRequest>,
}
