//! Allgather by recursive doubling: in round `k` partners at distance `2^k` exchange all blocks that
//! they have.
//!
//! `log2 p` rounds and `(p - 1)` blocks sent and received by each rank, both the minimum,
//! where `p` is a power of two. Blocks are consecutive and received where they belong. Thakur,
//! Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", 2005.

use super::RankBlocks;
use crate::call::{Call, Parameters};
use crate::eager::exchange;
use crate::plan::{Acts, Plan, PlanInputs};
use crate::tree::levels;

/// One rank's plan for allgather by recursive doubling. One step a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AllgatherDoubling(RankBlocks);

impl AllgatherDoubling {
    /// The number of ranks is a power of two.
    pub(crate) const fn of(call: &Call, _: &Parameters) -> Self {
        AllgatherDoubling(RankBlocks::of(call))
    }
}

impl Plan for AllgatherDoubling {
    fn steps(&self) -> u32 {
        self.0.steps(levels(self.0.place.size()))
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let place = self.0.place;
        if place.size() > 1 {
            let blocks = 1 << i;
            let partner = place.rank() ^ blocks;
            let first = |rank: u32| rank & !(blocks - 1);
            let outgoing = if i == 0 {
                self.0.own(inputs)
            } else {
                self.0.run(inputs, first(place.rank()), blocks)
            };
            let incoming = self.0.run(inputs, first(partner), blocks);
            exchange(acts, 0, (partner, incoming), (partner, outgoing));
        }
        if i == 0 {
            self.0.take_own(inputs, acts);
        }
        Some(i)
    }
}
