//! Nonblocking requests that borrow their buffers (MPI 5.0, section 3.7).
//!
//! The scope owns the list of open requests and ends them all before the borrow may end, so that a
//! request that is leaked, forgotten or dropped early cannot leave a buffer in use.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;

use crate::data::{Data, source, target};
use crate::envelope::{Source, Tag};
use crate::error::Result;
use crate::raw::{Access, Communicator, Mode, RawRequest};
use crate::request::{Buffer, Request};

/// Where nonblocking requests live; made by [`Comm::scope`](crate::Comm::scope).
///
/// Buffers are borrowed for `'env`, which outlives the scope.
pub struct Scope<'scope, 'env: 'scope, A: Access> {
    raw: &'env Communicator<A>,
    open: RefCell<Open>,
    /// Invariant in both lifetimes, as `std::thread::Scope`.
    lifetimes: PhantomData<(&'scope mut &'scope (), &'env mut &'env ())>,
}

/// The requests of a scope that have not ended. A request is named by its place here.
#[derive(Default)]
pub(crate) struct Open {
    requests: Vec<Option<RawRequest>>,
    free: Vec<usize>,
}

impl Open {
    /// The place of a request that is over already: none.
    const NOWHERE: usize = usize::MAX;

    fn add(&mut self, request: RawRequest) -> usize {
        match self.free.pop() {
            Some(place) => {
                self.requests[place] = Some(request);
                place
            }
            None => {
                self.requests.push(Some(request));
                self.requests.len() - 1
            }
        }
    }

    fn remove(&mut self, place: usize) {
        if place != Self::NOWHERE {
            self.requests[place] = None;
            self.free.push(place);
        }
    }

    /// One that has not ended, taken out; places mean nothing from then on.
    fn pop(&mut self) -> Option<RawRequest> {
        while let Some(entry) = self.requests.pop() {
            if entry.is_some() {
                return entry;
            }
        }
        self.free.clear();
        None
    }
}

impl<'scope, 'env, A: Access> Scope<'scope, 'env, A> {
    pub(crate) fn new(raw: &'env Communicator<A>) -> Self {
        Self {
            raw,
            open: RefCell::new(raw.lend_list()),
            lifetimes: PhantomData,
        }
    }

    /// Starts a standard send (`MPI_Isend`).
    ///
    /// # Errors
    /// As [`Comm::send`](crate::Comm::send).
    pub fn isend<T: Data>(
        &'scope self,
        values: &'env [T],
        to: usize,
        tag: u32,
    ) -> Result<Request<'scope, 'env, &'env [T], A>> {
        self.start_send(values, to, tag, Mode::Standard)
    }

    /// Starts a synchronous send: it ends when its receive has begun (`MPI_Issend`).
    ///
    /// # Errors
    /// As [`Comm::send`](crate::Comm::send).
    pub fn issend<T: Data>(
        &'scope self,
        values: &'env [T],
        to: usize,
        tag: u32,
    ) -> Result<Request<'scope, 'env, &'env [T], A>> {
        self.start_send(values, to, tag, Mode::Synchronous)
    }

    /// Starts a ready send (`MPI_Irsend`); see [`Comm::rsend`](crate::Comm::rsend).
    ///
    /// # Errors
    /// As [`Comm::send`](crate::Comm::send).
    pub fn irsend<T: Data>(
        &'scope self,
        values: &'env [T],
        to: usize,
        tag: u32,
    ) -> Result<Request<'scope, 'env, &'env [T], A>> {
        self.start_send(values, to, tag, Mode::Ready)
    }

    /// Starts a receive (`MPI_Irecv`).
    ///
    /// # Errors
    /// When the rank does not exist or the tag is too large; what else can go wrong with
    /// [`Comm::recv`](crate::Comm::recv) comes from the request's wait.
    pub fn irecv<T: Data>(
        &'scope self,
        values: &'env mut [T],
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Request<'scope, 'env, &'env mut [T], A>> {
        let held: *mut [T] = values;
        // SAFETY: the slice that was just given up for its address, which the request alone keeps.
        let bytes = target(unsafe { &mut *held });
        let request = self.raw.irecv(bytes, source.into(), tag.into())?;
        Ok(self.keep(request, held))
    }

    fn start_send<T: Data>(
        &'scope self,
        values: &'env [T],
        to: usize,
        tag: u32,
        mode: Mode,
    ) -> Result<Request<'scope, 'env, &'env [T], A>> {
        let request = self.raw.isend(source(values), to, tag, mode)?;
        Ok(self.keep(request, values))
    }

    fn keep<B: Buffer>(
        &'scope self,
        request: RawRequest,
        buffer: B::Held,
    ) -> Request<'scope, 'env, B, A> {
        let place = match request {
            RawRequest::Open(_) => self.open.borrow_mut().add(request),
            RawRequest::Sent(_) => Open::NOWHERE,
        };
        Request::new(self, place, request, buffer)
    }

    /// The request at `place` is its handle's alone from now on, or has ended.
    pub(crate) fn release(&self, place: usize) {
        self.open.borrow_mut().remove(place);
    }

    pub(crate) const fn raw(&self) -> &'env Communicator<A> {
        self.raw
    }

    /// Waits for every open request; the first error is kept, and all are waited for.
    pub(crate) fn finish(&self) -> Result<()> {
        let mut result = Ok(());
        while let Some(request) = self.next_open() {
            let ended = self.raw.wait(request).map(drop);
            result = result.and(ended);
        }
        self.raw.return_list(self.open.take());
        result
    }

    /// Takes every open request back and waits until none touches its buffer.
    pub(crate) fn take_back(&self) {
        while let Some(request) = self.next_open() {
            // Its failure is one of those that made the scope end.
            let _ = self.raw.take_back(request);
        }
        self.raw.return_list(self.open.take());
    }

    fn next_open(&self) -> Option<RawRequest> {
        self.open.borrow_mut().pop()
    }
}

impl<A: Access> fmt::Debug for Scope<'_, '_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}
