//! Reductions (MPI 5.0, sections 6.9 to 6.11).

use oxmpi_coll::catalog::{Call, PROC_NULL};
use oxmpi_core::{Area, BlockRanges, Buffers, WidenedBuffers};

use super::{Description, Site, equal_blocks, is_in_place, too_many};
use crate::constants::{MPI_ERR_NO_MEM, MPI_ERR_OP, MPI_NO_OP, MPI_REPLACE};
use crate::counts::Counting;
use crate::datatype::Buffer;
use crate::error_handling::{Error, Result};
use crate::handles::Handle;
use crate::operation::{self, Reduction};
use crate::shared::Held;
use crate::types::{Datatype, Op, c_int, c_void};

/// A reduction by this operation. `of` gives the call from the bytes of one element.
fn reduction(
    site: &Site<'_>,
    op: Op,
    datatype: Datatype,
    input: Area,
    output: Area,
    held: Held,
    of: impl FnOnce(u64) -> Call,
) -> Result<Description> {
    if matches!(op.address(), MPI_REPLACE | MPI_NO_OP) {
        let why = "MPI_REPLACE and MPI_NO_OP are operations of accumulates, and of no collective";
        return Err(Error::new(MPI_ERR_OP, why));
    }
    let Reduction {
        order,
        element,
        widening,
        combine,
    } = operation::resolve(op, datatype, site.entry.messages.reproducible())?;
    let (buffers, element) = match widening {
        None => (Buffers::new(input, output), element),
        Some(widening) => {
            let wide = WidenedBuffers::new(widening, element, &input, &output);
            let (wide, [input, output]) =
                wide.ok_or_else(|| Error::new(MPI_ERR_NO_MEM, "no memory for exact sums"))?;
            let mut buffers = Buffers::new(input, output);
            buffers.wide = Some(Box::new(wide));
            (buffers, widening.element)
        }
    };
    Ok(Description {
        call: order.of(of(element)),
        buffers,
        combine: Some(combine),
        held,
    })
}

/// # Safety
/// The elements may be used as the standard says; here and below.
pub(super) unsafe fn reduce<N: Counting>(
    site: &Site<'_>,
    out: *const c_void,
    into: *mut c_void,
    count: N,
    datatype: Datatype,
    op: Op,
    root: c_int,
) -> Result<Description> {
    let root = site.root(root)?;
    if root == PROC_NULL {
        // No other argument is significant (MPI 5.0, section 6.9.1).
        let call = Call::reduce(site.rank, site.size, root, 0, 1);
        return Ok(Description::new(call, Area::empty(), Area::empty(), None));
    }
    let number = count.checked()?;
    let in_place = root == site.rank && is_in_place(out);
    let (mut input, mut output, mut held) = (Area::empty(), Area::empty(), None);
    if site.gives_to(root) && !in_place {
        // SAFETY: the caller's promise.
        let own = unsafe { Buffer::new(out, count, datatype)? };
        (input, held) = (Area::Whole(own.bytes), own.held);
    }
    if root == site.rank {
        // SAFETY: the caller's promise.
        let result = unsafe { Buffer::new(into, count, datatype)? };
        (output, held) = (Area::Whole(result.bytes), result.held);
    }
    reduction(site, op, datatype, input, output, held, |element| {
        Call::reduce(site.rank, site.size, root, number, element).with_in_place(in_place)
    })
}

/// Makes the call of a reduction from rank, number of ranks, number of elements, and bytes of an element.
type MakeCall = fn(u32, u32, u64, u64) -> Call;

/// A reduction with as many results as values on each rank.
///
/// # Safety
/// As [`reduce`].
#[inline]
unsafe fn elementwise<N: Counting>(
    of: MakeCall,
    site: &Site<'_>,
    out: *const c_void,
    into: *mut c_void,
    count: N,
    datatype: Datatype,
    op: Op,
) -> Result<Description> {
    let number = count.checked()?;
    // SAFETY: the caller's promise.
    let result = unsafe { Buffer::new(into, count, datatype)? };
    let in_place = is_in_place(out);
    let input = match in_place {
        true => Area::empty(),
        // SAFETY: the caller's promise.
        false => Area::Whole(unsafe { Buffer::new(out, count, datatype)? }.bytes),
    };
    let output = Area::Whole(result.bytes);
    reduction(site, op, datatype, input, output, result.held, |element| {
        of(site.rank, site.size, number, element).with_in_place(in_place)
    })
}

