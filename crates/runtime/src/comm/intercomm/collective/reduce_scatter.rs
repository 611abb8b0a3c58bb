//! Reduction of the other group's values, whose result is scattered over this group.

use oxmpi_coll::catalog::Call;
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::reduce::described;
use super::{Collective, InterCallSite, InterComm};
use crate::comm::collective::ReductionCall;
use crate::comm::collective::reduce_scatter::total;
use crate::comm::collective::slice::{Lend, Slice};
use crate::data::Data;
use crate::error::Result;
use crate::op::Reduction;
use crate::raw::{self, Area, Buffers, Stage, Stages, Threading};

/// Reduces the `values` of the other group's ranks, element by element, and spreads the result over
/// this group, as many elements a rank (`MPI_Ireduce_scatter_block`). All ranks of both groups bring
/// as many values.
pub fn reduce_scatter_block<T: Data, I: Slice<T>, R: Reduction<T>>(
    values: I,
    result: &mut [T],
    op: R,
) -> impl Collective<(I::Buffer, &mut [T]), R::Combine> {
    move |site: InterCallSite| {
        let (values, result) = (values.lend(), result.lend());
        let local = &site.local;
        local.count_each("the values", values.count, result.count)?;
        let (given, wanted) = (Area::Whole(values.bytes), Area::Whole(result.bytes));
        let reducing = local.reducing::<T, R>(op, given, wanted)?;
        let each = std::iter::repeat_n(result.count, local.size as usize);
        let stages = stages(&site, &reducing, values.count, each)?;
        Ok(described(stages, (values.held, result.held), reducing))
    }
}

/// As [`reduce_scatter_block`], rank `r` of this group getting `counts[r]` elements
/// (`MPI_Ireduce_scatter`).
pub fn reduce_scatter<'buf, T: Data, I: Slice<T>, R: Reduction<T>>(
    values: I,
    counts: &[usize],
    result: &'buf mut [T],
    op: R,
) -> impl Collective<(I::Buffer, &'buf mut [T]), R::Combine> {
    move |site: InterCallSite| {
        let (values, result) = (values.lend(), result.lend());
        let local = &site.local;
        let total = total(local, counts)?;
        local.count("the values", values.count, total)?;
        local.count("the result", result.count, counts[local.rank as usize])?;
        let (given, wanted) = (Area::Whole(values.bytes), Area::Whole(result.bytes));
        let reducing = local.reducing::<T, R>(op, given, wanted)?;
        let stages = stages(&site, &reducing, values.count, counts.iter().copied())?;
        Ok(described(stages, (values.held, result.held), reducing))
    }
}

/// This group's values are reduced to its leader; the leaders trade; each scatters what it got.
fn stages<C>(
    site: &InterCallSite,
    reducing: &ReductionCall<C>,
    count: usize,
    each: impl Iterator<Item = usize>,
) -> Result<Stages> {
    let mut stages = Stages::default();
    let mut input = Area::empty();
    if let Some(mine) = site.reduce(&mut stages, reducing, count)? {
        let theirs = site.room(&mut stages, mine.len())?;
        stages.add(site.leader_swap(mine, theirs));
        let mut at = 0;
        let cut = |count| {
            let len = count as u64 * reducing.element;
            let part = theirs.range(at, len);
            at += len;
            part.unwrap_or(RawBytes::empty())
        };
        input = Area::Blocks(raw::BlockRanges::new(each.map(cut).collect(), 1));
    }
    let (ranks, output) = (site.own_group(), reducing.buffers.output.clone());
    stages.add(Stage {
        call: Call::scatterv(ranks.rank(), ranks.size(), 0, output.len()),
        buffers: Buffers::new(input, output),
        ranks,
    });
    Ok(stages)
}

impl<A: Threading> InterComm<A> {
    /// Reduces the `values` of the other group's ranks, element by element, and spreads the result
    /// over this group, as many elements a rank (`MPI_Reduce_scatter_block`). All ranks of both
    /// groups bring as many values.
    ///
    /// # Errors
    /// As [`InterComm::allreduce`].
    pub fn reduce_scatter_block<T: Data>(
        &self,
        values: &[T],
        result: &mut [T],
        op: impl Reduction<T>,
    ) -> Result<()> {
        self.run(super::reduce_scatter_block(values, result, op))
    }

    /// As [`InterComm::reduce_scatter_block`], rank `r` of this group getting `counts[r]` elements
    /// (`MPI_Reduce_scatter`).
    ///
    /// # Errors
    /// As there.
    pub fn reduce_scatter<T: Data>(
        &self,
        values: &[T],
        counts: &[usize],
        result: &mut [T],
        op: impl Reduction<T>,
    ) -> Result<()> {
        self.run(super::reduce_scatter(values, counts, result, op))
    }
}
