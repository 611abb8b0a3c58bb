//! One collective under way.

use oxmpi_coll::catalog::{AnyPlan, Call};
use oxmpi_coll::exec::{Execution, Failure, Progress};

use super::super::access::Access;
use super::super::communicator::OpenRequest;
use super::super::group::Group;
use super::super::scratch::Rooms;
use super::binding::{Binding, State, Ticket};
use super::buffers::{Buffers, Operation};
use super::meeting::Meeting;
use crate::error::Result;

/// One collective under way.
#[derive(Debug)]
pub(super) struct Run {
    execution: Execution<AnyPlan, Ticket>,
    state: State,
}

impl Run {
    /// Prepares the call's plan, as the collective with this number.
    #[inline(always)]
    pub(super) fn new(plan: AnyPlan, call: &Call, number: u32, alone: bool) -> Self {
        Self {
            execution: Execution::new(plan),
            state: State {
                rooms: Rooms::default(),
                element: call.element_bytes,
                block: call.bytes(),
                number,
                alone,
                awaited: None,
                fresh: false,
            },
        }
    }

    /// Gives it memory, before it starts.
    ///
    /// # Errors
    /// When there is not enough.
    #[inline(always)]
    pub(super) fn furnish<A: Access>(
        &mut self,
        meeting: Meeting<'_, A>,
        buffers: &Buffers,
        rooms: Rooms,
    ) -> Result<()> {
        self.take_rooms(rooms);
        let elements = self.execution.scratch(buffers.given());
        let bytes = elements.saturating_mul(self.state.element);
        if !self.state.rooms.scratch.grow(bytes) {
            return Err(meeting.refused(&format_args!("no memory for {bytes} B of scratch")));
        }
        Ok(())
    }

    /// Gives it memory that is enough.
    #[inline(always)]
    pub(super) fn take_rooms(&mut self, rooms: Rooms) {
        self.state.rooms = rooms;
    }

    /// Goes on as far as it can; its plan names these ranks. Whether it is done.
    ///
    /// # Errors
    /// When a message or the operation fails; then [`Run::abandon`] is what is left to do.
    #[inline]
    pub(super) fn advance<A: Access>(
        &mut self,
        meeting: Meeting<'_, A>,
        ranks: &Group,
        buffers: &Buffers,
        operation: Option<Operation<'_>>,
    ) -> Result<bool> {
        let mut binding = Binding {
            meeting,
            ranks,
            buffers,
            operation,
            state: &mut self.state,
        };
        match self.execution.advance(buffers.given(), &mut binding) {
            Ok(Progress::Done) => Ok(true),
            Ok(Progress::Pending) => Ok(false),
            Err(Failure::Driver(error)) => Err(error),
            Err(broken) => Err(meeting.refused(&broken)),
        }
    }

    /// Whether something may come sooner on the direct road than by a turn of the lane. Once for
    /// each receive: a turn would take it the longer way.
    #[inline]
    pub(super) const fn take_fresh(&mut self) -> bool {
        std::mem::replace(&mut self.state.fresh, false)
    }

    /// Prepares it to run once more. Nothing is under way.
    pub(super) fn restart(&mut self) {
        self.execution.restart();
    }

    /// Gives up: takes every message back and waits until none touches a buffer any more.
    pub(super) fn abandon<A: Access>(&mut self, meeting: Meeting<'_, A>) {
        while let Some(ticket) = self.execution.abandon() {
            let posted = match ticket.request {
                Some(request) => Some(request),
                None => self.state.awaited.take().and_then(|awaited| awaited.posted),
            };
            if let Some(request) = posted {
                take_back(meeting, request);
            }
        }
    }

    /// The memory, for the next collective. Nothing is under way.
    pub(super) fn vacate(&mut self) -> Rooms {
        std::mem::take(&mut self.state.rooms)
    }
}

/// Takes a message back. How it ends is the collective's failure, which is told already.
fn take_back<A: Access>(meeting: Meeting<'_, A>, request: OpenRequest) {
    let mine = meeting.access.with(|lane| {
        let mine = lane.check_process().is_ok();
        if mine {
            lane.take_back(request);
        }
        mine
    });
    if mine {
        let _ended = meeting.access.until(|lane| lane.test(request));
    }
}