/// Defines the reductions that differ in their call only.
macro_rules! elementwise {
    ($($name:ident)*) => {
        $(
            /// # Safety
            /// As [`reduce`].
            pub(super) unsafe fn $name<N: Counting>(
                site: &Site<'_>,
                out: *const c_void,
                into: *mut c_void,
                count: N,
                datatype: Datatype,
                op: Op,
            ) -> Result<Description> {
                // SAFETY: the caller's promise.
                unsafe { elementwise(Call::$name, site, out, into, count, datatype, op) }
            }
        )*
    };
}

elementwise! { allreduce scan exscan }

/// # Safety
/// As [`reduce`].
pub(super) unsafe fn reduce_scatter_block<N: Counting>(
    site: &Site<'_>,
    out: *const c_void,
    into: *mut c_void,
    count: N,
    datatype: Datatype,
    op: Op,
) -> Result<Description> {
    let number = count.checked()?;
    let in_place = is_in_place(out);
    let values = if in_place { into.cast_const() } else { out };
    // SAFETY: the caller's promise.
    let all = unsafe { equal_blocks(values, count, datatype, site.size)? };
    let (input, output) = match in_place {
        true => (Area::empty(), Area::Whole(all.bytes)),
        false => {
            // SAFETY: the caller's promise.
            let result = unsafe { Buffer::new(into, count, datatype)? };
            (Area::Whole(all.bytes), Area::Whole(result.bytes))
        }
    };
    reduction(site, op, datatype, input, output, all.held, |element| {
        Call::reduce_scatter_block(site.rank, site.size, number, element).with_in_place(in_place)
    })
}

/// # Safety
/// As [`reduce`]; there is a count for each rank.
pub(super) unsafe fn reduce_scatter<N: Counting>(
    site: &Site<'_>,
    out: *const c_void,
    into: *mut c_void,
    counts: *const N,
    datatype: Datatype,
    op: Op,
) -> Result<Description> {
    // SAFETY: the caller's promise.
    let lengths =
        (0..site.size as usize).map(|rank| unsafe { *counts.wrapping_add(rank) }.checked());
    let lengths = lengths.collect::<Result<Vec<u64>>>()?;
    let all = (lengths.iter()).try_fold(0i64, |sum, &length| sum.checked_add_unsigned(length));
    let all = all.ok_or_else(|| too_many(format!("the counts of {} ranks", site.size)))?;
    let total = all as u64;
    let in_place = is_in_place(out);
    let values = if in_place { into.cast_const() } else { out };
    // SAFETY: as above.
    let values = unsafe { Buffer::new(values, all, datatype)? };
    let (input, output) = match in_place {
        true => (
            Area::Blocks(BlockRanges::counted(lengths)),
            Area::Whole(values.bytes),
        ),
        false => {
            // SAFETY: as above.
            let own = unsafe { *counts.wrapping_add(site.rank as usize) };
            // SAFETY: as above.
            let result = unsafe { Buffer::new(into, own, datatype)? };
            let size = crate::datatype::size_of(datatype)?;
            let mut at = 0;
            let cut = lengths.iter().map(|&length| {
                let part = values.bytes.range(at, length * size);
                at += length * size;
                part.unwrap_or(oxmpi_os::RawBytes::empty())
            });
            let places = cut.collect();
            (
                Area::Blocks(BlockRanges::new(places, size)),
                Area::Whole(result.bytes),
            )
        }
    };
    reduction(site, op, datatype, input, output, values.held, |element| {
        Call::reduce_scatter(site.rank, site.size, total, element).with_in_place(in_place)
    })
}
