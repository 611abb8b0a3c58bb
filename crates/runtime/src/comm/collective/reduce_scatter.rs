//! Reductions whose result is scattered (MPI 5.0, section 6.10).

use std::slice;

use oxmpi_coll::catalog::Call;
use oxmpi_core::{Area, Error, Result, Threading};

use super::blocks::{BlockUse, Blocks, CutBlocks};
use super::{CallSite, Collective};
use crate::comm::Comm;
use crate::data::Data;
use crate::op::Reduction;
use crate::values::{LendFor, LentValues, Values, ValuesMut, ValuesRef};

/// Reduces `values` over all ranks, element by element, and gives each rank an equal part of the result, in
/// the order of the ranks (`MPI_Ireduce_scatter_block`). Between two groups each gets the result of the
/// remote group.
pub fn reduce_scatter_block<T: Data, I: ValuesRef<T>, O: ValuesMut<T> + ?Sized, R: Reduction<T>>(
    values: I,
    result: &mut O,
    op: R,
) -> impl Collective<(I::Buffer, O::Written<'_>), R::Combine> {
    move |site: CallSite| {
        let (values, result) = (values.lend_for(), result.lend_for());
        site.count_each("the values", values.count, result.count)?;
        let (input, output) = (Area::Whole(values.bytes), Area::Whole(result.bytes));
        let reducing = site.reducing::<T, R>(op, input, output)?;
        let (count, element) = (result.count as u64, reducing.element);
        let call = Call::reduce_scatter_block(site.rank, site.size, count, element);
        Ok(reducing.described(call, (values.held, result.held)))
    }
}

/// As [`reduce_scatter_block`], with this rank's part of the result at the start of `values`; the rest is
/// undefined afterwards (`MPI_IN_PLACE`). All ranks call this.
pub fn reduce_scatter_block_in_place<T: Data, V: ValuesMut<T> + ?Sized, R: Reduction<T>>(
    values: &mut V,
    op: R,
) -> impl Collective<V::Written<'_>, R::Combine> {
    move |site: CallSite| {
        let LentValues { bytes, count, held } = values.lend_for();
        site.count_each("the values", count, count / site.size as usize)?;
        let reducing = site.reducing::<T, R>(op, Area::empty(), Area::Whole(bytes))?;
        let (count, element) = (count as u64 / u64::from(site.size), reducing.element);
        let call = Call::reduce_scatter_block(site.rank, site.size, count, element);
        Ok(reducing.described::<V::Written<'_>>(call.with_in_place(true), held))
    }
}

/// As [`reduce_scatter_block`], with `counts[r]` elements of the result for rank `r` (`MPI_Ireduce_scatter`).
pub fn reduce_scatter<'buf, T: Data, I: ValuesRef<T>, O: ValuesMut<T> + ?Sized, R: Reduction<T>>(
    values: I,
    counts: &[usize],
    result: &'buf mut O,
    op: R,
) -> impl Collective<(I::Buffer, O::Written<'buf>), R::Combine> {
    move |site: CallSite| {
        let total = total(&site, counts)?;
        let blocks = Blocks::packed(values, counts);
        let what = "the values";
        let CutBlocks { places, held } = blocks.cut(&site, what, counts.len(), BlockUse::Read)?;
        let own = counts[site.rank as usize];
        let result = result.lend_for();
        site.count("the result", result.count, own)?;
        let input = Area::Blocks(oxmpi_core::BlockRanges::new(places, size_of::<T>() as u64));
        let reducing = site.reducing::<T, R>(op, input, Area::Whole(result.bytes))?;
        let (count, element) = (total as u64, reducing.element);
        let call = Call::reduce_scatter(site.rank, site.size, count, element);
        Ok(reducing.described(call, (held, result.held)))
    }
}

/// As [`reduce_scatter`], with this rank's block of the result at the start of `values`; the rest is
/// undefined afterwards (`MPI_IN_PLACE`). All ranks call this.
pub fn reduce_scatter_in_place<'buf, T: Data, V: ValuesMut<T> + ?Sized, R: Reduction<T>>(
    values: &'buf mut V,
    counts: &[usize],
    op: R,
) -> impl Collective<V::Written<'buf>, R::Combine> {
    move |site: CallSite| {
        let total = total(&site, counts)?;
        let LentValues { bytes, count, held } = values.lend_for();
        site.count("the values", count, total)?;
        let lengths = counts.iter().map(|&count| count as u64).collect();
        let input = Area::Blocks(oxmpi_core::BlockRanges::counted(lengths));
        let reducing = site.reducing::<T, R>(op, input, Area::Whole(bytes))?;
        let (count, element) = (total as u64, reducing.element);
        let call = Call::reduce_scatter(site.rank, site.size, count, element);
        Ok(reducing.described::<V::Written<'_>>(call.with_in_place(true), held))
    }
}

