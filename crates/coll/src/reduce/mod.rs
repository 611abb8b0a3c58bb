//! Reduction to one rank (MPI 5.0, section 6.9.1).
//!
//! Every rank reads its contribution from `In`, or the root from `Out` in place. The root gets the
//! result in `Out`; the other ranks do not use theirs.

mod chain;
mod circulant;
mod folded;
mod rabenseifner;
mod tree;

pub(crate) use chain::{MAX_SIZE as CHAIN_MAX_SIZE, ReduceChain};
pub(crate) use circulant::ReduceCirculant;
pub(crate) use folded::Folded;
pub(crate) use folded::without_folded_rank;
pub(crate) use rabenseifner::ReduceRabenseifner;
pub(crate) use tree::{ReduceKnomial, ReduceTree};
