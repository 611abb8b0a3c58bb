//! Reductions to one rank and to all ranks (MPI 5.0, section 6.9).

use oxmpi_coll::catalog::Call;
use oxmpi_core::{Area, Result, Threading};

use super::elementwise::{in_place, out_of_place};
use super::{CallSite, Collective, Root};
use crate::comm::Comm;
use crate::data::Data;
use crate::op::Reduction;
use crate::value::Value;
use crate::values::{LendFor, LentValues, Values, ValuesMut, ValuesRef};

/// Reduces `values` over all ranks, element by element, to the root (`MPI_Ireduce`). Only the root gives
/// `result`. Between two groups the values are those of the group that the root is not in.
pub fn reduce<T: Data, I: ValuesRef<T>, R: Reduction<T>>(
    values: I,
    result: Option<&mut [T]>,
    op: R,
    root: impl Into<Root>,
) -> impl Collective<(I::Buffer, Option<&mut [T]>), R::Combine> {
    move |site: CallSite| {
        let root = site.root(root)?;
        let result = site.of_root(root, "room for the result", result)?;
        let values = values.lend_for();
        if let Some(result) = result.as_ref().filter(|_| site.gives_to(root)) {
            site.count("the result", result.len(), values.count)?;
        }
        let input = match site.gives_to(root) {
            true => Area::Whole(values.bytes),
            false => Area::empty(),
        };
        let (output, result) = match result.map(LendFor::lend_for) {
            Some(LentValues { bytes, held, .. }) => (Area::Whole(bytes), Some(held)),
            None => (Area::empty(), None),
        };
        let reducing = site.reducing::<T, R>(op, input, output)?;
        let (count, element) = (values.count as u64, reducing.element);
        let call = Call::reduce(site.rank, site.size, root, count, element);
        Ok(reducing.described(call, (values.held, result)))
    }
}

/// As [`reduce`], with the result in the root's `values` (`MPI_IN_PLACE`). All ranks call this; the other
/// ranks' values are unchanged.
pub fn reduce_in_place<T: Data, V: ValuesMut<T> + ?Sized, R: Reduction<T>>(
    values: &mut V,
    op: R,
    root: impl Into<Root>,
) -> impl Collective<V::Written<'_>, R::Combine> {
    move |site: CallSite| {
        let root = site.root(root)?;
        if site.remote > 0 {
            return Err(site.refused("MPI has no reduce in place in an intercommunicator"));
        }
        let LentValues { bytes, count, held } = values.lend_for();
        let is_root = site.rank == root;
        let (input, output) = match is_root {
            true => (Area::empty(), Area::Whole(bytes)),
            false => (Area::Whole(bytes), Area::empty()),
        };
        let reducing = site.reducing::<T, R>(op, input, output)?;
        let (count, element) = (count as u64, reducing.element);
        let call = Call::reduce(site.rank, site.size, root, count, element);
        Ok(reducing.described::<V::Written<'_>>(call.with_in_place(is_root), held))
    }
}

/// Reduces `values` over all ranks, element by element, into every rank's `result` (`MPI_Iallreduce`).
/// Between two groups each gets the result of the remote group.
pub fn allreduce<T: Data, I: ValuesRef<T>, O: ValuesMut<T> + ?Sized, R: Reduction<T>>(
    values: I,
    result: &mut O,
    op: R,
) -> impl Collective<(I::Buffer, O::Written<'_>), R::Combine> {
    out_of_place(Call::allreduce, values, result, op)
}

/// As [`allreduce`], with `values` as the result too (`MPI_IN_PLACE`). All ranks call this.
pub fn allreduce_in_place<T: Data, V: ValuesMut<T> + ?Sized, R: Reduction<T>>(
    values: &mut V,
    op: R,
) -> impl Collective<V::Written<'_>, R::Combine> {
    in_place(Call::allreduce, values, op)
}

impl<A: Threading> Comm<A> {
    /// Reduces a value or a small array over all ranks; rank `root` gets the result, the others
    /// `None` (`MPI_Reduce`).
    ///
    /// # Errors
    /// When `root` does not exist, the element has no such operation, or a rank is lost.
    pub fn reduce<V: Value>(
        &self,
        value: &V,
        op: impl Reduction<V::Element>,
        root: usize,
    ) -> Result<Option<V>> {
        let mut result = *value;
        self.reduce_in_place(result.elements_mut(), op, root)?;
        Ok((self.rank() == root).then_some(result))
    }

    /// Reduces `values` over all ranks, element by element, to rank `root` (`MPI_Reduce`). Only the root
    /// gives `result`.
    ///
    /// # Errors
    /// As [`Comm::reduce`], or when the root gives no `result` or another rank does, or a length is wrong.
    pub fn reduce_into<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        result: Option<&mut [T]>,
        op: impl Reduction<T>,
        root: usize,
    ) -> Result<()> {
        self.run(super::reduce(values, result, op, root))
    }

    /// As [`Comm::reduce_into`], with the result in the root's `values` (`MPI_IN_PLACE`). All ranks call
    /// this; the other ranks' values are unchanged.
    ///
    /// # Errors
    /// As there.
    pub fn reduce_in_place<T: Data>(
        &self,
        values: &mut (impl ValuesMut<T> + ?Sized),
        op: impl Reduction<T>,
        root: usize,
    ) -> Result<()> {
        self.run(super::reduce_in_place(values, op, root))
    }

    /// Reduces a value or a small array over all ranks, and gives every rank the result (`MPI_Allreduce`).
    /// All ranks get the same bits, except where several NaNs are added or multiplied.
    ///
    /// # Errors
    /// When the element has no such operation, or a rank is lost.
    pub fn allreduce<V: Value>(&self, value: &V, op: impl Reduction<V::Element>) -> Result<V> {
        let mut result = *value;
        self.allreduce_in_place(result.elements_mut(), op)?;
        Ok(result)
    }

    /// Reduces `values` over all ranks, element by element, into every rank's `result`
    /// (`MPI_Allreduce`).
    ///
    /// # Errors
    /// As [`Comm::allreduce`], or when the slices have different lengths.
    pub fn allreduce_into<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        result: &mut (impl ValuesMut<T> + ?Sized),
        op: impl Reduction<T>,
    ) -> Result<()> {
        self.run(super::allreduce(values, result, op))
    }

    /// As [`Comm::allreduce_into`], with `values` as the result too (`MPI_IN_PLACE`). All ranks call
    /// this.
    ///
    /// # Errors
    /// As there.
    pub fn allreduce_in_place<T: Data>(
        &self,
        values: &mut (impl ValuesMut<T> + ?Sized),
        op: impl Reduction<T>,
    ) -> Result<()> {
        self.run(super::allreduce_in_place(values, op))
    }
}
