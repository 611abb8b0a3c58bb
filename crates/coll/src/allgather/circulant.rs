//! Allgather over the circulant graph: `ceil(log2 p)` rounds with `p - 1` blocks sent and received
//! by each rank, the least of both, for every number of ranks.
//!
//! It is the second half of the circulant allreduce. With blocks of different lengths a round takes
//! as long as its longest message. Traeff, "Optimal, non-pipelined reduce-scatter and allreduce
//! algorithms", arXiv 2410.14234, 2024; where all blocks are equally long, the rounds are those of
//! Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all communications in
//! multiport message-passing systems", 1997, but no rank turns its whole vector at the end.

use crate::blocks::{Division, RotatedBlocks};
use crate::call::{Call, Collective, Parameters};
use crate::circulant::{CirculantGather, OwnBlock};
use crate::plan::{Acts, Plan, PlanInputs};
use crate::rank_ring::RankRing;

/// One rank's plan for allgather and allgatherv over the circulant graph.
///
/// # Cost
///
/// Where the blocks are given, a step that sends sums over the lengths of those before the one sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AllgatherCirculant {
    gather: CirculantGather,
}

impl AllgatherCirculant {
    pub(crate) fn of(call: &Call, _: &Parameters) -> Self {
        AllgatherCirculant {
            gather: CirculantGather {
                view: RotatedBlocks {
                    ring: RankRing::of(call),
                    blocks: match call.collective {
                        Collective::Allgatherv => Division::Recvs(call.count),
                        _ => Division::Equal(call.count),
                    },
                },
                own: if call.in_place {
                    OwnBlock::Output
                } else {
                    OwnBlock::Input
                },
            },
        }
    }
}

impl Plan for AllgatherCirculant {
    fn steps(&self) -> u32 {
        self.gather.steps()
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        self.gather.step(i, inputs, acts);
        Some(i)
    }
}
