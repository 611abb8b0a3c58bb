//! Inquiries that are always allowed: before `MPI_Init`, after `MPI_Finalize`, from any thread.

use crate::constants::{
    MPI_ABI_SUBVERSION, MPI_ABI_VERSION, MPI_INFO_NULL, MPI_MAX_LIBRARY_VERSION_STRING,
    MPI_SUBVERSION, MPI_SUCCESS, MPI_VERSION,
};
use crate::error_handling::catch;
use crate::handles::Handle;
use crate::info::{self, Pairs};
use crate::shared::Shared;
use crate::strings;
use crate::types::{Info, c_char, c_int, c_void};

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

/// `MPI_Get_library_version`.
///
/// # Safety
/// There is room for `MPI_MAX_LIBRARY_VERSION_STRING` characters; the length may be written to.
pub(crate) unsafe fn library_version(text: *mut c_char, length: *mut c_int) -> c_int {
    let version = concat!("oxmpi ", env!("CARGO_PKG_VERSION"));
    // SAFETY: the caller's promise.
    let written = unsafe { strings::write(version, text, MPI_MAX_LIBRARY_VERSION_STRING as usize) };
    // SAFETY: as above.
    unsafe { length.write(written as c_int) };
    MPI_SUCCESS
}

/// `MPI_Pcontrol`: for tools, which have functions of their own of this name.
pub(crate) const fn pcontrol(_level: c_int) -> c_int {
    MPI_SUCCESS
}

/// `MPI_Get_hw_resource_info`: the info object has no keys, as no resource is known.
///
/// # Safety
/// The handle may be written to.
pub(crate) unsafe fn hw_resource_info(hints: *mut Info) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { hints.write(info::insert(Pairs::default())) };
    MPI_SUCCESS
}

/// What a library of Fortran bindings has said of its compiler.
static FORTRAN: Shared<Option<Pairs>> = Shared::always_locked(None);

/// The size of a Fortran logical, and its two values.
type Booleans = (c_int, [u8; 16], [u8; 16]);

static BOOLEANS: Shared<Option<Booleans>> = Shared::always_locked(None);

/// `MPI_Abi_get_info`.
///
/// # Safety
/// The handle may be written to.
pub(crate) unsafe fn abi_info(hints: *mut Info) -> c_int {
    let mut pairs = Pairs::default();
    for (key, bytes) in [
        ("mpi_aint_size", size_of::<crate::types::Aint>()),
        ("mpi_count_size", size_of::<crate::types::Count>()),
        ("mpi_offset_size", size_of::<crate::types::Offset>()),
    ] {
        pairs.set(key.to_owned(), bytes.to_string());
    }
    // SAFETY: the caller's promise.
    unsafe { hints.write(info::insert(pairs)) };
    MPI_SUCCESS
}

/// `MPI_Abi_get_fortran_info`.
///
/// # Safety
/// The handle may be written to.
pub(crate) unsafe fn fortran_info(hints: *mut Info) -> c_int {
    let known = FORTRAN.with(|pairs| pairs.clone());
    let handle = known.map_or(Info::from_address(MPI_INFO_NULL), info::insert);
    // SAFETY: the caller's promise.
    unsafe { hints.write(handle) };
    MPI_SUCCESS
}

/// `MPI_Abi_set_fortran_info`.
pub(crate) fn set_fortran_info(hints: Info) -> c_int {
    catch("MPI_Abi_set_fortran_info", || {
        let pairs = info::pairs(hints)?;
        FORTRAN.with(|place| *place = Some(pairs));
        Ok(())
    })
}

/// `MPI_Abi_get_fortran_booleans`.
///
/// # Safety
/// The flag may be written to, and `size` bytes of each value.
pub(crate) unsafe fn fortran_booleans(
    size: c_int,
    when_true: *mut c_void,
    when_false: *mut c_void,
    is_set: *mut c_int,
) -> c_int {
    let known = BOOLEANS
        .with(|booleans| *booleans)
        .filter(|known| known.0 == size);
    // SAFETY: the caller's promise; here and below.
    unsafe { is_set.write(c_int::from(known.is_some())) };
    if let Some((size, yes, no)) = known {
        // SAFETY: as above.
        unsafe {
            when_true
                .cast::<u8>()
                .copy_from(yes.as_ptr(), size as usize)
        };
        // SAFETY: as above.
        unsafe {
            when_false
                .cast::<u8>()
                .copy_from(no.as_ptr(), size as usize)
        };
    }
    MPI_SUCCESS
}

/// `MPI_Abi_set_fortran_booleans`.
///
/// # Safety
/// `size` bytes of each value may be read.
pub(crate) unsafe fn set_fortran_booleans(
    size: c_int,
    when_true: *mut c_void,
    when_false: *mut c_void,
) -> c_int {
    catch("MPI_Abi_set_fortran_booleans", || {
        let (mut yes, mut no) = ([0; 16], [0; 16]);
        let bytes = usize::try_from(size)
            .ok()
            .filter(|&bytes| bytes <= yes.len());
        let bytes = bytes.ok_or_else(|| {
            crate::error_handling::Error::argument(format!("a Fortran logical has no {size} bytes"))
        })?;
        // SAFETY: the caller's promise.
        unsafe { yes.as_mut_ptr().copy_from(when_true.cast(), bytes) };
        // SAFETY: as above.
        unsafe { no.as_mut_ptr().copy_from(when_false.cast(), bytes) };
        BOOLEANS.with(|booleans| *booleans = Some((size, yes, no)));
        Ok(())
    })
}
