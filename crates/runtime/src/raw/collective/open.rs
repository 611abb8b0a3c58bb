//! Collectives that go on while their ranks do something else.
//!
//! One that was started is a request of its lane as a message is. The lane keeps those that have
//! not ended, and whoever waits or tests on the lane advances them: no thread does, and no lock is
//! held meanwhile but the lane's own. The one that is advanced is taken out of the lane, so that its
//! operation may call what it likes.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, ThreadId};

use oxmpi_coll::plan::Side;
use oxmpi_os::RawBytes;
use oxmpi_wire::engine::{Failure, Outcome, Status};

use super::super::access::Access;
use super::super::communicator::OpenRequest;
use super::super::group::Group;
use super::super::lane::Lane;
use super::meeting::Meeting;
use super::run::Run;
use super::stages::Way;
use crate::error::{Error, Result};

/// As [`Operation`](super::Operation), kept by the collective.
pub(crate) type OwnOperation = Box<dyn Fn(RawBytes, RawBytes, Side) + Send>;

/// A collective under way, or a persistent one between two runs.
pub(super) struct Open {
    pub(super) request: Option<OpenRequest>,
    pub(super) way: Way,
    pub(super) operation: Option<OwnOperation>,
    pub(super) group: Group,
    pub(super) context: u32,
    /// Its number if it is persistent: then it is kept at its end.
    pub(super) kept: Option<u32>,
}

/// One that is taken out of its lane, to be advanced.
#[derive(Debug)]
struct Out {
    request: OpenRequest,
    context: u32,
    kept: Option<u32>,
    /// Who advances it.
    by: ThreadId,
    /// Whether it was taken back meanwhile.
    taken_back: bool,
}

/// The collectives of a lane.
#[derive(Debug, Default)]
pub(crate) struct Collectives {
    /// Those under way; the next to be advanced comes first.
    open: VecDeque<Box<Open>>,
    /// Those that are taken out to be advanced.
    out: Vec<Out>,
    /// Persistent ones between two runs.
    #[expect(
        clippy::vec_box,
        reason = "a run's start and end move no more than a pointer"
    )]
    kept: Vec<Box<Open>>,
    /// Why some failed that nobody has asked for yet.
    errors: Vec<(u32, Error)>,
    next_error: u32,
    /// The lane is being left: none is advanced any more.
    closed: bool,
}

impl Collectives {
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
    fn next(&mut self) -> Option<Box<Open>> {
        let open = self.open.pop_front()?;
        self.goes_out(&open);
        Some(open)
    }

    /// This thread advances one.
    fn goes_out(&mut self, open: &Open) {
        self.out.extend(open.request.map(|request| Out {
            request,
            context: open.context,
            kept: open.kept,
            by: thread::current().id(),
            taken_back: false,
        }));
    }

