//! Gatherv: the root gets every rank's block, each of a length of its own (MPI 5.0, section 6.5).
//! Elements are packed bytes.
//!
//! Every rank gives its block in `In`; in place, the root's is already where it belongs. A rank
//! knows the length of its own block only; the root is given all of them as
//! [`CallArrays::recvs`](crate::plan::CallArrays::recvs) and gets the blocks in `Out`. Linear gatherv is
//! [`gather::GatherLinear`](crate::gather::GatherLinear).

mod tree;

pub(crate) use tree::{GathervKnomial, GathervTree};
