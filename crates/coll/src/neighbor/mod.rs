//! Neighbourhood collectives: every rank exchanges blocks with neighbours of its own (MPI 5.0,
//! section 8.6). Elements are packed bytes.
//!
//! The neighbours are given as [`CallArrays::sources`](crate::plan::CallArrays::sources) and
//! [`CallArrays::destinations`](crate::plan::CallArrays::destinations), in the caller's order; a rank may
//! stand there more than once, and the calling rank too. In neighbor_allgather and neighbor_allgatherv `In`
//! is one block, which goes to every destination; in neighbor_alltoall and neighbor_alltoallv it has a block
//! for each. `Out` has a block for each source.

mod edges;
mod linear;

pub(crate) use linear::NeighborLinear;