    /// Puts one back that was advanced; gives it again if it was taken back meanwhile.
    fn put_back(&mut self, open: Box<Open>) -> Option<Box<Open>> {
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
    fn take(&mut self, request: OpenRequest) -> Option<Box<Open>> {
        if let Some(out) = self.out.iter_mut().find(|out| out.request == request) {
            out.taken_back = true;
        }
        let mut all = self.open.iter();
        let at = all.position(|open| open.request == Some(request))?;
        self.open.remove(at)
    }

    /// Takes a persistent one out, if it is between two runs.
    pub(super) fn take_kept(&mut self, context: u32, number: u32) -> Option<Box<Open>> {
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

    /// Keeps one until it is asked for by [`Collectives::take_kept`], or as long as the lane lives.
    pub(super) fn keep(&mut self, open: Box<Open>) {
        self.kept.push(open);
    }

    /// Advances none any more: the lane is being left. Those that are out come back, or end.
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

    /// The requests of all that are not out, which do not go on: the lane ends. Their buffers are
    /// their callers' when all messages of the lane have ended.
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

/// Advances every collective that is under way on the lane, once.
#[cold]
pub(crate) fn drive<A: Access>(access: &A) {
    let next = |lane: &mut Lane| {
        let usable = lane.is_usable() && !lane.collectives.closed;
        usable.then(|| lane.collectives.next())
    };
    let count = access.with(|lane| lane.collectives.open.len());
    for _ in 0..count {
        let Some(open) = access.with(next).flatten() else {
            return;
        };
        advance(access, open);
    }
}

/// Starts one: from now on it is a request.
pub(super) fn begin<A: Access>(access: &A, mut open: Box<Open>) -> OpenRequest {
    open.way.begin();
    let (request, open) = access.with(|lane| {
        let request = lane.begin_own();
        open.request = Some(request);
        if lane.collectives.closed {
            lane.collectives.open.push_back(open);
            return (request, None);
        }
        lane.collectives.goes_out(&open);
        (request, Some(open))
    });
    if let Some(open) = open {
        advance(access, open);
    }
    request
}

/// Advances one that was taken out, and puts it back or ends it.
fn advance<A: Access>(access: &A, mut open: Box<Open>) {
    let error = match catch_unwind(AssertUnwindSafe(|| open.go_on(access))) {
        Ok(Ok(true)) => return end(access, open, Ok(Status::own(false))),
        Ok(Ok(false)) => {
            if let Some(open) = access.with(|lane| lane.collectives.put_back(open)) {
                give_up(access, open);
            }
            return;
        }
        Ok(Err(error)) => error,
        Err(_) => open.parts(access).1.refused(&"its operation panicked"),
    };
    let (run, meeting) = open.parts(access);
    let error = meeting.end_for(error);
    run.abandon(meeting);
    let failure = access.with(|lane| lane.collectives.note(error));
    end(access, open, Err(failure));
}

/// Takes one back, if the request is one. One that is being advanced ends so after that.
pub(crate) fn take_back<A: Access>(access: &A, request: OpenRequest) {
    if let Some(open) = access.with(|lane| lane.collectives.take(request)) {
        give_up(access, open);
    }
}

/// Ends one that its caller has taken back.
#[cold]
fn give_up<A: Access>(access: &A, mut open: Box<Open>) {
    let (run, meeting) = open.parts(access);
    meeting.end_all(None);
    run.abandon(meeting);
    end(access, open, Ok(Status::own(true)));
}

/// Tells how one has ended, and keeps it if it is persistent, both at once: whoever sees the end may
/// start it again. Another one's memory is given back.
fn end<A: Access>(access: &A, mut open: Box<Open>, outcome: Outcome) {
    let over = access.with(|lane| {
        if let Some(request) = open.request.take() {
            lane.collectives.ends(request);
            lane.end_own(request, outcome);
        }
        if open.kept.is_some() {
            lane.collectives.keep(open);
            return None;
        }
        lane.return_rooms(open.way.vacate());
        Some(open)
    });
    // Its operation is dropped last, while no lane is held: it is the user's.
    drop(over);
}

impl Open {
    /// Whether it is the persistent one of this number.
    fn is(&self, context: u32, number: u32) -> bool {
        (self.context, self.kept) == (context, Some(number))
    }

    /// What runs, and with whom.
    fn parts<'a, A: Access>(&'a mut self, access: &'a A) -> (&'a mut Run, Meeting<'a, A>) {
        let meeting = Meeting {
            access,
            group: &self.group,
            context: self.context,
        };
        (&mut self.way.stage().run, meeting)
    }

    /// Goes on as far as it can. Whether it is done.
    fn go_on<A: Access>(&mut self, access: &A) -> Result<bool> {
        let meeting = Meeting {
            access,
            group: &self.group,
            context: self.context,
        };
        let operation = self.operation.as_ref();
        let operation = operation.map(|operation| &**operation as &dyn Fn(_, _, _));
        while self.way.stage().advance(meeting, operation)? {
            if !self.way.next(meeting)? {
                return Ok(true);
            }
        }
        meeting.look().map(|()| false)
    }
}

impl fmt::Debug for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Open")
            .field("request", &self.request)
            .field("way", &self.way)
            .finish_non_exhaustive()
    }
}
