//! Barrier between two groups.

use oxmpi_coll::catalog::Call;

use super::{Collective, InterCallSite, InterComm, without_reduction};
use crate::error::Result;
use crate::raw::{Buffers, Stage, Stages, Threading};

/// Ends when every rank of both groups has started it (`MPI_Ibarrier`).
pub fn barrier() -> impl Collective<()> {
    |site: InterCallSite| {
        let (rank, size) = (site.both.rank(), site.both.size());
        let all = Stage {
            call: Call::barrier(rank, size),
            buffers: Buffers::NONE,
            ranks: site.both,
        };
        Ok(without_reduction::<()>(Stages::of([all]), ()))
    }
}

impl<A: Threading> InterComm<A> {
    /// Returns when every rank of the other group has called it (`MPI_Barrier`), and of this one.
    ///
    /// # Errors
    /// When a rank is lost.
    pub fn barrier(&self) -> Result<()> {
        self.internal.barrier()
    }
}
