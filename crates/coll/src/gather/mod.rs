//! Gather: the root gets every rank's block (MPI 5.0, section 6.5). Elements are packed bytes.
//!
//! Every rank gives a block of equal length in `In`; in place, the root's is already where it
//! belongs. The root gets the blocks in `Out`, in the order of the ranks.

mod knomial;
mod linear;

pub(crate) use knomial::GatherKnomial;
pub(crate) use linear::GatherLinear;
