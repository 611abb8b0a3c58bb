//! Reductions with as many results as values on each rank: allreduce, scan, exscan.

use oxmpi_coll::catalog::Call;
use oxmpi_core::Area;

use super::slice::{Lend, LentSlice, Slice};
use super::{CallSite, Collective};
use crate::data::Data;
use crate::op::Reduction;

/// Makes the call of such a reduction from rank, number of ranks, number of elements, and bytes of an
/// element.
type MakeCall = fn(u32, u32, u64, u64) -> Call;

/// The reduction with a `result` of its own.
pub(super) fn out_of_place<T: Data, I: Slice<T>, R: Reduction<T>>(
    of: MakeCall,
    values: I,
    result: &mut [T],
    op: R,
) -> impl Collective<(I::Buffer, &mut [T]), R::Combine> {
    move |site: CallSite| {
        let (values, result) = (values.lend(), result.lend());
        site.count("the result", result.count, values.count)?;
        let (input, output) = (Area::Whole(values.bytes), Area::Whole(result.bytes));
        let reducing = site.reducing::<T, R>(op, input, output)?;
        let call = of(site.rank, site.size, values.count as u64, reducing.element);
        Ok(reducing.described(call, (values.held, result.held)))
    }
}

/// The reduction with its result in `values`.
pub(super) fn in_place<T: Data, R: Reduction<T>>(
    of: MakeCall,
    values: &mut [T],
    op: R,
) -> impl Collective<&mut [T], R::Combine> {
    move |site: CallSite| {
        let LentSlice { bytes, count, held } = values.lend();
        let reducing = site.reducing::<T, R>(op, Area::empty(), Area::Whole(bytes))?;
        let call = of(site.rank, site.size, count as u64, reducing.element).with_in_place(true);
        Ok(reducing.described::<&mut [T]>(call, held))
    }
}
