//! Broadcast: every rank gets the root's elements (MPI 5.0, section 6.4). Elements are packed
//! bytes.
//!
//! The root reads them from `In`, every other rank gets them in `Out`.

mod chain;
mod circulant;
mod composed;
mod linear_linear;
mod scatter_allgather;
mod tree;

pub(crate) use chain::{BcastChain, MAX_SIZE as CHAIN_MAX_SIZE};
pub(crate) use circulant::BcastCirculant;
pub(crate) use composed::{
    KnomialBruck, KnomialRing, LinearAll, LinearBruck, LinearRing, MAX_SIZE as COMPOSED_MAX_SIZE,
};
pub(crate) use linear_linear::{LinearLinear, MAX_SIZE as LINEAR_LINEAR_MAX_SIZE};
pub(crate) use linear_linear::{PieceCounts, ReceivesAhead, in_flight};
pub(crate) use scatter_allgather::ScatterAllgather;
pub(crate) use tree::{BcastKnomial, BcastTree};
