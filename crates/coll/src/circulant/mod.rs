//! Circulant graphs: every rank sends the same distances up the ring, one distance a round, and the
//! distances fit every number of ranks.
//!
//! The distances halve the number of ranks, rounded up, until they reach 1; so there are
//! `ceil(log2 p)` of them, and no rank is special when `p` is no power of two. Two families of
//! algorithms go over them:
//!
//! - [`Schedule`]: which block of a vector travels over which distance, so that a vector cut into
//!   `n` blocks reaches all ranks in `n - 1 + ceil(log2 p)` rounds, the minimum; reversed in
//!   time it reduces. Traeff, "Optimal broadcast schedules in logarithmic time with applications to
//!   broadcast, all-broadcast, reduction and all-reduction", arXiv 2407.18004, 2024.
//! - Reduce-scatter and allgather in `ceil(log2 p)` rounds with `p - 1` blocks sent by each rank,
//!   the least of both. Traeff, "Optimal, non-pipelined reduce-scatter and allreduce algorithms",
//!   arXiv 2410.14234, 2024.

mod gather;
mod idle;
mod pipeline;
mod scatter;
mod schedule;
mod skips;

pub(crate) use scatter::CirculantScatter;
pub use schedule::Schedule;

pub(crate) use gather::{CirculantGather, OwnBlock};
pub(crate) use idle::idle;
pub(crate) use pipeline::{Hop, Pipeline};
pub(crate) use scatter::ScatterResult;
pub(crate) use skips::Skips;
