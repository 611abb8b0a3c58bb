//! Scopes: nonblocking operations that borrow their buffers (MPI 5.0, section 3.7).

use std::fmt;
use std::mem::MaybeUninit;

use oxmpi_core::{Communicator, Destination, Mode, RawRequest, Result, Source, Tag, Threading};

use super::collective::Collective;
use super::open_requests::OpenRequests;
use super::request::Request;
use super::{Comm, Persistent};
use crate::buffer::Buffer;
use crate::data::{Data, zeroed};
use crate::op::{Combine, owned_operation};
use crate::values::{LentValues, Values, ValuesMut};

/// A scope for nonblocking requests; made by [`Comm::scope`](crate::Comm::scope).
///
/// Buffers are borrowed for `'env`, which outlives the scope.
pub struct Scope<'scope, 'env: 'scope, A: Threading> {
    comm: &'env Comm<A>,
    requests: OpenRequests<'scope, 'env, A>,
}

impl<'scope, 'env, A: Threading> Scope<'scope, 'env, A> {
    #[inline(always)]
    pub(super) fn new(comm: &'env Comm<A>) -> Self {
        Self {
            comm,
            requests: OpenRequests::new(&comm.raw),
        }
    }

    /// Starts a standard send (`MPI_Isend`).
    ///
    /// # Errors
    /// As [`Comm::send`](crate::Comm::send).
    #[inline]
    pub fn isend<T: Data, V: Values<T> + ?Sized>(
        &'scope self,
        values: &'env V,
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<Request<'scope, 'env, V::Read<'env>, A>> {
        self.start_send(values, to, tag, Mode::Standard)
    }

    /// Starts a synchronous send, which completes when its receive has begun (`MPI_Issend`).
    ///
    /// # Errors
    /// As [`Comm::send`](crate::Comm::send).
    #[inline]
    pub fn issend<T: Data, V: Values<T> + ?Sized>(
        &'scope self,
        values: &'env V,
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<Request<'scope, 'env, V::Read<'env>, A>> {
        self.start_send(values, to, tag, Mode::Synchronous)
    }

    /// Starts a ready send (`MPI_Irsend`); see [`Comm::rsend`](crate::Comm::rsend).
    ///
    /// # Errors
    /// As [`Comm::send`](crate::Comm::send).
    #[inline]
    pub fn irsend<T: Data, V: Values<T> + ?Sized>(
        &'scope self,
        values: &'env V,
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<Request<'scope, 'env, V::Read<'env>, A>> {
        self.start_send(values, to, tag, Mode::Ready)
    }

    /// Starts a receive (`MPI_Irecv`).
    ///
    /// # Errors
    /// When the rank does not exist or the tag is too large; other errors of
    /// [`Comm::recv`](crate::Comm::recv) are given by the request.
    #[inline(always)]
    pub fn irecv<T: Data, V: ValuesMut<T> + ?Sized>(
        &'scope self,
        values: &'env mut V,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Request<'scope, 'env, V::Written<'env>, A>> {
        let LentValues { bytes, held, .. } = values.lend_mut();
        let request = self.raw().irecv(bytes, source.into(), tag.into())?;
        Ok(self.keep(request, held))
    }

    /// Starts a receive into memory that need not be initialised (`MPI_Irecv`). The elements behind those of the message
    /// are zero.
    ///
    /// ```
    /// # use oxmpi::World;
    /// # let world = World::init()?;
    /// # let comm = world.comm();
    /// # let (left, right) = (comm.rank(), comm.rank());
    /// let mut room = Vec::with_capacity(4);
    /// comm.scope(|s| {
    ///     let receive = s.irecv_uninit::<u32>(&mut room.spare_capacity_mut()[..4], left, 7)?;
    ///     s.isend(&[1u32, 2, 3], right, 7)?;
    ///     let (got, status) = receive.wait()?;
    ///     assert_eq!((&*got, status.count::<u32>()), (&[1, 2, 3, 0][..], Some(3)));
    ///     Ok(())
    /// })?;
    /// # Ok::<(), oxmpi::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scope::irecv`].
    ///
    /// # Cost
    /// All of `values` are set to zero first, as the length of the message is not known yet;
    /// [`Comm::recv_uninit`](crate::Comm::recv_uninit) knows it.
    pub fn irecv_uninit<T: Data>(
        &'scope self,
        values: &'env mut [MaybeUninit<T>],
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Request<'scope, 'env, &'env mut [T], A>> {
        let count = values.len();
        self.irecv(zeroed(values, count), source, tag)
    }

    /// Starts a collective (`MPI_Iallreduce` and its kin), which progresses in this thread's calls that wait
    /// or test. Ranks start the collectives of a communicator, and call its blocking ones, in the same order.
    ///
    /// An operation of your own may not borrow local variables, and is `Send`: any thread that uses the
    /// endpoint may call it. The status of a collective has no meaning.
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
    /// When the arguments are wrong, as for the method of the collective's name; other errors are given by
    /// the request.
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

    /// Starts a run of a persistent send, receive or collective (`MPI_Start`). Its request gives the operation
    /// back.
    ///
    /// # Errors
    /// When it belongs to another communicator, or an earlier run of a collective has failed; other errors are
    /// given by the request, or by this call where it sees them.
    pub fn restart<'comm, B: Buffer>(
        &'scope self,
        persistent: &'env mut Persistent<'comm, B, A>,
    ) -> Result<Request<'scope, 'env, &'env mut Persistent<'comm, B, A>, A>> {
        let held: *mut _ = persistent;
        // SAFETY: `held` was just made of a unique reference, and only the request keeps it.
        let request = unsafe { &mut *held }.start(self.comm)?;
        Ok(self.keep(request, held))
    }

    /// Starts a run of each of several persistent operations (`MPI_Startall`).
    ///
    /// # Errors
    /// The first, as [`Scope::restart`]. The operations before it have been started: a body that returns the
    /// error cancels them, and one that goes on waits for them.
    pub fn restart_all<'comm: 'env, B: Buffer + 'env>(
        &'scope self,
        persistent: impl IntoIterator<Item = &'env mut Persistent<'comm, B, A>>,
    ) -> Result<Vec<Request<'scope, 'env, &'env mut Persistent<'comm, B, A>, A>>> {
        (persistent.into_iter())
            .map(|operation| self.restart(operation))
            .collect()
    }

    #[inline(always)]
    fn start_send<T: Data, V: Values<T> + ?Sized>(
        &'scope self,
        values: &'env V,
        to: impl Into<Destination>,
        tag: u32,
        mode: Mode,
    ) -> Result<Request<'scope, 'env, V::Read<'env>, A>> {
        let Destination(to) = to.into();
        let LentValues { bytes, held, .. } = values.lend();
        let request = self.raw().isend(bytes, to, tag, mode)?;
        Ok(self.keep(request, held))
    }

    #[inline(always)]
    pub(super) fn keep<B: Buffer>(
        &'scope self,
        request: RawRequest,
        buffer: B::Held,
    ) -> Request<'scope, 'env, B, A> {
        self.requests.add(request);
        Request::new(&self.requests, request, buffer)
    }

    #[inline(always)]
    const fn raw(&self) -> &'env Communicator<A> {
        self.requests.raw()
    }

    /// Waits for every open request; the first error is kept, and all are waited for.
    #[inline(always)]
    pub(super) fn finish(&self) -> Result<()> {
        self.requests.finish()
    }

    /// Takes every open request back and waits until none touches its buffer.
    #[cold]
    pub(super) fn take_back(&self) {
        self.requests.take_back();
    }
}

impl<A: Threading> fmt::Debug for Scope<'_, '_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}
