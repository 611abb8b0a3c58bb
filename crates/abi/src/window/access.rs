//! `MPI_Put` and `MPI_Get` (MPI 5.0, section 12.3).

use super::calls::{ended, on};
use super::target::{Target, plain_range};
use crate::counts::Counting;
use crate::datatype::{Buffer, plain};
use crate::types::{Aint, Datatype, Win, c_int, c_void};
use crate::window_table::find_unlocked;

/// `MPI_Put`.
///
/// # Safety
/// The elements of the origin may be read.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's functions"
)]
pub(crate) unsafe fn put<N: Counting>(
    origin: *const c_void,
    origin_count: N,
    origin_datatype: Datatype,
    rank: c_int,
    displacement: Aint,
    count: N,
    datatype: Datatype,
    win: Win,
) -> c_int {
    let from = (origin, origin_count, origin_datatype);
    // SAFETY: the caller's promise.
    unsafe { put_by("MPI_Put", from, (rank, displacement, count, datatype), win) }
}

/// Puts the elements of an origin, named by their start, count and datatype, to a target, named by its rank, displacement, count
/// and datatype.
///
/// # Safety
/// As [`put`].
#[inline]
pub(super) unsafe fn put_by<N: Counting>(
    function: &'static str,
    (origin, origin_count, origin_datatype): (*const c_void, N, Datatype),
    (rank, displacement, count, datatype): (c_int, Aint, N, Datatype),
    win: Win,
) -> c_int {
    if let Some(entry) = find_unlocked(win)
        && let Some(range) = plain_range(rank, displacement, count, datatype)
        // SAFETY: the caller's promise.
        && let Some(from) = unsafe { plain(origin, origin_count, origin_datatype) }
    {
        return ended(entry, function, entry.raw.put(from, &range));
    }
    on(win, function, |entry| {
        let target = Target::new(rank, displacement, count, datatype)?;
        // SAFETY: the caller's promise.
        let from = unsafe { Buffer::new(origin, origin_count, origin_datatype)? };
        Ok(entry.raw.put(from.bytes, &target.range())?)
    })
}

/// `MPI_Get`.
///
/// # Safety
/// The elements of the origin may be written to until the access has ended.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's functions"
)]
pub(crate) unsafe fn get<N: Counting>(
    origin: *mut c_void,
    origin_count: N,
    origin_datatype: Datatype,
    rank: c_int,
    displacement: Aint,
    count: N,
    datatype: Datatype,
    win: Win,
) -> c_int {
    if let Some(entry) = find_unlocked(win)
        && let Some(range) = plain_range(rank, displacement, count, datatype)
        // SAFETY: the caller's promise.
        && let Some(to) = unsafe { plain(origin, origin_count, origin_datatype) }
    {
        return ended(entry, "MPI_Get", entry.raw.get(to, &range));
    }
    on(win, "MPI_Get", |entry| {
        let target = Target::new(rank, displacement, count, datatype)?;
        // SAFETY: the caller's promise.
        let to = unsafe { Buffer::new(origin, origin_count, origin_datatype)? };
        entry.raw.get(to.bytes, &target.range())?;
        entry.keep(rank, to.held);
        Ok(())
    })
}
