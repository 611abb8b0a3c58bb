//! Collectives that go on while their ranks do something else.
//!
//! One that was started is a request of its endpoint as a message is. The endpoint keeps those that have
//! not ended, and whoever waits or tests on the endpoint advances them: no thread does, and no lock is
//! held meanwhile but the endpoint's own. The one that is advanced is taken out of the endpoint, so that its
//! operation may call what it likes.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, ThreadId};

use oxmpi_coll::plan::Side;
use oxmpi_os::RawBytes;
use oxmpi_wire::engine::{Failure, Outcome, Status};

use super::super::access::Threading;
use super::super::communicator::OpenRequest;
use super::super::endpoint::Endpoint;
use super::super::group::Group;
use super::members::Members;
use super::plan_run::PlanRun;
use super::stages::StageSequence;
use crate::error::{Error, Result};

/// As [`Operation`](super::Operation), kept by the collective.
pub(crate) type OwnedOperation = Box<dyn Fn(RawBytes, RawBytes, Side) + Send>;

/// A collective under way, or a persistent one between two runs.
pub(super) struct StartedCollective {
    pub(super) request: Option<OpenRequest>,
    pub(super) sequence: StageSequence,
    pub(super) operation: Option<OwnedOperation>,
    pub(super) group: Group,
    pub(super) context: u32,
    /// Its number if it is persistent: then it is kept at its end.
    pub(super) kept: Option<u32>,
}

/// One that is taken out of its endpoint, to be advanced.
#[derive(Debug)]
struct AdvancingCollective {
    request: OpenRequest,
    context: u32,
    kept: Option<u32>,
    /// Who advances it.
    by: ThreadId,
    /// Whether it was taken back meanwhile.
    taken_back: bool,
}

/// The collectives of an endpoint.
#[derive(Debug, Default)]
pub(crate) struct StartedCollectives {
    /// Those under way; the next to be advanced comes first.
    open: VecDeque<Box<StartedCollective>>,
    /// Those that are taken out to be advanced.
    out: Vec<AdvancingCollective>,
    /// Persistent ones between two runs.
    #[expect(
        clippy::vec_box,
        reason = "a run's start and end move no more than a pointer"
    )]
    kept: Vec<Box<StartedCollective>>,
    /// Why some failed that nobody has asked for yet.
    errors: Vec<(u32, Error)>,
    next_error: u32,
    /// The endpoint is being left: none is advanced any more.
    closed: bool,
}

impl StartedCollectives {
    /// Whether one waits to be advanced.
    #[inline]
    pub(crate) fn are_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether one is under way, also where somebody advances it now.
    pub(crate) fn are_under_way(&self) -> bool {
        !self.open.is_empty() || !self.out.is_empty()
    }

    /// Takes out the next one to be advanced.
    fn next(&mut self) -> Option<Box<StartedCollective>> {
        let open = self.open.pop_front()?;
        self.goes_out(&open);
        Some(open)
    }

    /// This thread advances one.
    fn goes_out(&mut self, open: &StartedCollective) {
        self.out
            .extend(open.request.map(|request| AdvancingCollective {
                request,
                context: open.context,
                kept: open.kept,
                by: thread::current().id(),
                taken_back: false,
            }));
    }

    /// Puts one back that was advanced; gives it again if it was taken back meanwhile.
    fn put_back(&mut self, open: Box<StartedCollective>) -> Option<Box<StartedCollective>> {
        let taken_back = open.request.is_some_and(|request| self.ends(request));
        if taken_back {
            return Some(open);
        }
        self.open.push_back(open);
        None
    }

    /// One is advanced no more. Whether it was taken back meanwhile.
    fn ends(&mut self, request: OpenRequest) -> bool {
        let at = self.out.iter().position(|out| out.request == request);
        at.is_some_and(|at| self.out.swap_remove(at).taken_back)
    }

    /// Takes out the one that is this request. One that somebody is advancing now is marked.
    fn take(&mut self, request: OpenRequest) -> Option<Box<StartedCollective>> {
        if let Some(out) = self.out.iter_mut().find(|out| out.request == request) {
            out.taken_back = true;
        }
        let mut all = self.open.iter();
        let at = all.position(|open| open.request == Some(request))?;
        self.open.remove(at)
    }

    /// Takes a persistent one out, if it is between two runs.
    pub(super) fn take_kept(
        &mut self,
        context: u32,
        number: u32,
    ) -> Option<Box<StartedCollective>> {
        let mut all = self.kept.iter();
        let at = all.position(|open| open.is(context, number))?;
        Some(self.kept.swap_remove(at))
    }

    /// The request of a persistent one, if it is under way.
    pub(super) fn request(&self, context: u32, number: u32) -> Option<OpenRequest> {
        let mut out = self.out.iter();
        let out = out.find(|out| (out.context, out.kept) == (context, Some(number)));
        out.map(|out| out.request).or_else(|| {
            let mut all = self.open.iter();
            all.find(|open| open.is(context, number))?.request
        })
    }

    /// Keeps one until it is asked for by [`StartedCollectives::take_kept`], or as long as the endpoint lives.
    pub(super) fn keep(&mut self, open: Box<StartedCollective>) {
        self.kept.push(open);
    }

    /// Advances none any more: the endpoint is being left. Those that are out come back, or end.
    ///
    /// # Panics
    /// If this thread has one out: an operation of a collective cannot leave the job, whose end waits
    /// for the collective's.
    pub(crate) fn close(&mut self) {
        let me = thread::current().id();
        assert!(
            self.out.iter().all(|out| out.by != me),
            "an operation of a collective that was started cannot leave the job"
        );
        self.closed = true;
    }

