//! Counts of what a status tells (MPI 5.0, sections 3.2.5, 5.1.11 and 13.3).

use super::size_of;
use super::table::description;
use crate::constants::MPI_ERR_COUNT;
use crate::counts::Counting;
use crate::error_handling::{Error, catch};
use crate::types::{Datatype, Status, c_int};

/// `MPI_Get_count`.
///
/// # Safety
/// The status may be read, the count may be written to.
pub(crate) unsafe fn get_count<N: Counting>(
    status: *const Status,
    datatype: Datatype,
    count: *mut N,
) -> c_int {
    catch("MPI_Get_count", || {
        // SAFETY: the caller's promise.
        let bytes = unsafe { (*status).bytes() };
        let whole = match (bytes, size_of(datatype)?) {
            (0, _) => Some(0),
            (_, 0) => None,
            (bytes, size) => bytes.is_multiple_of(size).then(|| bytes / size),
        };
        // SAFETY: as above.
        unsafe { count.write(whole.and_then(N::of).unwrap_or(N::UNDEFINED)) };
        Ok(())
    })
}

/// `MPI_Get_elements`. The members of pairs count one each.
///
/// # Safety
/// As [`get_count`].
pub(crate) unsafe fn get_elements<N: Counting>(
    status: *const Status,
    datatype: Datatype,
    count: *mut N,
) -> c_int {
    catch("MPI_Get_elements", || {
        // SAFETY: the caller's promise.
        let bytes = unsafe { (*status).bytes() };
        let found = description(datatype)?;
        let elements = found.layout.signature().elements_in(bytes);
        // SAFETY: as above.
        unsafe { count.write(elements.and_then(N::of).unwrap_or(N::UNDEFINED)) };
        Ok(())
    })
}

/// `MPI_Status_set_elements`.
///
/// # Safety
/// The status may be written to.
pub(crate) unsafe fn set_elements<N: Counting>(
    status: *mut Status,
    datatype: Datatype,
    count: N,
) -> c_int {
    catch("MPI_Status_set_elements", || {
        let elements = count.checked()?;
        let found = description(datatype)?;
        let bytes = found.layout.signature().bytes_of(elements);
        let why = "the elements have more bytes than 63 bits count, or the datatype has none";
        let bytes = bytes.ok_or_else(|| Error::new(MPI_ERR_COUNT, why))?;
        // SAFETY: the caller's promise.
        unsafe { (*status).set_bytes(bytes) };
        Ok(())
    })
}
