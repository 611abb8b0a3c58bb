//! Persistent operations: sends, receives and collectives that are prepared once and run repeatedly (MPI 5.0,
//! sections 3.9 and 6.13).

use std::fmt;

use oxmpi_core::{
    Destination, Error, Mode, PreparedCollective, PreparedMessage, RawRequest, Result, Source,
    Status, Tag, Threading,
};

use super::Comm;
use super::collective::Collective;
use crate::buffer::{Buffer, sealed::HoldBuffer};
use crate::data::Data;
use crate::op::{Combine, owned_operation};
use crate::values::{LentValues, ValuesMut, ValuesRef};

/// A send, a receive or a collective that is prepared once and run repeatedly with the same buffers; made by
/// [`Comm::send_init`], [`Comm::recv_init`] and their kin, and by [`Comm::persistent`].
///
/// [`run`](Persistent::run) runs it to its end; [`Scope::restart`](crate::Scope::restart) starts it
/// beside other work.
pub struct Persistent<'comm, B: Buffer, A: Threading> {
    comm: &'comm Comm<A>,
    prepared: Prepared<A>,
    held: B::Held,
}

/// What the core has prepared.
pub(super) enum Prepared<A: Threading> {
    Collective(PreparedCollective<A>),
    Message(PreparedMessage),
}

impl<A: Threading> Comm<A> {
    /// Prepares a collective that is run repeatedly (`MPI_Allreduce_init` and its kin). Ranks prepare those
    /// of one communicator in the same order, and run them in any order on which all agree. It may wait for
    /// the other ranks.
    ///
    /// Its input may be lent uniquely too, to be changed between two runs:
    ///
    /// ```
    /// # use oxmpi::{Op, World, collective};
    /// # let world = World::init()?;
    /// # let comm = world.comm();
    /// let (mut mine, mut sums) = ([0.0; 8], [0.0; 8]);
    /// let mut sum = comm.persistent(collective::allreduce(&mut mine, &mut sums, Op::SUM))?;
    /// for step in 0..10 {
    ///     sum.buffers().0.fill(f64::from(step));
    ///     sum.run()?;
    ///     let (_, sums) = sum.buffers();
    ///     assert_eq!(sums[7], f64::from(step) * comm.size() as f64);
    /// }
    /// # Ok::<(), oxmpi::Error>(())
    /// ```
    ///
    /// # Errors
    /// As the method of the collective's name, as far as they can be checked now.
    pub fn persistent<'comm, B, C>(
        &'comm self,
        operation: impl Collective<B, C>,
    ) -> Result<Persistent<'comm, B, A>>
    where
        B: Buffer,
        C: Combine + Send + 'static,
    {
        let described = operation.describe(self.call_site())?;
        let (combine, held) = (described.combine, described.held);
        let operation = combine.map(owned_operation);
        let (call, buffers) = (described.call, described.buffers);
        let prepared = self.raw.prepare(call, buffers, operation)?;
        Ok(Persistent::new(self, Prepared::Collective(prepared), held))
    }

    /// Prepares a standard send of `values` that is run repeatedly (`MPI_Send_init`). Values that are lent
    /// uniquely can be changed between two runs:
    ///
    /// ```
    /// # use oxmpi::World;
    /// # let world = World::init()?;
    /// # let comm = world.comm();
    /// # let (left, right) = (comm.rank(), comm.rank());
    /// let (mut edge, mut ghost) = ([0.0; 64], [0.0; 64]);
    /// let mut send = comm.send_init(&mut edge, right, 7)?;
    /// let mut receive = comm.recv_init(&mut ghost, left, 7)?;
    /// for step in 0..10 {
    ///     send.buffers().fill(f64::from(step));
    ///     comm.scope(|s| {
    ///         s.restart(&mut receive)?;
    ///         s.restart(&mut send)?;
    ///         Ok(()) // the scope waits for both
    ///     })?;
    ///     assert_eq!(receive.buffers()[63], f64::from(step));
    /// }
    /// # Ok::<(), oxmpi::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the rank does not exist, or the tag is too large.
    pub fn send_init<T: Data, V: ValuesRef<T>>(
        &self,
        values: V,
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<Persistent<'_, V::Buffer, A>> {
        self.prepare_send(values.lend_for(), to.into(), tag, Mode::Standard)
    }

    /// As [`Comm::send_init`], for a synchronous send (`MPI_Ssend_init`): see [`Comm::ssend`].
    ///
    /// # Errors
    /// As there.
    pub fn ssend_init<T: Data, V: ValuesRef<T>>(
        &self,
        values: V,
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<Persistent<'_, V::Buffer, A>> {
        self.prepare_send(values.lend_for(), to.into(), tag, Mode::Synchronous)
    }

    /// As [`Comm::send_init`], for a ready send (`MPI_Rsend_init`): see [`Comm::rsend`].
    ///
    /// # Errors
    /// As there.
    pub fn rsend_init<T: Data, V: ValuesRef<T>>(
        &self,
        values: V,
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<Persistent<'_, V::Buffer, A>> {
        self.prepare_send(values.lend_for(), to.into(), tag, Mode::Ready)
    }

    /// As [`Comm::send_init`], for a buffered send (`MPI_Bsend_init`): each run sends a copy of `values` and
    /// ends at once, as [`Comm::bsend`].
    ///
    /// # Errors
    /// As there.
    pub fn bsend_init<T: Data, V: ValuesRef<T>>(
        &self,
        values: V,
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<Persistent<'_, V::Buffer, A>> {
        let LentValues { bytes, held, .. } = values.lend_for();
        let Destination(to) = to.into();
        let prepared = self.raw.prepare_bsend(bytes, to, tag)?;
        Ok(Persistent::new(self, Prepared::Message(prepared), held))
    }

    /// Prepares a receive into `values` that is run repeatedly (`MPI_Recv_init`).
    ///
    /// # Errors
    /// When the rank does not exist, or the tag is too large.
    pub fn recv_init<'comm, 'buf, T: Data, V: ValuesMut<T> + ?Sized>(
        &'comm self,
        values: &'buf mut V,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Persistent<'comm, V::Written<'buf>, A>> {
        let LentValues { bytes, held, .. } = values.lend_mut();
        let prepared = (self.raw).prepare_recv(bytes, source.into(), tag.into())?;
        Ok(Persistent::new(self, Prepared::Message(prepared), held))
    }

    fn prepare_send<B: Buffer>(
        &self,
        values: LentValues<B>,
        Destination(to): Destination,
        tag: u32,
        mode: Mode,
    ) -> Result<Persistent<'_, B, A>> {
        let prepared = self.raw.prepare_send(values.bytes, to, tag, mode)?;
        Ok(Persistent::new(
            self,
            Prepared::Message(prepared),
            values.held,
        ))
    }
}