    /// The requests of all that are not out, which do not go on: the endpoint ends. Their buffers are
    /// their callers' when all messages of the endpoint have ended.
    pub(crate) fn end(&mut self) -> impl Iterator<Item = OpenRequest> {
        let first = self.kept.len();
        self.kept.extend(self.open.drain(..));
        self.kept[first..]
            .iter_mut()
            .filter_map(|open| open.request.take())
    }

    /// Notes why one failed, and names it.
    fn note(&mut self, error: Error) -> Failure {
        self.next_error = self.next_error.wrapping_add(1);
        self.errors.push((self.next_error, error));
        Failure::Own(self.next_error)
    }

    /// Why the one failed that was named by this number. It is told once.
    pub(crate) fn error(&mut self, number: u32) -> Option<Error> {
        let at = self.errors.iter().position(|error| error.0 == number)?;
        Some(self.errors.swap_remove(at).1)
    }
}

/// Advances every collective that is under way on the endpoint, once.
#[cold]
pub(crate) fn drive<A: Threading>(access: &A) {
    let next = |endpoint: &mut Endpoint| {
        let usable = endpoint.is_usable() && !endpoint.collectives.closed;
        usable.then(|| endpoint.collectives.next())
    };
    let count = access.with(|endpoint| endpoint.collectives.open.len());
    for _ in 0..count {
        let Some(open) = access.with(next).flatten() else {
            return;
        };
        advance(access, open);
    }
}

/// Starts one: from now on it is a request.
pub(super) fn begin<A: Threading>(access: &A, mut open: Box<StartedCollective>) -> OpenRequest {
    open.sequence.begin();
    let (request, open) = access.with(|endpoint| {
        let request = endpoint.begin_own();
        open.request = Some(request);
        if endpoint.collectives.closed {
            endpoint.collectives.open.push_back(open);
            return (request, None);
        }
        endpoint.collectives.goes_out(&open);
        (request, Some(open))
    });
    if let Some(open) = open {
        advance(access, open);
    }
    request
}

/// Advances one that was taken out, and puts it back or ends it.
fn advance<A: Threading>(access: &A, mut open: Box<StartedCollective>) {
    let error = match catch_unwind(AssertUnwindSafe(|| open.advance(access))) {
        Ok(Ok(true)) => return end(access, open, Ok(Status::own(false))),
        Ok(Ok(false)) => {
            if let Some(open) = access.with(|endpoint| endpoint.collectives.put_back(open)) {
                give_up(access, open);
            }
            return;
        }
        Ok(Err(error)) => error,
        Err(_) => open.parts(access).1.refused(&"its operation panicked"),
    };
    let (run, members) = open.parts(access);
    let error = members.end_for(error);
    run.abandon(members);
    let failure = access.with(|endpoint| endpoint.collectives.note(error));
    end(access, open, Err(failure));
}

/// Takes one back, if the request is one. One that is being advanced ends so after that.
pub(crate) fn take_back<A: Threading>(access: &A, request: OpenRequest) {
    if let Some(open) = access.with(|endpoint| endpoint.collectives.take(request)) {
        give_up(access, open);
    }
}

/// Ends one that its caller has taken back.
#[cold]
fn give_up<A: Threading>(access: &A, mut open: Box<StartedCollective>) {
    let (run, members) = open.parts(access);
    members.end_all(None);
    run.abandon(members);
    end(access, open, Ok(Status::own(true)));
}

/// Tells how one has ended, and keeps it if it is persistent, both at once: whoever sees the end may
/// start it again. Another one's memory is given back.
fn end<A: Threading>(access: &A, mut open: Box<StartedCollective>, outcome: Outcome) {
    let over = access.with(|endpoint| {
        if let Some(request) = open.request.take() {
            endpoint.collectives.ends(request);
            endpoint.end_own(request, outcome);
        }
        if open.kept.is_some() {
            endpoint.collectives.keep(open);
            return None;
        }
        endpoint.return_memory(open.sequence.return_memory_of_run());
        Some(open)
    });
    // Its operation is dropped last, while no endpoint is held: it is the user's.
    drop(over);
}

impl StartedCollective {
    /// Whether it is the persistent one of this number.
    fn is(&self, context: u32, number: u32) -> bool {
        (self.context, self.kept) == (context, Some(number))
    }

    /// What runs, and with whom.
    fn parts<'a, A: Threading>(&'a mut self, access: &'a A) -> (&'a mut PlanRun, Members<'a, A>) {
        let members = Members {
            access,
            group: &self.group,
            context: self.context,
        };
        (&mut self.sequence.stage().run, members)
    }

    /// Goes on as far as it can. Whether it is done.
    fn advance<A: Threading>(&mut self, access: &A) -> Result<bool> {
        let members = Members {
            access,
            group: &self.group,
            context: self.context,
        };
        let operation = self.operation.as_ref();
        let operation = operation.map(|operation| &**operation as &dyn Fn(_, _, _));
        while self.sequence.stage().advance(members, operation)? {
            if !self.sequence.next(members)? {
                return Ok(true);
            }
        }
        members.check_notices().map(|()| false)
    }
}

impl fmt::Debug for StartedCollective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartedCollective")
            .field("request", &self.request)
            .field("sequence", &self.sequence)
            .finish_non_exhaustive()
    }
}
