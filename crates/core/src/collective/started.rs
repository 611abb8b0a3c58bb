//! Advances started collectives while their ranks do something else.
//!
//! A started collective is a request of its endpoint, as a message is. The endpoint keeps it until it
//! completes, and every call that waits or tests on the endpoint advances it, or the process's
//! [helper thread](super::super::helper) does: there is no lock but the endpoint's. A collective that is advanced is taken out
//! of the endpoint, so that its operation may use the endpoint.

use std::panic::{AssertUnwindSafe, catch_unwind};

use oxmpi_wire::engine::{Outcome, Status};

use super::super::async_progress;
use super::super::collective_members::Members;
use super::super::collective_state::{
    CallInNode, StartedCollective, StartedWork, WhichCollectives,
};
use super::super::endpoint::Endpoint;
use super::super::operation::UsedOperation;
use super::super::request::OpenRequest;
use super::super::threading::Threading;
use crate::error::Result;

/// Advances every collective that is under way on the endpoint, once.
#[cold]
pub(crate) fn drive<A: Threading>(access: &A) {
    drive_these(access, WhichCollectives::All);
}

/// Advances each of these collectives that is under way on the endpoint, once.
pub(crate) fn drive_these<A: Threading>(access: &A, which: WhichCollectives) {
    let next = |endpoint: &mut Endpoint| {
        let usable = endpoint.is_usable() && !endpoint.collectives.closed;
        usable.then(|| endpoint.collectives.next(which))
    };
    let count = access.with(|endpoint| endpoint.collectives.count(which));
    for _ in 0..count {
        let Some(open) = access.with(next).flatten() else {
            return;
        };
        advance(access, open);
    }
}

/// Starts a collective, which is a request from now on.
pub(super) fn begin<A: Threading>(access: &A, mut open: Box<StartedCollective>) -> OpenRequest {
    open.work.begin();
    let (request, open) = access.with(|endpoint| {
        let request = endpoint.start_generalized();
        open.request = Some(request);
        if endpoint.collectives.closed {
            endpoint.collectives.open.push_back(open);
            return (request, None);
        }
        endpoint.collectives.note_advancing(&open);
        (request, Some(open))
    });
    if let Some(open) = open {
        advance(access, open);
    }
    if async_progress::is_on() {
        access.offer();
    }
    request
}

/// Advances a collective that was taken out, and puts it back or completes it.
fn advance<A: Threading>(access: &A, mut open: Box<StartedCollective>) {
    let error = match catch_unwind(AssertUnwindSafe(|| open.advance(access))) {
        Ok(Ok(true)) => return end(access, open, Ok(Status::generalized(false))),
        Ok(Ok(false)) => {
            if let Some(open) = access.with(|endpoint| endpoint.collectives.put_back(open)) {
                give_up(access, open);
            }
            return;
        }
        Ok(Err(error)) => error,
        Err(_) => open.members(access).refused(&"its operation panicked"),
    };
    let error = open.members(access).end_collectives_for(error);
    open.abandon(access);
    let failure = access.with(|endpoint| endpoint.collectives.note(error));
    end(access, open, Err(failure));
}

/// Cancels the collective with this request, if there is one. One that a thread is advancing is cancelled
/// afterwards.
pub(crate) fn cancel_request<A: Threading>(access: &A, request: OpenRequest) {
    if let Some(open) = access.with(|endpoint| endpoint.collectives.take(request)) {
        give_up(access, open);
    }
}

/// Completes a collective that its caller has cancelled.
#[cold]
fn give_up<A: Threading>(access: &A, mut open: Box<StartedCollective>) {
    open.members(access).end_collectives(None);
    open.abandon(access);
    end(access, open, Ok(Status::generalized(true)));
}

/// Completes a collective, and keeps it if it is persistent, in one step: a caller that sees the completion
/// may start it again. Otherwise its memory is given back.
fn end<A: Threading>(access: &A, mut open: Box<StartedCollective>, outcome: Outcome) {
    let over = access.with(|endpoint| {
        if let Some(request) = open.request.take() {
            endpoint.collectives.note_advanced(request);
            endpoint.complete_generalized(request, outcome);
        }
        if let Some(number) = open.work.place_in_queue() {
            endpoint.leave_group_queue(open.context, number);
        }
        if open.kept.is_some() {
            endpoint.collectives.keep(open);
            return None;
        }
        if let Some(memory) = open.work.take_memory_back() {
            endpoint.return_memory(memory);
        }
        Some(open)
    });
    // The user's operation is dropped last, while the endpoint is not held.
    drop(over);
}

impl StartedCollective {
    /// The ranks of the collective.
    fn members<'a, A: Threading>(&'a self, access: &'a A) -> Members<'a, A> {
        Members {
            access,
            group: &self.group,
            context: self.context,
        }
    }

    /// Ends the intra-node phase and takes every message back, so that no buffer is in use any more.
    fn abandon<A: Threading>(&mut self, access: &A) {
        let (group, context) = (self.group.clone(), self.context);
        let members = Members {
            access,
            group: &group,
            context,
        };
        if let Some((node_group, groups)) = self.give_up_phase() {
            members.return_group(node_group, groups);
        }
        if let StartedWork::Stages(sequence) = &mut self.work {
            sequence.stage().run.abandon(members);
        }
    }

    /// Carries out all steps that are ready. Whether the collective has completed.
    fn advance<A: Threading>(&mut self, access: &A) -> Result<bool> {
        let members = Members {
            access,
            group: &self.group,
            context: self.context,
        };
        let done = match &mut self.work {
            StartedWork::Stages(sequence) => loop {
                let operation = UsedOperation::Owned(&mut self.operation);
                if !sequence.stage().advance(members, operation)? {
                    break false;
                }
                if !sequence.next(members)? {
                    break true;
                }
            },
            StartedWork::InNode(call) => {
                let mut operation = UsedOperation::Owned(&mut self.operation);
                let CallInNode { stage, groups, .. } = call;
                let done = members.advance_phase(stage, groups, &mut operation)?;
                if done {
                    call.buffers.end();
                }
                done
            }
        };
        if !done {
            members.check_notices()?;
        }
        Ok(done)
    }
}
