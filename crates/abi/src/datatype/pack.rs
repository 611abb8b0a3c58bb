//! Packing into a buffer and unpacking (MPI 5.0, sections 5.2 and 5.3). A packed buffer has the bytes of the elements, one
//! after the other.

use std::ffi::CStr;

use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::buffer::Buffer;
use super::external;
use super::table::description;
use crate::constants::{MPI_ERR_ARG, MPI_ERR_COUNT, MPI_ERR_TRUNCATE};
use crate::counts::Counting;
use crate::error_handling::{Error, Result, catch, on};
use crate::types::{Comm, Datatype, c_char, c_int, c_void};

/// The `len` bytes of a packed buffer that begin at a position, which moves beyond them.
///
/// # Safety
/// `position` may be read and written to; the buffer has `size` bytes, which may be used as the call does.
unsafe fn advance<N: Counting>(
    buffer: *const c_void,
    size: N,
    position: *mut N,
    len: u64,
) -> Result<RawBytes> {
    // SAFETY: the caller's promise.
    let at = unsafe { *position };
    let end = at.number().and_then(|at| at.checked_add(len));
    let end = end.filter(|&end| size.number().is_some_and(|size| end <= size));
    let Some(next) = end.and_then(N::of) else {
        let why = format!("{len} bytes from position {at} on exceed the buffer of {size} bytes");
        return Err(Error::new(MPI_ERR_TRUNCATE, why));
    };
    // SAFETY: as above.
    unsafe { position.write(next) };
    let start = buffer.cast_mut().cast::<u8>();
    // SAFETY: as above; the range is within the buffer.
    Ok(unsafe { RawBytes::new(start.wrapping_offset(at.signed() as isize), len as usize) })
}

/// `MPI_Pack`.
///
/// # Safety
/// The elements may be read, and `outsize` bytes may be written to; `position` may be read and written to.
pub(crate) unsafe fn pack<N: Counting>(
    inbuf: *const c_void,
    incount: N,
    datatype: Datatype,
    outbuf: *mut c_void,
    outsize: N,
    position: *mut N,
    comm: Comm,
) -> c_int {
    on(comm, "MPI_Pack", |_| {
        // SAFETY: the caller's promise.
        let elements = unsafe { Buffer::new(inbuf, incount, datatype) }?;
        // SAFETY: as above.
        let packed = unsafe { advance(outbuf, outsize, position, elements.bytes.len()) }?;
        packed.copy_from(&elements.bytes);
        Ok(())
    })
}

/// `MPI_Unpack`.
///
/// # Safety
/// `insize` bytes may be read, and the elements may be written to; `position` may be read and written to.
pub(crate) unsafe fn unpack<N: Counting>(
    inbuf: *const c_void,
    insize: N,
    position: *mut N,
    outbuf: *mut c_void,
    outcount: N,
    datatype: Datatype,
    comm: Comm,
) -> c_int {
    on(comm, "MPI_Unpack", |_| {
        // SAFETY: the caller's promise.
        let elements = unsafe { Buffer::new(outbuf, outcount, datatype) }?;
        // SAFETY: as above.
        let packed = unsafe { advance(inbuf, insize, position, elements.bytes.len()) }?;
        elements.bytes.copy_from(&packed);
        Ok(())
    })
}

/// Bytes as a count of the call's.
fn count_of<N: Counting>(bytes: Option<u64>) -> Result<N> {
    let why = || {
        Error::new(
            MPI_ERR_COUNT,
            "the packed bytes exceed the type of the size",
        )
    };
    bytes.and_then(N::of).ok_or_else(why)
}

/// `MPI_Pack_size`.
///
/// # Safety
/// `size` may be written to.
pub(crate) unsafe fn pack_size<N: Counting>(
    incount: N,
    datatype: Datatype,
    comm: Comm,
    size: *mut N,
) -> c_int {
    on(comm, "MPI_Pack_size", |_| {
        let (found, count) = (description(datatype)?, incount.checked()?);
        let bytes = found.layout.size().checked_mul(count);
        // SAFETY: the caller's promise.
        unsafe { size.write(count_of(bytes)?) };
        Ok(())
    })
}

