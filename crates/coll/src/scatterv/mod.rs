//! Scatterv: every rank gets its block, of a length of its own, from the root (MPI 5.0, section
//! 6.6). Elements are packed bytes.
//!
//! A rank knows the length of its own block only; the root is given all of them as
//! [`CallArrays::sends`](crate::plan::CallArrays::sends) and gives the blocks in `In`. Every rank gets its
//! own in `Out`; in place, the root does not use `Out`. Linear scatterv is
//! [`scatter::ScatterLinear`](crate::scatter::ScatterLinear).

mod tree;

pub(crate) use tree::{ScattervKnomial, ScattervTree};
