//! Ranges of bytes: words of the core itself, such as the rows of a table that ranks exchange, and pairs of pieces.

use std::iter;

use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;
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

/// Pairs of equally long ranges, one from each of two sequences of pieces: a range ends where a piece of either
/// sequence ends. The rest of the longer sequence is left out; an error of either sequence ends both.
pub(crate) fn pairs<E>(
    ones: impl Iterator<Item = Result<RawBytes, E>>,
    others: impl Iterator<Item = Result<RawBytes, E>>,
) -> impl Iterator<Item = Result<[RawBytes; 2], E>> {
    let (mut ones, mut others) = (ones, others);
    let (mut one, mut other) = (RawBytes::empty(), RawBytes::empty());
    iter::from_fn(move || {
        for (piece, rest) in [
            (&mut one, &mut ones as &mut dyn Iterator<Item = _>),
            (&mut other, &mut others),
        ] {
            while piece.len() == 0 {
                match rest.next()? {
                    Ok(next) => *piece = next,
                    Err(outside) => return Some(Err(outside)),
                }
            }
        }
        let len = one.len().min(other.len());
        Some(Ok([take(&mut one, len), take(&mut other, len)]))
    })
}

/// Takes `len` bytes from the start of a range without gaps.
fn take(bytes: &mut RawBytes, len: u64) -> RawBytes {
    let cut = |at, len| bytes.range(at, len).unwrap_or(RawBytes::empty());
    let (taken, rest) = (cut(0, len), cut(len, bytes.len() - len));
    *bytes = rest;
    taken
}
