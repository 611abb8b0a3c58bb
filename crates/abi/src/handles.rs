//! Handles: pointers that are numbers. Predefined ones have values below 4,096 (MPI 5.0, appendix A.2).

use std::ffi::c_int;

/// A handle of the ABI.
pub(crate) trait Handle {
    fn from_address(address: usize) -> Self;
    fn address(self) -> usize;
}

/// The handle as an integer (`MPI_Comm_toint` and its kind). Predefined ones keep their value.
pub(crate) fn to_int<H: Handle>(handle: H) -> c_int {
    handle.address() as c_int
}

/// The handle of an integer (`MPI_Comm_fromint` and its kind).
pub(crate) fn from_int<H: Handle>(int: c_int) -> H {
    H::from_address(int as u32 as usize)
}
