//! Collectives that go on while their ranks do something else.
//!
//! One that was started is a request of its lane as a message is. The lane keeps those that have
//! not ended, and whoever waits or tests on the lane advances them: no thread does, and no lock is
//! held meanwhile but the lane's own. The one that is advanced is taken out of the lane, so that its
//! operation may call what it likes.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use oxmpi_coll::plan::Side;
use oxmpi_os::RawBytes;
use oxmpi_wire::engine::{Failure, Status};

use super::super::access::Access;
use super::super::communicator::OpenRequest;
use super::super::group::Group;
use super::buffers::Buffers;
use super::meeting::Meeting;
use super::run::Run;
use crate::error::{Error, Result};

/// As [`Operation`](super::Operation), kept by the collective.
pub(crate) type OwnOperation = Box<dyn Fn(RawBytes, RawBytes, Side) + Send>;

/// A collective under way, or a persistent one between two runs.
pub(super) struct Open {
    pub(super) request: Option<OpenRequest>,
    pub(super) run: Run,
    pub(super) buffers: Buffers,
    pub(super) operation: Option<OwnOperation>,
    pub(super) group: Group,
    pub(super) context: u32,
    /// Its number if it is persistent: then it is kept at its end.
    pub(super) kept: Option<u32>,
}

/// The collectives of a lane.
#[derive(Debug, Default)]
pub(crate) struct Collectives {
    /// Those under way; the next to be advanced comes first.
    open: VecDeque<Box<Open>>,
    /// Persistent ones between two runs.
    kept: Vec<Box<Open>>,
    /// Why some failed that nobody has asked for yet.
    errors: Vec<(u32, Error)>,
    next_error: u32,
}

impl Collectives {
    /// Whether one is under way.
    #[inline]
    pub(crate) fn are_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Takes out the one that is this request, unless somebody is advancing it now.
    fn take(&mut self, request: OpenRequest) -> Option<Box<Open>> {
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
        let mut all = self.open.iter();
        all.find(|open| open.is(context, number))?.request
    }

    /// Keeps one until it is asked for by [`Collectives::take_kept`], or as long as the lane lives.
    pub(super) fn keep(&mut self, open: Box<Open>) {
        self.kept.push(open);
    }

    /// The requests of all, which do not go on: the lane ends. Their buffers are their callers'
    /// when all messages of the lane have ended.
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
    let next = || {
        access.with(|lane| {
            let usable = lane.is_usable();
            lane.collectives.open.pop_front().filter(|_| usable)
        })
    };
    let count = access.with(|lane| lane.collectives.open.len());
    for _ in 0..count {
        let Some(open) = next() else {
            return;
        };
        advance(access, open);
    }
}

/// Advances one, and puts it back or ends it.
pub(super) fn advance<A: Access>(access: &A, mut open: Box<Open>) {
    match catch_unwind(AssertUnwindSafe(|| open.go_on(access))) {
        Ok(Ok(false)) => access.with(|lane| lane.collectives.open.push_back(open)),
        Ok(Ok(true)) => end(access, open, Ok(())),
        Ok(Err(error)) => fail(access, open, error),
        Err(_) => {
            let why = open.meeting(access).refused(&"its operation panicked");
            fail(access, open, why);
        }
    }
}

/// Ends one that has failed.
#[cold]
fn fail<A: Access>(access: &A, mut open: Box<Open>, error: Error) {
    let meeting = Meeting {
        access,
        group: &open.group,
        context: open.context,
    };
    let error = meeting.end_for(error);
    open.run.abandon(meeting);
    end(access, open, Err(error));
}

/// Takes one back, unless somebody is advancing it now. Whether it was.
pub(crate) fn take_back<A: Access>(access: &A, request: OpenRequest) -> bool {
    let Some(mut open) = access.with(|lane| lane.collectives.take(request)) else {
        return false;
    };
    let meeting = Meeting {
        access,
        group: &open.group,
        context: open.context,
    };
    meeting.end_all(None);
    open.run.abandon(meeting);
    access.with(|lane| lane.end_own(request, Ok(Status::own(true))));
    open.request = None;
    put_away(access, open);
    true
}

/// Tells how one has ended, and lets go of it.
fn end<A: Access>(access: &A, mut open: Box<Open>, result: Result<()>) {
    let request = open.request.take();
    access.with(|lane| {
        let outcome = match result {
            Ok(()) => Ok(Status::own(false)),
            Err(error) => Err(lane.collectives.note(error)),
        };
        if let Some(request) = request {
            lane.end_own(request, outcome);
        }
    });
    put_away(access, open);
}

/// Keeps a persistent one, and gives another one's memory back.
fn put_away<A: Access>(access: &A, mut open: Box<Open>) {
    if open.kept.is_some() {
        return access.with(|lane| lane.collectives.keep(open));
    }
    let rooms = open.run.vacate();
    access.with(|lane| lane.return_rooms(rooms));
    // Its operation is dropped last, while no lane is held: it is the user's.
    drop(open);
}

impl Open {
    /// Whether it is the persistent one of this number.
    fn is(&self, context: u32, number: u32) -> bool {
        (self.context, self.kept) == (context, Some(number))
    }

    fn meeting<'a, A: Access>(&'a self, access: &'a A) -> Meeting<'a, A> {
        Meeting {
            access,
            group: &self.group,
            context: self.context,
        }
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
        let done = self.run.advance(meeting, &self.buffers, operation)?;
        if !done {
            meeting.look()?;
        }
        Ok(done)
    }
}

impl fmt::Debug for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Open")
            .field("request", &self.request)
            .field("run", &self.run)
            .finish_non_exhaustive()
    }
}
