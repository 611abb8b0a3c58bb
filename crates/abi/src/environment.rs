//! Inquiries that are always allowed: before `MPI_Init`, after `MPI_Finalize`, from any thread.

use crate::constants::{
    MPI_ABI_SUBVERSION, MPI_ABI_VERSION, MPI_SUBVERSION, MPI_SUCCESS, MPI_VERSION,
};
use crate::types::c_int;

/// `MPI_Get_version`.
///
/// # Safety
/// Both may be written to.
pub(crate) unsafe fn version(version: *mut c_int, subversion: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { version.write(MPI_VERSION) };
    // SAFETY: as above.
    unsafe { subversion.write(MPI_SUBVERSION) };
    MPI_SUCCESS
}

/// `MPI_Abi_get_version`.
///
/// # Safety
/// Both may be written to.
pub(crate) unsafe fn abi_version(major: *mut c_int, minor: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { major.write(MPI_ABI_VERSION) };
    // SAFETY: as above.
    unsafe { minor.write(MPI_ABI_SUBVERSION) };
    MPI_SUCCESS
}
