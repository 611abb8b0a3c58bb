//! Reduce-scatter over the circulant graph: `ceil(log2 p)` rounds with `p - 1` blocks sent, received
//! and reduced by each rank, the least of all three, for every number of ranks.
//!
//! A block is reduced in the order of the graph, so the operation must commute. With blocks of very
//! different lengths a rank may send most of the vector in one round and so up to `ceil(log2 p)`
//! times in all. Traeff, "Optimal, non-pipelined reduce-scatter and allreduce algorithms",
//! arXiv 2410.14234, 2024.

use crate::blocks::Division;
use crate::call::{Call, Collective, Parameters};
use crate::circulant::{CirculantScatter, ScatterResult};
use crate::symmetric::AtRank;

/// One rank's plan for reduce-scatter over the circulant graph.
///
/// # Cost
///
/// Where the blocks are given, a step that sends sums over the lengths of those before the one sent.
pub(crate) type ReduceScatterCirculant = AtRank<CirculantScatter>;

impl ReduceScatterCirculant {
    pub(crate) fn of(call: &Call, _: &Parameters) -> Self {
        let blocks = match call.collective {
            Collective::ReduceScatter => Division::Sends(call.count),
            _ => Division::Equal(call.count),
        };
        CirculantScatter::placed(call, blocks, ScatterResult::Start)
    }
}
