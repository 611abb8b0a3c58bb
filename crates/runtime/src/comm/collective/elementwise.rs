//! Reductions that give a rank as many elements as it brings: allreduce, scan, exscan.

use oxmpi_coll::catalog::Call;

use super::slice::{Held, Lend, Slice};
use super::{Collective, Described, Place};
use crate::data::Data;
use crate::op::Reduction;
use crate::raw::Area;

/// The call of such a reduction, of a rank, the number of ranks, of elements, and the bytes of one.
type Of = fn(u32, u32, u64, u64) -> Call;

/// One whose `result` is apart from the `values`.
pub(super) fn apart<T: Data, I: Slice<T>, R: Reduction<T>>(
    of: Of,
    values: I,
    result: &mut [T],
    op: R,
) -> impl Collective<(I::Buffer, &mut [T]), R::Combine> {
    move |place: Place| {
        let reduction = op.reduces()?;
        let (values, result) = (values.lend(), result.lend());
        place.count("the result", result.count, values.count)?;
        let (count, element) = (values.count as u64, size_of::<T>() as u64);
        let call = of(place.rank, place.size, count, element);
        let (input, output) = (Area::Whole(values.bytes), Area::Whole(result.bytes));
        let held = (values.held, result.held);
        Ok(Described::reducing(call, input, output, held, reduction))
    }
}

/// One that leaves its result in place of the `values`.
pub(super) fn in_place<T: Data, R: Reduction<T>>(
    of: Of,
    values: &mut [T],
    op: R,
) -> impl Collective<&mut [T], R::Combine> {
    move |place: Place| {
        let reduction = op.reduces()?;
        let Held { bytes, count, held } = values.lend();
        let (count, element) = (count as u64, size_of::<T>() as u64);
        let call = of(place.rank, place.size, count, element).with_in_place(true);
        let (input, output) = (Area::empty(), Area::Whole(bytes));
        Ok(Described::reducing(call, input, output, held, reduction))
    }
}
