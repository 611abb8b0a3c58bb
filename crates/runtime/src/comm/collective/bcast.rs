//! Broadcast (MPI 5.0, section 6.4).

use std::slice;

use oxmpi_coll::catalog::Call;
use oxmpi_core::{Area, Result, Threading};
use oxmpi_wire::Bytes;

use super::{CallSite, Collective, DescribedCall, Root};
use crate::comm::Comm;
use crate::data::Data;
use crate::values::{LendFor, LentValues, ValuesMut};

/// Gives every rank the values of the root (`MPI_Ibcast`); between two groups every rank of the group that
/// the root is not in.
pub fn bcast<T: Data, V: ValuesMut<T> + ?Sized>(
    values: &mut V,
    root: impl Into<Root>,
) -> impl Collective<V::Written<'_>> {
    move |site: CallSite| {
        let root = site.root(root)?;
        let LentValues { bytes, held, .. } = values.lend_for();
        let call = Call::bcast(site.rank, site.size, root, bytes.len());
        let area = Area::Whole(bytes);
        Ok(DescribedCall::<V::Written<'_>, _>::new(
            call,
            area.clone(),
            area,
            held,
        ))
    }
}

impl<A: Threading> Comm<A> {
    /// Gives every rank the value of rank `root` (`MPI_Bcast`); those of the other ranks are not used. By value, so
    /// that nobody takes `bcast(&mut x, 0)` for [`Comm::bcast_into`].
    ///
    /// # Errors
    /// When `root` does not exist, or a rank is lost.
    pub fn bcast<T: Data>(&self, mut value: T, root: usize) -> Result<T> {
        self.bcast_into(slice::from_mut(&mut value), root)?;
        Ok(value)
    }

    /// Gives every rank the values of rank `root` (`MPI_Bcast`). All ranks pass slices of the same
    /// length.
    ///
    /// # Errors
    /// When `root` does not exist, the lengths differ, or a rank is lost.
    pub fn bcast_into<T: Data>(
        &self,
        values: &mut (impl ValuesMut<T> + ?Sized),
        root: usize,
    ) -> Result<()> {
        self.run(super::bcast(values, root))
    }
}