/// The sum of the counts of a reduce_scatter.
fn total(site: &CallSite, counts: &[usize]) -> Result<usize> {
    site.count("the list of counts", counts.len(), site.size as usize)?;
    let mut all = counts.iter();
    let total = all.try_fold(0, |sum: usize, &count| sum.checked_add(count));
    total.ok_or_else(|| Error::Blocks {
        rank: site.rank as usize,
        what: "the values",
        why: "the counts add up to more elements than any memory holds".to_owned(),
    })
}

impl<A: Threading> Comm<A> {
    /// Reduces `values`, which has one for each rank in their order, over all ranks, element by element, and
    /// gives this rank its element of the result (`MPI_Reduce_scatter_block`).
    ///
    /// # Errors
    /// When the element has no such operation, there is another number of values, or a rank is lost.
    pub fn reduce_scatter_block<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        op: impl Reduction<T>,
    ) -> Result<T> {
        let mut result = T::new_zeroed();
        self.reduce_scatter_block_into(values, slice::from_mut(&mut result), op)?;
        Ok(result)
    }

    /// Reduces `values` over all ranks, element by element, and gives each rank an equal part of the result,
    /// in the order of the ranks (`MPI_Reduce_scatter_block`).
    ///
    /// # Errors
    /// When the element has no such operation, a length is wrong, or a rank is lost.
    pub fn reduce_scatter_block_into<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        result: &mut (impl ValuesMut<T> + ?Sized),
        op: impl Reduction<T>,
    ) -> Result<()> {
        self.run(super::reduce_scatter_block(values, result, op))
    }

    /// As [`Comm::reduce_scatter_block_into`], with this rank's part of the result at the start of `values`; the
    /// rest is undefined afterwards (`MPI_IN_PLACE`). All ranks call this.
    ///
    /// # Errors
    /// As there.
    pub fn reduce_scatter_block_in_place<T: Data>(
        &self,
        values: &mut (impl ValuesMut<T> + ?Sized),
        op: impl Reduction<T>,
    ) -> Result<()> {
        self.run(super::reduce_scatter_block_in_place(values, op))
    }

    /// As [`Comm::reduce_scatter_block_into`], with `counts[r]` elements of the result for rank `r`
    /// (`MPI_Reduce_scatter`).
    ///
    /// # Errors
    /// As [`Comm::reduce_scatter_block_into`].
    pub fn reduce_scatter<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        counts: &[usize],
        result: &mut (impl ValuesMut<T> + ?Sized),
        op: impl Reduction<T>,
    ) -> Result<()> {
        self.run(super::reduce_scatter(values, counts, result, op))
    }

    /// As [`Comm::reduce_scatter`], with this rank's block of the result at the start of `values`; the rest
    /// is undefined afterwards (`MPI_IN_PLACE`). All ranks call this.
    ///
    /// # Errors
    /// As there.
    pub fn reduce_scatter_in_place<T: Data>(
        &self,
        values: &mut (impl ValuesMut<T> + ?Sized),
        counts: &[usize],
        op: impl Reduction<T>,
    ) -> Result<()> {
        self.run(super::reduce_scatter_in_place(values, counts, op))
    }
}

#[cfg(test)]
mod tests {
    use super::super::CallSite;
    use oxmpi_coll::choice::Reproducible;

    use super::total;

    #[test]
    fn counts_beyond_all_memory_are_refused() {
        let site = CallSite {
            rank: 1,
            size: 2,
            remote: 0,
            topology: None,
            reproducible: Reproducible::Off,
        };
        let why = total(&site, &[usize::MAX, 2]).expect_err("too many");
        assert_eq!(
            why.to_string(),
            "on rank 1, in the blocks of the values: the counts add up to more elements than any \
             memory holds"
        );
        assert_eq!(total(&site, &[3, 2]).expect("right"), 5);
    }
}
