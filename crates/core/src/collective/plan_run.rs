//! Advances one plan: gives it memory, carries out its steps, and takes its messages back when it fails.

use oxmpi_coll::exec::{Failure, Progress};

use super::super::collective_members::Members;
use super::super::collective_scratch::RunMemory;
use super::super::collective_state::{Buffers, PendingAct, PlanRun};
use super::super::group::Group;
use super::super::operation::UsedOperation;
use super::super::request::OpenRequest;
use super::super::threading::Threading;
use super::plan_driver::PlanDriver;
use crate::error::Result;

impl PlanRun {
    /// Gives the run its memory, before it starts.
    ///
    /// # Errors
    /// When there is not enough memory.
    #[inline(always)]
    pub(super) fn give_memory<A: Threading>(
        &mut self,
        members: Members<'_, A>,
        buffers: &Buffers,
        memory: RunMemory,
    ) -> Result<()> {
        self.take_memory(memory);
        let elements = self.execution.scratch(buffers.given());
        let bytes = elements.saturating_mul(self.state.element);
        if !self.state.memory.scratch.grow(bytes) {
            return Err(members.refused(&format_args!("no memory for {bytes} B of scratch")));
        }
        Ok(())
    }

    /// Carries out all steps that are ready; the plan numbers the ranks of `ranks`. Whether all are done.
    ///
    /// # Errors
    /// When a message or the operation fails; the caller then calls [`PlanRun::abandon`].
    #[inline]
    pub(super) fn advance<A: Threading>(
        &mut self,
        members: Members<'_, A>,
        ranks: &Group,
        buffers: &Buffers,
        operation: UsedOperation<'_>,
    ) -> Result<bool> {
        let mut binding = PlanDriver {
            members,
            ranks,
            buffers,
            operation,
            state: &mut self.state,
        };
        match self.execution.advance(buffers.given(), &mut binding) {
            Ok(Progress::Done) => Ok(true),
            Ok(Progress::Pending) => Ok(false),
            Err(Failure::Driver(error)) => Err(error),
            Err(broken) => Err(members.refused(&broken)),
        }
    }

    /// Takes every message back, and waits until none uses a buffer any more; an intra-node phase has been given up.
    pub(super) fn abandon<A: Threading>(&mut self, members: Members<'_, A>) {
        while let Some(ticket) = self.execution.abandon() {
            let PendingAct::Message(ticket) = ticket else {
                continue;
            };
            let posted = match ticket.request {
                Some(request) => Some(request),
                None => self
                    .state
                    .fast_receive
                    .take()
                    .and_then(|fast_receive| fast_receive.posted),
            };
            if let Some(request) = posted {
                take_back(members, request);
            }
        }
    }
}

/// Takes a message back. Its outcome does not matter: the collective has failed.
fn take_back<A: Threading>(members: Members<'_, A>, request: OpenRequest) {
    let mine = members.access.with(|endpoint| {
        let mine = endpoint.check_process().is_ok();
        if mine {
            endpoint.take_back(request);
        }
        mine
    });
    if mine {
        let _ended = members.access.until(|endpoint| endpoint.test(request));
    }
}
