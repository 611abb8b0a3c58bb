//! Reduction whose result every rank gets, with the same bits (MPI 5.0, section 6.9.6).
//!
//! Every rank reads its contribution from `In`, or from `Out` in place, and gets the result in
//! `Out`.

mod census;
mod circulant;
mod composed;
mod gather_reduce;
mod rabenseifner;
mod recursive_doubling;
mod recursive_multiplying;
mod ring;

pub use census::Census;
pub use circulant::Circulant;
pub use composed::{
    Chain, ChainBruck, ChainLinear, CirculantBruck, CirculantLinear, Composed, Knomial,
};
pub use gather_reduce::{GatherReduce, MAX_SIZE as GATHER_REDUCE_MAX_SIZE};
pub use rabenseifner::Rabenseifner;
pub use recursive_doubling::RecursiveDoubling;
pub use recursive_multiplying::{
    MAX_RADIX as RECURSIVE_MULTIPLYING_MAX_RADIX, RecursiveMultiplying,
};
pub use ring::{MAX_SIZE as RING_MAX_SIZE, Ring};
