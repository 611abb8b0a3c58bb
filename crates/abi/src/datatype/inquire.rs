//! Sizes, extents and addresses (MPI 5.0, sections 5.1.5 to 5.1.8).

use super::table::description;
use super::{basic_size, size_of};
use crate::constants::MPI_SUCCESS;
use crate::counts::Counting;
use crate::error_handling::catch;
use crate::types::{Aint, Datatype, c_int, c_void};

/// `MPI_Type_size`.
///
/// # Safety
/// `size` may be written to.
pub(crate) unsafe fn size<N: Counting>(datatype: Datatype, size: *mut N) -> c_int {
    if let Some(bytes) = basic_size(datatype) {
        // SAFETY: the caller's promise.
        unsafe { size.write(N::of(bytes).unwrap_or(N::UNDEFINED)) };
        return MPI_SUCCESS;
    }
    // SAFETY: as above.
    unsafe { size_of_made(datatype, size) }
}

/// The size of a datatype that is not one basic datatype.
///
/// # Safety
/// As [`size`].
#[inline(never)]
unsafe fn size_of_made<N: Counting>(datatype: Datatype, size: *mut N) -> c_int {
    catch("MPI_Type_size", || {
        let bytes = size_of(datatype)?;
        // SAFETY: the caller's promise.
        unsafe { size.write(N::of(bytes).unwrap_or(N::UNDEFINED)) };
        Ok(())
    })
}

/// An offset; all types of offsets have 64 bits.
pub(crate) trait Offset {
    fn of_bytes(offset: i64) -> Self;
}

impl Offset for Aint {
    fn of_bytes(offset: i64) -> Self {
        offset as Self
    }
}

impl Offset for i64 {
    fn of_bytes(offset: i64) -> Self {
        offset
    }
}

/// `MPI_Type_get_extent`.
///
/// # Safety
/// `lower_bound` and `extent` may be written to.
pub(crate) unsafe fn extent<O: Offset>(
    datatype: Datatype,
    lower_bound: *mut O,
    extent: *mut O,
) -> c_int {
    catch("MPI_Type_get_extent", || {
        let found = description(datatype)?;
        let layout = &found.layout;
        // SAFETY: the caller's promise.
        unsafe { lower_bound.write(O::of_bytes(layout.lower_bound())) };
        // SAFETY: as above.
        unsafe { extent.write(O::of_bytes(layout.extent())) };
        Ok(())
    })
}

/// `MPI_Type_get_true_extent`.
///
/// # Safety
/// As [`extent`].
pub(crate) unsafe fn true_extent<O: Offset>(
    datatype: Datatype,
    lower_bound: *mut O,
    extent: *mut O,
) -> c_int {
    catch("MPI_Type_get_true_extent", || {
        let found = description(datatype)?;
        let layout = &found.layout;
        // SAFETY: the caller's promise.
        unsafe { lower_bound.write(O::of_bytes(layout.true_lower_bound())) };
        // SAFETY: as above.
        unsafe { extent.write(O::of_bytes(layout.true_extent())) };
        Ok(())
    })
}

/// `MPI_Get_address`.
///
/// # Safety
/// `address` may be written to.
pub(crate) unsafe fn address(location: *const c_void, address: *mut Aint) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { address.write(location.expose_provenance().cast_signed()) };
    MPI_SUCCESS
}
