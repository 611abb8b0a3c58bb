//! Accesses with requests (MPI 5.0, section 12.3.5).

use oxmpi_core::RawRequest;

use super::access::put_by;
use super::accumulate::{accumulate_by, accumulation, operands};
use super::calls::on;
use super::target::Target;
use crate::comm_table;
use crate::constants::MPI_SUCCESS;
use crate::counts::Counting;
use crate::datatype::Buffer;
use crate::error_handling::Result;
use crate::request;
use crate::shared::Held;
use crate::types::{Aint, Datatype, Op, Request, Win, c_int, c_void};

/// A handle of an access; `None`: it has ended here.
fn handle(raw: Option<RawRequest>, held: Held) -> Result<Request> {
    match raw {
        Some(raw) => Ok(request::insert(comm_table::own()?, raw, held)),
        None => Ok(request::SENT),
    }
}

/// Gives the handle of an access that has ended here, unless it has failed with this code.
///
/// # Safety
/// The request may be written to.
unsafe fn complete(code: c_int, request: *mut Request) -> c_int {
    if code == MPI_SUCCESS {
        // SAFETY: the caller's promise.
        unsafe { request.write(request::SENT) };
    }
    code
}

/// `MPI_Rput`. The origin's elements have been read when it returns.
///
/// # Safety
/// The elements of the origin may be read; the request may be written to.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's functions"
)]
pub(crate) unsafe fn rput<N: Counting>(
    origin: *const c_void,
    origin_count: N,
    origin_datatype: Datatype,
    rank: c_int,
    displacement: Aint,
    count: N,
    datatype: Datatype,
    win: Win,
    request: *mut Request,
) -> c_int {
    let from = (origin, origin_count, origin_datatype);
    // SAFETY: the caller's promise.
    let code = unsafe { put_by("MPI_Rput", from, (rank, displacement, count, datatype), win) };
    // SAFETY: as above.
    unsafe { complete(code, request) }
}

/// `MPI_Rget`.
///
/// # Safety
/// The elements of the origin may be written to until the request has completed; the request may be written to.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's functions"
)]
pub(crate) unsafe fn rget<N: Counting>(
    origin: *mut c_void,
    origin_count: N,
    origin_datatype: Datatype,
    rank: c_int,
    displacement: Aint,
    count: N,
    datatype: Datatype,
    win: Win,
    request: *mut Request,
) -> c_int {
    on(win, "MPI_Rget", |entry| {
        let target = Target::new(rank, displacement, count, datatype)?;
        // SAFETY: the caller's promise.
        let to = unsafe { Buffer::new(origin, origin_count, origin_datatype)? };
        let raw = entry.raw.rget(to.bytes, &target.range())?;
        // SAFETY: as above.
        unsafe { request.write(handle(raw, to.held)?) };
        Ok(())
    })
}

/// `MPI_Raccumulate`. The origin's elements have been read when it returns.
///
/// # Safety
/// As [`rput`].
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's functions"
)]
pub(crate) unsafe fn raccumulate<N: Counting>(
    origin: *const c_void,
    origin_count: N,
    origin_datatype: Datatype,
    rank: c_int,
    displacement: Aint,
    count: N,
    datatype: Datatype,
    op: Op,
    win: Win,
    request: *mut Request,
) -> c_int {
    let from = (origin, origin_count, origin_datatype);
    let to = (rank, displacement, count, datatype);
    // SAFETY: the caller's promise.
    let code = unsafe { accumulate_by("MPI_Raccumulate", from, to, op, win) };
    // SAFETY: as above.
    unsafe { complete(code, request) }
}

/// `MPI_Rget_accumulate`.
///
/// # Safety
/// The elements of the origin may be read, those of the result written to until the request has completed; the request may
/// be written to.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's functions"
)]
pub(crate) unsafe fn rget_accumulate<N: Counting>(
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
    request: *mut Request,
) -> c_int {
    on(win, "MPI_Rget_accumulate", |entry| {
        let target = Target::new(rank, displacement, count, datatype)?;
        let operation = accumulation(datatype, op)?;
        // SAFETY: the caller's promise.
        let from = unsafe { operands(origin, origin_count, origin_datatype, operation.1)? };
        // SAFETY: as above.
        let before = unsafe { Buffer::new(result, result_count, result_datatype)? };
        let raw =
            (entry.raw).rget_accumulate(from.bytes, before.bytes, operation, &target.range())?;
        // SAFETY: as above.
        unsafe { request.write(handle(raw, before.held)?) };
        Ok(())
    })
}
