//! Scatter: every rank gets its block from the root (MPI 5.0, section 6.6). Elements are packed
//! bytes.
//!
//! The root gives blocks of equal length in `In`, in the order of the ranks. Every rank gets its
//! own in `Out`; in place, the root does not use `Out`.

mod knomial;
mod linear;

pub(crate) use knomial::ScatterKnomial;
pub(crate) use linear::ScatterLinear;
