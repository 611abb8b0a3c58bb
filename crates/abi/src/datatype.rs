//! Datatypes: the predefined ones.

use oxmpi_os::RawBytes;

use crate::constants::MPI_ERR_TYPE;
use crate::counts::Counting;
use crate::errors::{Error, Result, catch};
use crate::handles::Handle;
use crate::request::Held;
use crate::types::{Datatype, Status, c_int, c_void};

/// The elements of a call.
pub(crate) struct Buffer {
    pub(crate) bytes: RawBytes,
    /// What has to live as long as the bytes are used.
    pub(crate) held: Held,
}

impl Buffer {
    /// `count` elements of `datatype` from `start` on.
    ///
    /// # Safety
    /// The elements may be used as the call does, for as long as the result or a copy of its bytes lives.
    #[inline]
    pub(crate) unsafe fn new<N: Counting>(
        start: *const c_void,
        count: N,
        datatype: Datatype,
    ) -> Result<Self> {
        count.checked()?;
        size_of(datatype)?;
        // SAFETY: the caller's promise.
        let bytes = unsafe { plain(start, count, datatype) };
        let bytes = bytes.ok_or_else(|| Error::handle(MPI_ERR_TYPE, "datatype", datatype))?;
        Ok(Self { bytes, held: None })
    }
}

/// Bytes of each predefined datatype without gaps, by the distance of its handle from `MPI_DATATYPE_NULL`.
static SIZES: [u8; 256] = sizes();

const fn sizes() -> [u8; 256] {
    let mut sizes = [0; 256];
    let table = [
        (513, 8),
        (514, 8),
        (515, 8),
        (519, 1),
        (520, 2),
        (521, 4),
        (522, 8),
        (523, 8),
        (524, 2),
        (525, 4),
        (526, 8),
        (527, 8),
        (528, 4),
        (530, 8),
        (532, 8),
        (534, 16),
        (544, 16),
        (548, 32),
        (568, 1),
        (572, 4),
        (576, 1),
        (577, 1),
        (579, 1),
        (580, 1),
        (581, 1),
        (583, 1),
        (584, 2),
        (585, 2),
        (592, 4),
        (593, 4),
        (600, 8),
        (601, 8),
        (531, 8),
        (535, 16),
        (549, 32),
        (569, 1),
        (555, 8),
    ];
    let mut at = 0;
    while at < table.len() {
        sizes[table[at].0 - 512] = table[at].1;
        at += 1;
    }
    sizes
}

/// The elements of a call, if the datatype is predefined and has no gaps, and the count is not negative.
///
/// # Safety
/// As [`Buffer::new`].
#[inline(always)]
pub(crate) unsafe fn plain<N: Counting>(
    start: *const c_void,
    count: N,
    datatype: Datatype,
) -> Option<RawBytes> {
    let size = *SIZES.get(datatype.address().wrapping_sub(512))?;
    let count = count.number()?;
    if size == 0 {
        return None;
    }
    let len = (count as usize).wrapping_mul(size as usize);
    // SAFETY: the caller's promise.
    Some(unsafe { RawBytes::new(start.cast_mut().cast(), len) })
}

/// Bytes of an element.
pub(crate) fn size_of(datatype: Datatype) -> Result<u64> {
    match SIZES.get(datatype.address().wrapping_sub(512)) {
        Some(&size) if size > 0 => Ok(size.into()),
        _ => Err(Error::handle(MPI_ERR_TYPE, "datatype", datatype)),
    }
}

/// Bytes from an element to the next.
pub(crate) fn extent_of(datatype: Datatype) -> Result<i64> {
    size_of(datatype).map(|size| size as i64)
}

/// `MPI_Type_size`.
///
/// # Safety
/// The size may be written to.
pub(crate) unsafe fn size<N: Counting>(datatype: Datatype, size: *mut N) -> c_int {
    catch("MPI_Type_size", || {
        let bytes = size_of(datatype)?;
        // SAFETY: the caller's promise.
        unsafe { size.write(N::of(bytes).unwrap_or(N::UNDEFINED)) };
        Ok(())
    })
}

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
        let size = size_of(datatype)?;
        let number = bytes.is_multiple_of(size).then(|| bytes / size);
        // SAFETY: the caller's promise.
        unsafe { count.write(number.and_then(N::of).unwrap_or(N::UNDEFINED)) };
        Ok(())
    })
}
