//! Persistent collectives (MPI 5.0, section 6.13).

use std::fmt;

use oxmpi_core::{Error, RawRequest, Result, Threading};

use super::Comm;
use super::collective::Collective;
use crate::buffer::{Buffer, sealed::HoldBuffer};
use crate::op::{Combine, owned_operation};

/// A collective that is prepared once and run repeatedly with the same buffers; made by [`Comm::persistent`].
///
/// [`run`](Persistent::run) runs it to its end; [`Scope::restart`](crate::Scope::restart) starts it
/// beside other work.
pub struct Persistent<'comm, B: Buffer, A: Threading> {
    comm: &'comm Comm<A>,
    raw: oxmpi_core::PreparedCollective<'comm, A>,
    held: B::Held,
}

impl<A: Threading> Comm<A> {
    /// Prepares a collective that is run repeatedly (`MPI_Allreduce_init` and its kin). Ranks prepare those
    /// of one communicator in the same order, and run them in any order on which all agree.
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
        let raw = self.raw.prepare(call, buffers, operation)?;
        Ok(Persistent::new(self, raw, held))
    }
}

impl<'comm, B: Buffer, A: Threading> Persistent<'comm, B, A> {
    /// A prepared collective of `comm`.
    pub(super) const fn new(
        comm: &'comm Comm<A>,
        raw: oxmpi_core::PreparedCollective<'comm, A>,
        held: B::Held,
    ) -> Self {
        Self { comm, raw, held }
    }
}

impl<B: Buffer, A: Threading> Persistent<'_, B, A> {
    /// Runs it once (`MPI_Start` and `MPI_Wait`).
    ///
    /// # Errors
    /// As the method of the collective's name. After an error it cannot be run again.
    ///
    /// # Cost
    /// Nothing is allocated, and no algorithm is chosen.
    pub fn run(&mut self) -> Result<()> {
        let request = self.start(self.comm)?;
        self.comm.raw.wait(request).map(drop)
    }

    /// The buffers, between two runs.
    pub fn buffers(&mut self) -> B::Lent<'_> {
        // SAFETY: `held` was made of a `B`. No run is under way: `run` waits for its completion, and a scope
        // that started one has borrowed `self` uniquely until its own end.
        unsafe { B::lend(&mut self.held) }
    }

    /// Starts a run for a scope of `comm`.
    pub(crate) fn start(&self, comm: &Comm<A>) -> Result<RawRequest> {
        if !std::ptr::eq(self.comm, comm) {
            return Err(Error::Collective {
                rank: comm.rank(),
                why: "a persistent one is started in a scope of another communicator".to_owned(),
            });
        }
        self.raw.start()
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
