//! Accumulates (MPI 5.0, section 12.3.4).

use oxmpi_core::{AccumulateOp, ElementKind};
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::calls::{ended, on};
use super::target::{Target, element_kind, plain_range};
use crate::constants::{MPI_ERR_TYPE, MPI_NO_OP, MPI_REPLACE};
use crate::counts::Counting;
use crate::datatype::{self, Buffer, plain};
use crate::error_handling::{Error, Result};
use crate::handles::Handle;
use crate::operation;
use crate::types::{Aint, Datatype, Op, Win, c_int, c_void};
use crate::window_table::find_unlocked;

/// The count of calls on one element.
const ONE: c_int = 1;

/// The kind of a target's elements, and the operation of a handle.
pub(super) fn accumulation(datatype: Datatype, op: Op) -> Result<(ElementKind, AccumulateOp)> {
    let op = match op.address() {
        MPI_REPLACE => AccumulateOp::Replace,
        MPI_NO_OP => AccumulateOp::NoOp,
        _ => AccumulateOp::Predefined(operation::predefined(op)?),
    };
    Ok((element_kind(datatype)?, op))
}

/// The kind of the element of a predefined datatype, as calls on one element need it.
fn one_element(datatype: Datatype) -> Result<ElementKind> {
    datatype::predefined_kind(datatype).ok_or_else(|| {
        let why = "the datatype is not predefined, or operations do not know its elements";
        Error::new(MPI_ERR_TYPE, why)
    })
}

/// The elements of the origin; none of an operation that reads none.
///
/// # Safety
/// They may be read.
pub(super) unsafe fn operands<N: Counting>(
    origin: *const c_void,
    count: N,
    datatype: Datatype,
    op: AccumulateOp,
) -> Result<Buffer> {
    match op {
        AccumulateOp::NoOp => Ok(Buffer::empty()),
        // SAFETY: the caller's promise.
        _ => unsafe { Buffer::new(origin, count, datatype) },
    }
}

/// As [`operands`], of elements without gaps.
///
/// # Safety
/// As [`operands`].
#[inline]
unsafe fn plain_operands<N: Counting>(
    origin: *const c_void,
    count: N,
    datatype: Datatype,
    op: AccumulateOp,
) -> Option<RawBytes> {
    match op {
        AccumulateOp::NoOp => Some(RawBytes::empty()),
        // SAFETY: the caller's promise.
        _ => unsafe { plain(origin, count, datatype) },
    }
}

/// `MPI_Accumulate`.
///
/// # Safety
/// The elements of the origin may be read.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's functions"
)]
pub(crate) unsafe fn accumulate<N: Counting>(
    origin: *const c_void,
    origin_count: N,
    origin_datatype: Datatype,
    rank: c_int,
    displacement: Aint,
    count: N,
    datatype: Datatype,
    op: Op,
    win: Win,
) -> c_int {
    let from = (origin, origin_count, origin_datatype);
    let to = (rank, displacement, count, datatype);
    // SAFETY: the caller's promise.
    unsafe { accumulate_by("MPI_Accumulate", from, to, op, win) }
}

/// Combines the elements of an origin, named by their start, count and datatype, with those of a target, named by its rank,
/// displacement, count and datatype.
///
/// # Safety
/// As [`accumulate`].
#[inline]
pub(super) unsafe fn accumulate_by<N: Counting>(
    function: &'static str,
    (origin, origin_count, origin_datatype): (*const c_void, N, Datatype),
    (rank, displacement, count, datatype): (c_int, Aint, N, Datatype),
    op: Op,
    win: Win,
) -> c_int {
    if let Some(entry) = find_unlocked(win)
        && let Some(range) = plain_range(rank, displacement, count, datatype)
        && let Ok((kind, op)) = accumulation(datatype, op)
        // SAFETY: the caller's promise.
        && let Some(from) = unsafe { plain_operands(origin, origin_count, origin_datatype, op) }
    {
        let done = entry.raw.accumulate(from, (kind, op), &range);
        return ended(entry, function, done);
    }
    on(win, function, |entry| {
        let target = Target::new(rank, displacement, count, datatype)?;
        let (kind, op) = accumulation(datatype, op)?;
        // SAFETY: the caller's promise.
        let from = unsafe { operands(origin, origin_count, origin_datatype, op)? };
        Ok(entry
            .raw
            .accumulate(from.bytes, (kind, op), &target.range())?)
    })
}

