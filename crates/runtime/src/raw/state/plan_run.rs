//! The state of one plan that a rank carries out: its execution, its messages under way, its memory.

use oxmpi_coll::catalog::{AnyPlan, Call};
use oxmpi_coll::exec::Execution;
use oxmpi_os::RawBytes;
use oxmpi_wire::{Envelope, Peer};

use super::super::request::OpenRequest;
use super::super::scratch::{PackedMessage, RunMemory};

/// One plan that a rank carries out.
#[derive(Debug)]
pub(in crate::raw) struct PlanRun {
    pub(in crate::raw) execution: Execution<AnyPlan, PendingMessage>,
    pub(in crate::raw) state: RunState,
}

impl PlanRun {
    /// Prepares the call's plan, as the collective with this number.
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

    /// Gives it memory that is enough.
    #[inline(always)]
    pub(in crate::raw) fn take_memory(&mut self, memory: RunMemory) {
        self.state.memory = memory;
    }

    /// Whether something may come sooner on the fast path than by a turn of the endpoint. Once for
    /// each receive: a turn would take it the longer way.
    #[inline]
    pub(in crate::raw) const fn take_unpolled(&mut self) -> bool {
        std::mem::replace(&mut self.state.unpolled, false)
    }

    /// Prepares it to run once more. Nothing is under way.
    pub(in crate::raw) fn restart(&mut self) {
        self.execution.restart();
    }

    /// The memory, for the next collective. Nothing is under way.
    pub(in crate::raw) fn return_memory_of_run(&mut self) -> RunMemory {
        std::mem::take(&mut self.state.memory)
    }
}

/// A message under way, and the bytes it must have.
#[derive(Debug)]
pub(in crate::raw) struct PendingMessage {
    /// `None`: the fast_receive one.
    pub(in crate::raw) request: Option<OpenRequest>,
    pub(in crate::raw) bytes: u64,
    /// Where its bytes are meanwhile, if not in their place.
    pub(in crate::raw) packed: Option<Box<PackedMessage>>,
}

/// What a run has besides its execution.
#[derive(Debug)]
pub(in crate::raw) struct RunState {
    pub(in crate::raw) memory: RunMemory,
    /// Bytes of one element.
    pub(in crate::raw) element: u64,
    /// Bytes of one block where all are equally long.
    pub(in crate::raw) block: u64,
    /// The collective's number.
    pub(in crate::raw) number: u32,
    /// Whether this thread waits for nothing else, so that what comes may be looked for on the
    /// fast path.
    pub(in crate::raw) alone: bool,
    pub(in crate::raw) fast_receive: Option<FastReceive>,
    /// It was not asked for yet.
    pub(in crate::raw) unpolled: bool,
}

/// A receive that polls on the fast path as long as it can. There is one at a time: the next one
/// posts it before itself, so that receives keep their order.
#[derive(Clone, Copy, Debug)]
pub(in crate::raw) struct FastReceive {
    pub(in crate::raw) peer: Peer,
    pub(in crate::raw) envelope: Envelope,
    pub(in crate::raw) body: RawBytes,
    pub(in crate::raw) posted: Option<OpenRequest>,
}