impl<'comm, B: Buffer, A: Threading> Persistent<'comm, B, A> {
    /// A prepared operation of `comm`, which uses the memory of `held`.
    pub(super) const fn new(comm: &'comm Comm<A>, prepared: Prepared<A>, held: B::Held) -> Self {
        Self {
            comm,
            prepared,
            held,
        }
    }
}

impl<B: Buffer, A: Threading> Persistent<'_, B, A> {
    /// Runs it once (`MPI_Start` and `MPI_Wait`). The status of a send names the receiver and the bytes sent;
    /// that of a collective has no meaning.
    ///
    /// # Errors
    /// Those of [`Comm::send`], [`Comm::recv`], or the method of the collective's name. After an error a
    /// collective cannot be run again.
    ///
    /// # Cost
    /// A message costs what the blocking call does. A collective allocates nothing and chooses no algorithm.
    pub fn run(&mut self) -> Result<Status> {
        match &self.prepared {
            Prepared::Collective(prepared) => self.comm.raw.wait(prepared.start()?),
            Prepared::Message(prepared) => prepared.run(&self.comm.raw),
        }
    }

    /// The buffers, between two runs.
    pub fn buffers(&mut self) -> B::Lent<'_> {
        // SAFETY: `held` was made of a `B`. No run is in progress: `run` waits for its completion, and a scope
        // that started one has borrowed `self` uniquely until its own end.
        unsafe { B::lend(&mut self.held) }
    }

    /// Starts a run for a scope of `comm`.
    pub(crate) fn start(&self, comm: &Comm<A>) -> Result<RawRequest> {
        if !std::ptr::eq(self.comm, comm) {
            return Err(Error::Persistent { rank: comm.rank() });
        }
        match &self.prepared {
            Prepared::Collective(prepared) => prepared.start(),
            Prepared::Message(prepared) => prepared.start(&comm.raw),
        }
    }
}

impl<'buf, 'comm, B: Buffer, A: Threading> HoldBuffer for &'buf mut Persistent<'comm, B, A> {
    type Held = *mut Persistent<'comm, B, A>;

    type Lent<'a>
        = &'a mut Persistent<'comm, B, A>
    where
        'buf: 'a;

    unsafe fn back(held: Self::Held) -> Self {
        // SAFETY: made of such a reference, which no code has used since.
        unsafe { &mut *held }
    }

    unsafe fn lend<'a>(held: &'a mut Self::Held) -> Self::Lent<'a>
    where
        'buf: 'a,
    {
        // SAFETY: as above; and it is lent no longer than its holder.
        unsafe { &mut **held }
    }
}

impl<B: Buffer, A: Threading> fmt::Debug for Persistent<'_, B, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Persistent").finish_non_exhaustive()
    }
}
