//! Broadcast to the other group.

use super::{Collective, InterCallSite, InterComm, Root, without_reduction};
use crate::comm::collective::slice::{Lend, LentSlice};
use crate::data::Data;
use crate::error::Result;
use crate::raw::{Area, Stages, Threading};

/// Gives every rank of the other group the root's `values` (`MPI_Ibcast`).
pub fn bcast<T: Data>(values: &mut [T], root: Root) -> impl Collective<&mut [T]> {
    move |site: InterCallSite| {
        let LentSlice { bytes, held, .. } = values.lend();
        let ranks = site.with_root(root)?;
        let spread = |ranks| InterCallSite::bcast_stage(ranks, Area::Whole(bytes));
        let stages = Stages::of(ranks.map(spread));
        Ok(without_reduction::<&mut [T]>(stages, held))
    }
}

impl<A: Threading> InterComm<A> {
    /// Gives every rank of the other group the root's `values` (`MPI_Bcast`). The other ranks of the
    /// root's group keep theirs.
    ///
    /// # Errors
    /// When the root does not exist, lengths differ, or a rank is lost.
    pub fn bcast<T: Data>(&self, values: &mut [T], root: Root) -> Result<()> {
        self.run(super::bcast(values, root))
    }
}
