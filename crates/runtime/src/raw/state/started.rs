//! Collectives that are under way while their ranks do something else, as their endpoint keeps them.

use std::collections::VecDeque;
use std::fmt;
use std::thread::{self, ThreadId};

use oxmpi_wire::engine::Failure;

use super::super::group::Group;
use super::super::operation::OwnedOperation;
use super::super::request::OpenRequest;
use super::stages::StageSequence;
use crate::error::Error;

/// A collective under way, or a persistent one between two runs.
pub(in crate::raw) struct StartedCollective {
    pub(in crate::raw) request: Option<OpenRequest>,
    pub(in crate::raw) sequence: StageSequence,
    pub(in crate::raw) operation: Option<OwnedOperation>,
    pub(in crate::raw) group: Group,
    pub(in crate::raw) context: u32,
    /// Its number if it is persistent: then it is kept at its end.
    pub(in crate::raw) kept: Option<u32>,
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
    pub(in crate::raw) open: VecDeque<Box<StartedCollective>>,
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
    pub(in crate::raw) closed: bool,
}

impl StartedCollectives {
    /// Whether one waits to be advanced.
    #[inline]
    pub(in crate::raw) fn are_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether one is under way, also where somebody advances it now.
    pub(in crate::raw) fn are_under_way(&self) -> bool {
        !self.open.is_empty() || !self.out.is_empty()
    }

    /// Takes out the next one to be advanced.
    pub(in crate::raw) fn next(&mut self) -> Option<Box<StartedCollective>> {
        let open = self.open.pop_front()?;
        self.goes_out(&open);
        Some(open)
    }

    /// This thread advances one.
    pub(in crate::raw) fn goes_out(&mut self, open: &StartedCollective) {
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
    pub(in crate::raw) fn put_back(
        &mut self,
        open: Box<StartedCollective>,
    ) -> Option<Box<StartedCollective>> {
        let taken_back = open.request.is_some_and(|request| self.ends(request));
        if taken_back {
            return Some(open);
        }
        self.open.push_back(open);
        None
    }

    /// One is advanced no more. Whether it was taken back meanwhile.
    pub(in crate::raw) fn ends(&mut self, request: OpenRequest) -> bool {
        let at = self.out.iter().position(|out| out.request == request);
        at.is_some_and(|at| self.out.swap_remove(at).taken_back)
    }

    /// Takes out the one that is this request. One that somebody is advancing now is marked.
    pub(in crate::raw) fn take(&mut self, request: OpenRequest) -> Option<Box<StartedCollective>> {
        if let Some(out) = self.out.iter_mut().find(|out| out.request == request) {
            out.taken_back = true;
        }
        let mut all = self.open.iter();
        let at = all.position(|open| open.request == Some(request))?;
        self.open.remove(at)
    }

    /// Takes a persistent one out, if it is between two runs.
    pub(in crate::raw) fn take_kept(
        &mut self,
        context: u32,
        number: u32,
    ) -> Option<Box<StartedCollective>> {
        let mut all = self.kept.iter();
        let at = all.position(|open| open.is(context, number))?;
        Some(self.kept.swap_remove(at))
    }

    /// The request of a persistent one, if it is under way.
    pub(in crate::raw) fn request(&self, context: u32, number: u32) -> Option<OpenRequest> {
        let mut out = self.out.iter();
        let out = out.find(|out| (out.context, out.kept) == (context, Some(number)));
        out.map(|out| out.request).or_else(|| {
            let mut all = self.open.iter();
            all.find(|open| open.is(context, number))?.request
        })
    }

    /// Keeps one until it is asked for by [`StartedCollectives::take_kept`], or as long as the endpoint lives.
    pub(in crate::raw) fn keep(&mut self, open: Box<StartedCollective>) {
        self.kept.push(open);
    }

    /// Advances none any more: the endpoint is being left. Those that are out come back, or end.
    ///
    /// # Panics
    /// If this thread has one out: an operation of a collective cannot leave the job, whose end waits
    /// for the collective's.
    pub(in crate::raw) fn close(&mut self) {
        let me = thread::current().id();
        assert!(
            self.out.iter().all(|out| out.by != me),
            "an operation of a collective that was started cannot leave the job"
        );
        self.closed = true;
    }

    /// The requests of all that are not out, which do not go on: the endpoint ends. Their buffers are
    /// their callers' when all messages of the endpoint have ended.
    pub(in crate::raw) fn end(&mut self) -> impl Iterator<Item = OpenRequest> {
        let first = self.kept.len();
        self.kept.extend(self.open.drain(..));
        self.kept[first..]
            .iter_mut()
            .filter_map(|open| open.request.take())
    }

    /// Notes why one failed, and names it.
    pub(in crate::raw) fn note(&mut self, error: Error) -> Failure {
        self.next_error = self.next_error.wrapping_add(1);
        self.errors.push((self.next_error, error));
        Failure::Own(self.next_error)
    }

    /// Why the one failed that was named by this number. It is told once.
    pub(in crate::raw) fn error(&mut self, number: u32) -> Option<Error> {
        let at = self.errors.iter().position(|error| error.0 == number)?;
        Some(self.errors.swap_remove(at).1)
    }
}

impl StartedCollective {
    /// Whether it is the persistent one of this number.
    pub(in crate::raw) fn is(&self, context: u32, number: u32) -> bool {
        (self.context, self.kept) == (context, Some(number))
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
