//! Reduction whose result every rank gets, with the same bits (MPI 5.0, section 6.9.6).
//!
//! Every rank reads its contribution from `In`, or from `Out` in place, and gets the result in
//! `Out`.

mod census;
mod circulant;
mod gather_reduce;
mod merge;
mod rabenseifner;
mod recursive_doubling;
mod recursive_multiplying;
mod recursive_splitting;
mod ring;

pub(crate) use census::Census;
pub(crate) use circulant::AllreduceCirculant;
pub(crate) use gather_reduce::{GatherReduce, MAX_SIZE as GATHER_REDUCE_MAX_SIZE};
pub(crate) use rabenseifner::AllreduceRabenseifner;
pub(crate) use recursive_doubling::AllreduceDoubling;
pub(crate) use recursive_multiplying::{
    MAX_RADIX as RECURSIVE_MULTIPLYING_MAX_RADIX, RecursiveMultiplying,
};
pub(crate) use recursive_splitting::begins_group;
pub(crate) use recursive_splitting::{
    MAX_RADIX as RECURSIVE_SPLITTING_MAX_RADIX, RecursiveSplitting,
};
pub(crate) use ring::{AllreduceRing, MAX_SIZE as RING_MAX_SIZE};
