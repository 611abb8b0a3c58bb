//! Reductions with as many results as values on each rank: allreduce, scan, exscan.

use oxmpi_coll::catalog::Call;
use oxmpi_core::Area;

use super::{CallSite, Collective};
use crate::data::Data;
use crate::op::Reduction;
use crate::values::{LendFor, LentValues, ValuesMut, ValuesRef};

/// Makes the call of such a reduction from rank, number of ranks, number of elements, and bytes of an
/// element.
type MakeCall = fn(u32, u32, u64, u64) -> Call;

/// The reduction with a `result` of its own.
pub(super) fn out_of_place<T: Data, I: ValuesRef<T>, O: ValuesMut<T> + ?Sized, R: Reduction<T>>(
    of: MakeCall,
    values: I,
    result: &mut O,
    op: R,
) -> impl Collective<(I::Buffer, O::Written<'_>), R::Combine> {
    move |site: CallSite| {
        let (values, result) = (values.lend_for(), result.lend_for());
        site.count("the result", result.count, values.count)?;
        let (input, output) = (Area::Whole(values.bytes), Area::Whole(result.bytes));
        let reducing = site.reducing::<T, R>(op, input, output)?;
        let call = of(site.rank, site.size, values.count as u64, reducing.element);
        Ok(reducing.described(call, (values.held, result.held)))
    }
}

/// The reduction with its result in `values`.
pub(super) fn in_place<T: Data, V: ValuesMut<T> + ?Sized, R: Reduction<T>>(
    of: MakeCall,
    values: &mut V,
    op: R,
) -> impl Collective<V::Written<'_>, R::Combine> {
    move |site: CallSite| {
        let LentValues { bytes, count, held } = values.lend_for();
        let reducing = site.reducing::<T, R>(op, Area::empty(), Area::Whole(bytes))?;
        let call = of(site.rank, site.size, count as u64, reducing.element).with_in_place(true);
        Ok(reducing.described::<V::Written<'_>>(call, held))
    }
}