/// Checks the name of a data representation.
///
/// # Safety
/// It is null, or ends with a null character.
unsafe fn check_datarep(name: *const c_char) -> Result<()> {
    // SAFETY: the caller's promise.
    if !name.is_null() && unsafe { CStr::from_ptr(name) } == c"external32" {
        return Ok(());
    }
    Err(Error::new(
        MPI_ERR_ARG,
        "the only data representation is external32",
    ))
}

/// `MPI_Pack_external`.
///
/// # Safety
/// As [`pack`]; `datarep` ends with a null character.
pub(crate) unsafe fn pack_external<N: Counting, P: Counting>(
    datarep: *const c_char,
    inbuf: *const c_void,
    incount: N,
    datatype: Datatype,
    outbuf: *mut c_void,
    outsize: P,
    position: *mut P,
) -> c_int {
    catch("MPI_Pack_external", || {
        // SAFETY: the caller's promise.
        unsafe { check_datarep(datarep) }?;
        // SAFETY: as above.
        let elements = unsafe { Buffer::new(inbuf, incount, datatype) }?;
        let signature = description(datatype)?.layout.signature().clone();
        let mut native = vec![0; elements.bytes.len() as usize];
        bytes_of(&mut native).copy_from(&elements.bytes);
        let mut external = external::encoded(&signature, incount.checked()?, &native);
        // SAFETY: as above.
        let packed = unsafe { advance(outbuf, outsize, position, external.len() as u64) }?;
        packed.copy_from(&bytes_of(&mut external));
        Ok(())
    })
}

/// `MPI_Unpack_external`.
///
/// # Safety
/// As [`unpack`]; `datarep` ends with a null character.
pub(crate) unsafe fn unpack_external<N: Counting, P: Counting>(
    datarep: *const c_char,
    inbuf: *const c_void,
    insize: P,
    position: *mut P,
    outbuf: *mut c_void,
    outcount: N,
    datatype: Datatype,
) -> c_int {
    catch("MPI_Unpack_external", || {
        // SAFETY: the caller's promise.
        unsafe { check_datarep(datarep) }?;
        // SAFETY: as above.
        let elements = unsafe { Buffer::new(outbuf, outcount, datatype) }?;
        let signature = description(datatype)?.layout.signature().clone();
        let count = outcount.checked()?;
        let len = external::size(&signature).saturating_mul(count);
        // SAFETY: as above.
        let packed = unsafe { advance(inbuf, insize, position, len) }?;
        let mut external = vec![0; len as usize];
        bytes_of(&mut external).copy_from(&packed);
        let mut native = external::decoded(&signature, count, &external);
        elements.bytes.copy_from(&bytes_of(&mut native));
        Ok(())
    })
}

/// The bytes of a vector that is not used otherwise while they are.
fn bytes_of(vector: &mut [u8]) -> RawBytes {
    // SAFETY: the borrow is unique, and the callers use the bytes inside one statement.
    unsafe { RawBytes::new(vector.as_mut_ptr(), vector.len()) }
}

/// `MPI_Pack_external_size`.
///
/// # Safety
/// `size` may be written to; `datarep` ends with a null character.
pub(crate) unsafe fn pack_external_size<N: Counting, P: Counting>(
    datarep: *const c_char,
    incount: N,
    datatype: Datatype,
    size: *mut P,
) -> c_int {
    catch("MPI_Pack_external_size", || {
        // SAFETY: the caller's promise.
        unsafe { check_datarep(datarep) }?;
        let found = description(datatype)?;
        let one = external::size(found.layout.signature());
        // SAFETY: as above.
        unsafe { size.write(count_of(one.checked_mul(incount.checked()?))?) };
        Ok(())
    })
}
