//! Alltoall: every rank gets one block from every rank (MPI 5.0, section 6.8). Elements are packed
//! bytes.
//!
//! Every rank gives its blocks in `In`, the one for rank `r` as number `r`; in place, it gives them
//! in `Out`. It gets the blocks in `Out`, the one from rank `r` as number `r`. The plans but
//! [`AlltoallBruck`] serve alltoallv and alltoallw as well, where the blocks have different lengths: each
//! rank knows those that it gives and gets, and in place each two ranks exchange blocks of one
//! length. In place these plans let pairs of ranks replace each other's blocks.

mod bruck;
mod linear;
mod pairwise;
mod replace;

pub(crate) use bruck::AlltoallBruck;
pub(crate) use linear::AlltoallLinear;
pub(crate) use pairwise::AlltoallPairwise;
