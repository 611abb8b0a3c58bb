//! Words of the core itself, such as the rows of a table that ranks exchange, as ranges of bytes.

use oxmpi_os::RawBytes;
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// The bytes of `values`, which a call only reads.
#[inline(always)]
pub(crate) fn source<T: IntoBytes + Immutable>(values: &[T]) -> RawBytes {
    // SAFETY: the range is the slice's own. The core only reads the bytes of a send, and every caller waits
    // for the end of its call inside the borrow.
    unsafe { RawBytes::new(values.as_ptr().cast_mut().cast(), size_of_val(values)) }
}

/// The bytes of `values`, which a call writes.
#[inline(always)]
pub(crate) fn target<T: FromBytes + IntoBytes>(values: &mut [T]) -> RawBytes {
    // SAFETY: as in `source`; the borrow is unique, and any bytes make a valid `T`.
    unsafe { RawBytes::new(values.as_mut_ptr().cast(), size_of_val(values)) }
}
