//! Prefix reductions (MPI 5.0, section 6.11).

use oxmpi_coll::catalog::Call;
use oxmpi_core::{Result, Threading};

use super::Collective;
use super::elementwise::{in_place, out_of_place};
use crate::comm::Comm;
use crate::data::Data;
use crate::op::Reduction;
use crate::value::Value;
use crate::values::{Values, ValuesMut, ValuesRef};

/// Reduces `values` over this rank and all lower ones, element by element, into `result` (`MPI_Iscan`).
pub fn scan<T: Data, I: ValuesRef<T>, O: ValuesMut<T> + ?Sized, R: Reduction<T>>(
    values: I,
    result: &mut O,
    op: R,
) -> impl Collective<(I::Buffer, O::Written<'_>), R::Combine> {
    out_of_place(Call::scan, values, result, op)
}

/// As [`scan`], with `values` as the result too (`MPI_IN_PLACE`). All ranks call this.
pub fn scan_in_place<T: Data, V: ValuesMut<T> + ?Sized, R: Reduction<T>>(
    values: &mut V,
    op: R,
) -> impl Collective<V::Written<'_>, R::Combine> {
    in_place(Call::scan, values, op)
}

/// Reduces `values` over all lower ranks, element by element, into `result` (`MPI_Iexscan`). The result of
/// rank 0 is undefined.
pub fn exscan<T: Data, I: ValuesRef<T>, O: ValuesMut<T> + ?Sized, R: Reduction<T>>(
    values: I,
    result: &mut O,
    op: R,
) -> impl Collective<(I::Buffer, O::Written<'_>), R::Combine> {
    out_of_place(Call::exscan, values, result, op)
}

/// As [`exscan`], with `values` as the result too (`MPI_IN_PLACE`). All ranks call this.
pub fn exscan_in_place<T: Data, V: ValuesMut<T> + ?Sized, R: Reduction<T>>(
    values: &mut V,
    op: R,
) -> impl Collective<V::Written<'_>, R::Combine> {
    in_place(Call::exscan, values, op)
}

impl<A: Threading> Comm<A> {
    /// Reduces a value or a small array over this rank and all lower ones (`MPI_Scan`).
    ///
    /// # Errors
    /// When the element has no such operation, or a rank is lost.
    pub fn scan<V: Value>(&self, value: &V, op: impl Reduction<V::Element>) -> Result<V> {
        let mut result = *value;
        self.scan_in_place(result.elements_mut(), op)?;
        Ok(result)
    }

    /// Reduces `values` over this rank and all lower ones, element by element, into `result` (`MPI_Scan`).
    ///
    /// # Errors
    /// As [`Comm::scan`], or when the slices have different lengths.
    pub fn scan_into<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        result: &mut (impl ValuesMut<T> + ?Sized),
        op: impl Reduction<T>,
    ) -> Result<()> {
        self.run(super::scan(values, result, op))
    }

    /// As [`Comm::scan_into`], with `values` as the result too (`MPI_IN_PLACE`). All ranks call
    /// this.
    ///
    /// # Errors
    /// As there.
    pub fn scan_in_place<T: Data>(
        &self,
        values: &mut (impl ValuesMut<T> + ?Sized),
        op: impl Reduction<T>,
    ) -> Result<()> {
        self.run(super::scan_in_place(values, op))
    }

    /// Reduces a value or a small array over all lower ranks; `None` on rank 0 (`MPI_Exscan`).
    ///
    /// ```
    /// # use oxmpi::{Op, World};
    /// # let world = World::init()?;
    /// # let (comm, mine) = (world.comm(), 7u64);
    /// // The index of this rank's first element in an array of all ranks' elements.
    /// let start = comm.exscan(&mine, Op::SUM)?.unwrap_or(0);
    /// # Ok::<(), oxmpi::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Comm::scan`].
    pub fn exscan<V: Value>(&self, value: &V, op: impl Reduction<V::Element>) -> Result<Option<V>> {
        let mut result = *value;
        self.exscan_in_place(result.elements_mut(), op)?;
        Ok((self.rank() > 0).then_some(result))
    }

    /// Reduces `values` over all lower ranks, element by element, into `result` (`MPI_Exscan`). The result of
    /// rank 0 is undefined.
    ///
    /// # Errors
    /// As [`Comm::scan_into`].
    pub fn exscan_into<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        result: &mut (impl ValuesMut<T> + ?Sized),
        op: impl Reduction<T>,
    ) -> Result<()> {
        self.run(super::exscan(values, result, op))
    }

    /// As [`Comm::exscan_into`], with `values` as the result too (`MPI_IN_PLACE`). All ranks call
    /// this.
    ///
    /// # Errors
    /// As there.
    pub fn exscan_in_place<T: Data>(
        &self,
        values: &mut (impl ValuesMut<T> + ?Sized),
        op: impl Reduction<T>,
    ) -> Result<()> {
        self.run(super::exscan_in_place(values, op))
    }
}
