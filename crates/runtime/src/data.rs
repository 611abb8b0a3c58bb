//! What may travel in a message.
//!
//! A buffer is a slice of anything made of plain bytes: a type in which every bit pattern is a
//! value and which has no padding, as the `zerocopy` crate's traits say. Numbers, arrays of them,
//! and `#[repr(C)]` structs with `#[derive(FromBytes, IntoBytes, Immutable)]` qualify; `bool`,
//! `char`, references and enums do not.

use oxmpi_os::RawBytes;
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// A type whose values may be sent and received as bytes.
///
/// Implemented for every type that zerocopy knows as plain bytes; never implemented by hand.
pub trait Data: FromBytes + IntoBytes + Immutable + Copy + Send + Sync + 'static {}

impl<T: FromBytes + IntoBytes + Immutable + Copy + Send + Sync + 'static> Data for T {}

/// The bytes of `values`, to be read by the message path.
#[inline(always)]
pub(crate) fn source<T: Data>(values: &[T]) -> RawBytes {
    // SAFETY: the range is the slice's own. The message path only drains bytes of a send, and every
    // caller keeps the borrow (or the owned buffer) until the request has ended: the blocking calls
    // by waiting inside the borrow, the scope by waiting for all its requests before `'env` may end,
    // the owned form by keeping the buffer in the endpoint.
    unsafe { RawBytes::new(values.as_ptr().cast_mut().cast(), size_of_val(values)) }
}

/// The bytes of `values`, to be written by the message path.
#[inline(always)]
pub(crate) fn target<T: Data>(values: &mut [T]) -> RawBytes {
    // SAFETY: as in `source`; the borrow is unique, and any bytes make a valid `T`.
    unsafe { RawBytes::new(values.as_mut_ptr().cast(), size_of_val(values)) }
}

/// The bytes of the elements at `values`, to be read or written by the message path: as in `target`,
/// of a slice that was given up for its address.
#[inline(always)]
pub(crate) fn place<T: Data>(values: *mut [T]) -> RawBytes {
    // SAFETY: as in `target`. The range is not made through a reference, so that one which is made
    // of the address later, between two uses of the range, leaves it good.
    unsafe { RawBytes::new(values.cast(), values.len() * size_of::<T>()) }
}
