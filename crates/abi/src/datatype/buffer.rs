//! [`Buffer`]: the elements of a call.

use std::sync::Arc;

use oxmpi_core::ElementKind;
use oxmpi_os::RawBytes;

use super::Description;
use super::predefined;
use super::table::{description, find};
use crate::constants::{MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_IN_PLACE};
use crate::counts::Counting;
use crate::error_handling::{Error, Result};
use crate::handles::Handle;
use crate::shared::Held;
use crate::types::{Datatype, c_void};

/// The elements of a call.
pub(crate) struct Buffer {
    pub(crate) bytes: RawBytes,
    /// What has to live as long as the bytes are used.
    pub(crate) held: Held,
}

impl Buffer {
    /// No elements.
    pub(crate) const fn empty() -> Self {
        let bytes = RawBytes::empty();
        Self { bytes, held: None }
    }

    /// `count` elements of `datatype` from `start` on. The start `MPI_BOTTOM` is null: displacements are addresses.
    ///
    /// # Errors
    /// A negative count, no such datatype, one that is not committed, no memory.
    ///
    /// # Safety
    /// The elements may be used as the call does, for as long as the result or a copy of its bytes lives.
    ///
    /// # Cost
    /// A lookup, and for a datatype with gaps an addition to a counter. No allocation.
    pub(crate) unsafe fn new<N: Counting>(
        start: *const c_void,
        count: N,
        datatype: Datatype,
    ) -> Result<Self> {
        // SAFETY: the caller's promise.
        let bytes = unsafe { plain(start, count, datatype) };
        if let Some(bytes) = bytes {
            return Ok(Self { bytes, held: None });
        }
        let (description, number) = (committed(datatype)?, count.checked()?);
        let layout = &description.layout;
        let Some(len) = layout.size_of(number) else {
            let why = format!("{number} elements of the datatype exceed 63 bits");
            return Err(Error::new(MPI_ERR_COUNT, why));
        };
        if start.addr() == MPI_IN_PLACE && len > 0 {
            let why = "the buffer is MPI_IN_PLACE, which the call does not allow here";
            return Err(Error::new(MPI_ERR_BUFFER, why));
        }
        if start.is_null() && len > 0 && basic_size(datatype).is_some() {
            let why = format!("the buffer is null, and {number} elements are expected");
            return Err(Error::new(MPI_ERR_BUFFER, why));
        }
        // SAFETY: the caller's promise; the description is kept below.
        let bytes = unsafe { RawBytes::with_datatype(start.cast_mut().cast(), layout, number) };
        let held: Held = match bytes.has_gaps() {
            true => Some(description.clone()),
            false => None,
        };
        Ok(Self { bytes, held })
    }
}

/// What the datatype of a call describes.
///
/// # Errors
/// No such datatype, or one that is not committed.
pub(crate) fn committed(datatype: Datatype) -> Result<Arc<Description>> {
    let found = find(datatype)?;
    match found.is_committed() {
        true => Ok(Arc::clone(&found.description)),
        false => {
            let why = "the datatype is not committed: MPI_Type_commit does so";
            Err(Error::new(MPI_ERR_TYPE, why))
        }
    }
}

/// The elements of a call, if the datatype is one basic datatype, the count is not negative, the bytes are counted by 63
/// bits, and there is a buffer: neither `MPI_BOTTOM` nor `MPI_IN_PLACE`.
///
/// # Safety
/// As [`Buffer::new`].
///
/// # Cost
/// That of [`plain_len`].
#[inline(always)]
pub(crate) unsafe fn plain<N: Counting>(
    start: *const c_void,
    count: N,
    datatype: Datatype,
) -> Option<RawBytes> {
    let len = plain_len(start, count, datatype)?;
    // SAFETY: the caller's promise.
    Some(unsafe { RawBytes::new(start.cast_mut().cast(), len) })
}

/// Bytes of the elements of which [`plain`] gives a range.
///
/// # Cost
/// A load, four compares and a multiplication; for a large count two compares more.
#[inline(always)]
pub(crate) fn plain_len<N: Counting>(
    start: *const c_void,
    count: N,
    datatype: Datatype,
) -> Option<usize> {
    let known = basic_size(datatype).is_some() && is_memory(start);
    known.then(|| basic_len(count, datatype)).flatten()
}

/// Bytes of elements of a basic datatype, 0 where it is another datatype; `None` as of [`plain`] for the count.
#[inline(always)]
pub(crate) fn basic_len<N: Counting>(count: N, datatype: Datatype) -> Option<usize> {
    let len = count.bytes(predefined::basic_size(datatype.address()))?;
    Some(len as usize)
}

/// Whether a buffer is neither `MPI_BOTTOM`, which is null, nor `MPI_IN_PLACE`.
#[inline(always)]
pub(crate) fn is_memory(start: *const c_void) -> bool {
    start.addr() > MPI_IN_PLACE
}

/// Bytes of an element, if the datatype is predefined and one basic datatype.
#[inline(always)]
pub(crate) fn basic_size(datatype: Datatype) -> Option<u64> {
    match predefined::basic_size(datatype.address()) {
        0 => None,
        size => Some(size.into()),
    }
}

/// The kind of the elements of a predefined datatype, if they are of one.
pub(crate) fn predefined_kind(datatype: Datatype) -> Option<ElementKind> {
    predefined::find(datatype.address())?.description.kind
}

/// Bytes of an element.
pub(crate) fn size_of(datatype: Datatype) -> Result<u64> {
    match basic_size(datatype) {
        Some(size) => Ok(size),
        None => Ok(description(datatype)?.layout.size()),
    }
}

/// Bytes from an element to the next.
pub(crate) fn extent_of(datatype: Datatype) -> Result<i64> {
    match basic_size(datatype) {
        Some(size) => Ok(size as i64),
        None => Ok(description(datatype)?.layout.extent()),
    }
}
