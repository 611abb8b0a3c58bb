//! Inclusive prefix reduction: rank `r` gets the reduction over the ranks `0` to `r`
//! (MPI 5.0, section 6.11.1).
//!
//! Every rank reads its contribution from `In`, or from `Out` in place, and gets the result in
//! `Out`.

mod doubling;

pub(crate) use doubling::Doubling;
