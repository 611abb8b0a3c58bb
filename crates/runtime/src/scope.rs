//! Nonblocking requests that borrow their buffers (MPI 5.0, section 3.7).
//!
//! The scope owns the list of open requests and ends them all before the borrow may end, so that a
//! request that is leaked, forgotten or dropped early cannot leave a buffer in use. A request that
//! has ended stays in the list, where it is stale: taking it out at its end would cost each request
//! more than the list's next sweep does.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::marker::PhantomData;

use crate::comm::collective::Collective;
use crate::comm::{Comm, Persistent};
use crate::data::{Data, place, source};
use crate::envelope::{Source, Tag};
use crate::error::Result;
use crate::op::{Combine, owned_operation};
use crate::raw::{Communicator, Mode, OpenRequest, RawRequest, Threading};
use crate::request::{Buffer, Request};

/// Where nonblocking requests live; made by [`Comm::scope`](crate::Comm::scope).
///
/// Buffers are borrowed for `'env`, which outlives the scope.
pub struct Scope<'scope, 'env: 'scope, A: Threading> {
    comm: &'env Comm<A>,
    /// The requests that may not have ended.
    open: RefCell<Vec<OpenRequest>>,
    /// Those of them whose end no handle has seen.
    live: Cell<usize>,
    /// Invariant in both lifetimes, as `std::thread::Scope`.
    lifetimes: PhantomData<(&'scope mut &'scope (), &'env mut &'env ())>,
}

impl<'scope, 'env, A: Threading> Scope<'scope, 'env, A> {
    #[inline(always)]
    pub(crate) fn new(comm: &'env Comm<A>) -> Self {
        Self {
            comm,
            open: RefCell::new(comm.raw.lend_list()),
            live: Cell::new(0),
            lifetimes: PhantomData,
        }
    }

    /// Starts a standard send (`MPI_Isend`).
    ///
    /// # Errors
    /// As [`Comm::send`](crate::Comm::send).
    #[inline]
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
    #[inline]
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
    #[inline]
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
    #[inline(always)]
    pub fn irecv<T: Data>(
        &'scope self,
        values: &'env mut [T],
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Request<'scope, 'env, &'env mut [T], A>> {
        let held: *mut [T] = values;
        let request = self.raw().irecv(place(held), source.into(), tag.into())?;
        Ok(self.keep(request, held))
    }

    /// Starts a collective (`MPI_Iallreduce` and its kin), which goes on in the calls of this thread
    /// that wait or test. Ranks start the collectives of a communicator, and call those that block,
    /// in the same order.
    ///
    /// An operation of your own may not borrow what is around it, and is `Send`: any thread that
    /// uses the endpoint may call it. The status that a collective ends with tells nothing.
    ///
    /// ```
    /// # use oxmpi::{Op, World, collective};
    /// # let world = World::init()?;
    /// # let comm = world.comm();
    /// let mine = [1.0, 2.0];
    /// let mut sums = [0.0; 2];
    /// comm.scope(|s| {
    ///     let sum = s.start(collective::allreduce(&mine, &mut sums, Op::SUM))?;
    ///     // work of your own
    ///     sum.wait()
    /// })?;
    /// assert_eq!(sums[1], 2.0 * comm.size() as f64);
    /// # Ok::<(), oxmpi::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the arguments are wrong, as the method of the collective's name tells; what else can go
    /// wrong comes from the request's wait.
    pub fn start<B, C>(
        &'scope self,
        operation: impl Collective<B, C>,
    ) -> Result<Request<'scope, 'env, B, A>>
    where
        B: Buffer + 'env,
        C: Combine + Send + 'static,
    {
        let described = operation.describe(self.comm.call_site())?;
        let operation = described.combine.map(owned_operation);
        let (call, buffers) = (described.call, described.buffers);
        let request = self.comm.raw.start(call, buffers, operation)?;
        Ok(self.keep(request, described.held))
    }

    /// Starts a persistent collective once more (`MPI_Start`). Its request gives it back.
    ///
    /// # Errors
    /// When it is of another communicator, or an earlier run has failed.
    pub fn restart<'comm, B: Buffer>(
        &'scope self,
        persistent: &'env mut Persistent<'comm, B, A>,
    ) -> Result<Request<'scope, 'env, &'env mut Persistent<'comm, B, A>, A>> {
        let held: *mut _ = persistent;
        // SAFETY: what was just given up for its address, which the request alone keeps.
        let request = unsafe { &mut *held }.start(self.comm)?;
        Ok(self.keep(request, held))
    }

    #[inline(always)]
    fn start_send<T: Data>(
        &'scope self,
        values: &'env [T],
        to: usize,
        tag: u32,
        mode: Mode,
    ) -> Result<Request<'scope, 'env, &'env [T], A>> {
        let request = self.raw().isend(source(values), to, tag, mode)?;
        Ok(self.keep(request, values))
    }

    #[inline(always)]
    pub(crate) fn keep<B: Buffer>(
        &'scope self,
        request: RawRequest,
        buffer: B::Held,
    ) -> Request<'scope, 'env, B, A> {
        if let Some(request) = request.open {
            let mut open = self.open.borrow_mut();
            if open.len() == open.capacity() {
                self.make_room(&mut open);
            }
            open.push(request);
            self.live.set(self.live.get() + 1);
        }
        Request::new(self, request, buffer)
    }

    /// Makes room in the list.
    ///
    /// # Cost
    /// Constant on average: the list doubles where less than half of its requests have ended.
    #[cold]
    #[inline(never)]
    fn make_room(&self, open: &mut Vec<OpenRequest>) {
        self.raw().retain_open(open);
        open.reserve((open.len() + 1).max(Self::ROOM));
    }

    /// Room that a list begins with.
    const ROOM: usize = 64;

    pub(crate) const fn raw(&self) -> &'env Communicator<A> {
        &self.comm.raw
    }

    /// The handle of a request has seen its end.
    #[inline(always)]
    pub(crate) fn ended(&self, request: RawRequest) {
        if request.open.is_some() {
            self.live.set(self.live.get() - 1);
        }
    }

    /// Waits for every open request; the first error is kept, and all are waited for.
    #[inline(always)]
    pub(crate) fn finish(&self) -> Result<()> {
        let mut open = self.open.take();
        if self.live.get() != 0 {
            return self.finish_live(open);
        }
        open.clear();
        self.raw().return_list(open);
        Ok(())
    }

    #[inline(never)]
    fn finish_live(&self, mut open: Vec<OpenRequest>) -> Result<()> {
        let result = self.raw().wait_for_all(&mut open);
        self.raw().return_list(open);
        result
    }

    /// Takes every open request back and waits until none touches its buffer.
    #[cold]
    pub(crate) fn take_back(&self) {
        while let Some(request) = self.next_open() {
            // Its failure is one of those that made the scope end.
            let _ = self.raw().take_back(request);
        }
        self.raw().return_list(self.open.take());
    }

    fn next_open(&self) -> Option<OpenRequest> {
        self.open.borrow_mut().pop()
    }
}

impl<A: Threading> fmt::Debug for Scope<'_, '_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}
