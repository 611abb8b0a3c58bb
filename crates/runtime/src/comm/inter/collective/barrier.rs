//! Barrier between two groups.

use oxmpi_coll::catalog::Call;

use super::{Collective, InterComm, Place, moving};
use crate::error::Result;
use crate::raw::{Access, Buffers, Stage, Stages};

/// Ends when every rank of both groups has started it (`MPI_Ibarrier`).
pub fn barrier() -> impl Collective<()> {
    |place: Place| {
        let (rank, size) = (place.both.rank(), place.both.size());
        let all = Stage {
            call: Call::barrier(rank, size),
            buffers: Buffers::NONE,
            ranks: place.both,
        };
        Ok(moving::<()>(Stages::of([all]), ()))
    }
}

impl<A: Access> InterComm<A> {
    /// Returns when every rank of the other group has called it (`MPI_Barrier`), and of this one.
    ///
    /// # Errors
    /// When a rank is lost.
    pub fn barrier(&self) -> Result<()> {
        self.inside.barrier()
    }
}
