//! Exclusive prefix reduction: rank `r` gets the reduction over the ranks `0` to `r - 1`
//! (MPI 5.0, section 6.11.2).
//!
//! Every rank reads its contribution from `In`, or from `Out` in place, and gets the result in
//! `Out`; at rank 0 that is undefined at the end.

mod doubling123;
mod shift;

pub(crate) use doubling123::Doubling123;
pub(crate) use doubling123::distance;
pub(crate) use shift::Shift;
