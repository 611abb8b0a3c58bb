//! Reduction whose result is scattered: every rank gets its block of the reduction of all ranks'
//! vectors (MPI 5.0, sections 6.10.1 and 6.10.2).
//!
//! Every rank reads its vector, one block for each rank in order, from `In`, or from `Out` in
//! place. It gets its own block at the start of `Out`; in place the rest of `Out` is left
//! alone. The blocks are equally long in reduce_scatter_block, and as long as the caller's
//! counts say in reduce_scatter.

mod circulant;
mod halving;
mod pairwise;
mod vector;

pub(crate) use circulant::ReduceScatterCirculant;
pub(crate) use halving::ReduceScatterHalving;
pub(crate) use pairwise::{MAX_SIZE as PAIRWISE_MAX_SIZE, ReduceScatterPairwise};
