//! Broadcast to the other group.

use super::{Collective, InterComm, Place, Root, moving};
use crate::comm::collective::slice::{Held, Lend};
use crate::data::Data;
use crate::error::Result;
use crate::raw::{Access, Area, Stages};

/// Gives every rank of the other group the root's `values` (`MPI_Ibcast`).
pub fn bcast<T: Data>(values: &mut [T], root: Root) -> impl Collective<&mut [T]> {
    move |place: Place| {
        let Held { bytes, held, .. } = values.lend();
        let ranks = place.with_root(root)?;
        let spread = |ranks| Place::spread(ranks, Area::Whole(bytes));
        let stages = Stages::of(ranks.map(spread));
        Ok(moving::<&mut [T]>(stages, held))
    }
}

impl<A: Access> InterComm<A> {
    /// Gives every rank of the other group the root's `values` (`MPI_Bcast`). The other ranks of the
    /// root's group keep theirs.
    ///
    /// # Errors
    /// When the root does not exist, lengths differ, or a rank is lost.
    pub fn bcast<T: Data>(&self, values: &mut [T], root: Root) -> Result<()> {
        self.run(super::bcast(values, root))
    }
}
