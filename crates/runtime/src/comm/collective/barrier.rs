//! Barrier (MPI 5.0, section 6.3).

use oxmpi_coll::catalog::Call;
use oxmpi_core::{Area, Result, Threading};

use super::{Collective, DescribedCall};
use crate::comm::Comm;

/// Completes when every rank has started it, of both groups in an intercommunicator (`MPI_Ibarrier`).
pub fn barrier() -> impl Collective<()> {
    |site: super::CallSite| {
        let call = Call::barrier(site.rank, site.size);
        Ok(DescribedCall::<(), _>::new(
            call,
            Area::empty(),
            Area::empty(),
            (),
        ))
    }
}

impl<A: Threading> Comm<A> {
    /// Returns when every rank has called it (`MPI_Barrier`).
    ///
    /// # Errors
    /// When a rank that this one waits for is lost.
    ///
    /// # Cost
    /// On one node a flag for each rank, without messages; else ceil(log2 p) rounds of empty messages.
    pub fn barrier(&self) -> Result<()> {
        self.raw.barrier()
    }
}