/// `MPI_Get_accumulate`.
///
/// # Safety
/// The elements of the origin may be read, those of the result written to until the access has ended.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's functions"
)]
pub(crate) unsafe fn get_accumulate<N: Counting>(
    origin: *const c_void,
    origin_count: N,
    origin_datatype: Datatype,
    result: *mut c_void,
    result_count: N,
    result_datatype: Datatype,
    rank: c_int,
    displacement: Aint,
    count: N,
    datatype: Datatype,
    op: Op,
    win: Win,
) -> c_int {
    on(win, "MPI_Get_accumulate", |entry| {
        let target = Target::new(rank, displacement, count, datatype)?;
        let (kind, op) = accumulation(datatype, op)?;
        // SAFETY: the caller's promise.
        let from = unsafe { operands(origin, origin_count, origin_datatype, op)? };
        // SAFETY: as above.
        let before = unsafe { Buffer::new(result, result_count, result_datatype)? };
        (entry.raw).get_accumulate(from.bytes, before.bytes, (kind, op), &target.range())?;
        entry.keep(rank, before.held);
        Ok(())
    })
}

/// `MPI_Fetch_and_op`.
///
/// # Safety
/// As [`get_accumulate`], of one element each.
pub(crate) unsafe fn fetch_and_op(
    origin: *const c_void,
    result: *mut c_void,
    datatype: Datatype,
    rank: c_int,
    displacement: Aint,
    op: Op,
    win: Win,
) -> c_int {
    if let Some(entry) = find_unlocked(win)
        && let Some(range) = plain_range(rank, displacement, ONE, datatype)
        && let Ok((kind, op)) = accumulation(datatype, op)
        // SAFETY: the caller's promise.
        && let Some(from) = unsafe { plain_operands(origin, ONE, datatype, op) }
        // SAFETY: as above.
        && let Some(before) = unsafe { plain(result, ONE, datatype) }
    {
        let done = entry.raw.get_accumulate(from, before, (kind, op), &range);
        return ended(entry, "MPI_Fetch_and_op", done);
    }
    on(win, "MPI_Fetch_and_op", |entry| {
        let target = Target::new(rank, displacement, ONE, datatype)?;
        one_element(datatype)?;
        let (kind, op) = accumulation(datatype, op)?;
        // SAFETY: the caller's promise.
        let from = unsafe { operands(origin, ONE, datatype, op)? };
        // SAFETY: as above.
        let before = unsafe { Buffer::new(result, ONE, datatype)? };
        (entry.raw).get_accumulate(from.bytes, before.bytes, (kind, op), &target.range())?;
        entry.keep(rank, before.held);
        Ok(())
    })
}

/// Two elements, of at most 16 bytes as all that are compared, one behind the other in this room.
fn side_by_side(elements: [RawBytes; 2], room: &mut [u128; 2]) -> RawBytes {
    let size = elements[0].len().min(16);
    // SAFETY: the room is used through these bytes alone while they are.
    let both = unsafe { RawBytes::new(room.as_mut_ptr().cast(), 2 * size as usize) };
    for (at, element) in (0..).zip(elements) {
        let place = both.range(at * size, size);
        if let (Some(place), Some(element)) = (place, element.range(0, size)) {
            place.copy_from(&element);
        }
    }
    both
}

/// `MPI_Compare_and_swap`.
///
/// # Safety
/// As [`fetch_and_op`]; the element to compare with may be read.
pub(crate) unsafe fn compare_and_swap(
    origin: *const c_void,
    compare: *const c_void,
    result: *mut c_void,
    datatype: Datatype,
    rank: c_int,
    displacement: Aint,
    win: Win,
) -> c_int {
    if let Some(entry) = find_unlocked(win)
        && let Some(range) = plain_range(rank, displacement, ONE, datatype)
        && let Ok(kind) = one_element(datatype)
        // SAFETY: the caller's promise.
        && let Some(expected) = unsafe { plain(compare, ONE, datatype) }
        // SAFETY: as above.
        && let Some(new) = unsafe { plain(origin, ONE, datatype) }
        // SAFETY: as above.
        && let Some(before) = unsafe { plain(result, ONE, datatype) }
    {
        let mut both = [0; 2];
        let operands = side_by_side([expected, new], &mut both);
        let done = (entry.raw).compare_and_swap(operands, before, kind, &range);
        return ended(entry, "MPI_Compare_and_swap", done);
    }
    on(win, "MPI_Compare_and_swap", |entry| {
        let target = Target::new(rank, displacement, ONE, datatype)?;
        let kind = one_element(datatype)?;
        // SAFETY: the caller's promise.
        let before = unsafe { Buffer::new(result, ONE, datatype)? };
        // SAFETY: as above.
        let expected = unsafe { Buffer::new(compare, ONE, datatype)? };
        // SAFETY: as above.
        let new = unsafe { Buffer::new(origin, ONE, datatype)? };
        let mut both = [0; 2];
        let operands = side_by_side([expected.bytes, new.bytes], &mut both);
        (entry.raw).compare_and_swap(operands, before.bytes, kind, &target.range())?;
        entry.keep(rank, before.held);
        Ok(())
    })
}
