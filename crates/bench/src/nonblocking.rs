//! The operations that a kernel over nonblocking collectives needs of a message-passing library (MPI 5.0, section 6.12).

use crate::{Collective, Comm};

/// A collective that is started and not yet waited for.
pub trait StartedCollective {
    /// The error of a failed call.
    type Error;

    /// As [`Comm::now`].
    fn now(&self) -> u64;

    /// Moves the collective on, without waiting, and returns whether it has completed on this rank (`MPI_Test`).
    ///
    /// # Errors
    /// What the library reports.
    fn test(&mut self) -> Result<bool, Self::Error>;
}

/// A communicator whose collectives go on while its ranks compute: implement it beside [`Comm`] to run the part NBC.
///
/// Its default body starts nothing: the collective takes place in the first test, or at the end. MPI allows that, and so a
/// transport alone runs every kernel, without overlap. A library that starts collectives overrides it.
pub trait Nonblocking: Comm {
    /// Starts `collective` (`MPI_Ibcast` and its like), runs `meanwhile`, and waits for the collective (`MPI_Wait`).
    ///
    /// # Errors
    /// What the library reports, and the error of `meanwhile`.
    fn overlap(
        &mut self,
        collective: Collective<'_>,
        meanwhile: impl FnOnce(
            &mut dyn StartedCollective<Error = Self::Error>,
        ) -> Result<(), Self::Error>,
    ) -> Result<(), Self::Error> {
        let mut postponed = Postponed {
            comm: self,
            collective: Some(collective),
        };
        meanwhile(&mut postponed)?;
        postponed.test().map(drop)
    }
}

/// A collective that takes place as soon as it is tested.
struct Postponed<'a, C> {
    comm: &'a mut C,
    collective: Option<Collective<'a>>,
}

impl<C: Comm> StartedCollective for Postponed<'_, C> {
    type Error = C::Error;

    fn now(&self) -> u64 {
        self.comm.now()
    }

    fn test(&mut self) -> Result<bool, C::Error> {
        let open = self.collective.take();
        open.map_or(Ok(()), |collective| collective.call(self.comm))?;
        Ok(true)
    }
}
