//! Allgather by Bruck's algorithm: in each phase every rank gets from ranks at growing distances
//! above it all the blocks that these have.
//!
//! `ceil(log2 p)` rounds with radix 2, the minimum, and `(p - 1)` blocks sent and received
//! by each rank, the least as well, for every `p`. A larger radix takes fewer phases of more
//! messages each. Blocks are received where they belong: what a rank has is a run of blocks that
//! starts with its own and goes around the ring, so nothing is rotated at the end. Bruck,
//! Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all communications in
//! multiport message-passing systems", 1997.

use super::RankBlocks;
use crate::call::{Call, Parameters};
use crate::digits::Digits;
use crate::eager::exchange;
use crate::phase::Phase;
use crate::plan::{Acts, Plan, PlanInputs};
use crate::rank_ring::RankRing;

/// One rank's plan for Bruck's allgather. One step for each exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AllgatherBruck {
    layout: RankBlocks,
    digits: Digits,
}

/// One exchange: the number of blocks each way; those of a rank begin with its own.
pub(crate) struct BruckExchange {
    /// The number of the first exchange of the same phase.
    pub(crate) phase: u32,
    /// The rank whose blocks arrive.
    pub(crate) source: u32,
    /// The rank that gets this rank's blocks.
    pub(crate) destination: u32,
    /// The number of blocks each way.
    pub(crate) blocks: u32,
}

impl BruckExchange {
    /// Exchange `i` of a rank.
    pub(crate) const fn of(place: RankRing, digits: Digits, i: u32) -> Self {
        let round = digits.exchange(i);
        let (weight, missing) = (round.weight, place.size() - round.distance());
        BruckExchange {
            phase: round.phase,
            source: place.above(round.distance()),
            destination: place.below(round.distance()),
            blocks: if weight < missing { weight } else { missing },
        }
    }
}

impl AllgatherBruck {
    pub(crate) const fn of(call: &Call, parameters: &Parameters) -> Self {
        AllgatherBruck {
            layout: RankBlocks::of(call),
            digits: Digits::new(call.size, parameters.radix),
        }
    }

    /// The radix: one more than the exchanges of a phase.
    pub(crate) const fn radix(&self) -> u32 {
        self.digits.radix()
    }
}

impl Plan for AllgatherBruck {
    fn steps(&self) -> u32 {
        self.layout.steps(self.digits.exchanges())
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let place = self.layout.place;
        if i == 0 && place.size() == 1 {
            self.layout.take_own(inputs, acts);
            return Some(0);
        }
        let BruckExchange {
            phase,
            source,
            destination,
            blocks,
        } = BruckExchange::of(place, self.digits, i);
        let outgoing = if phase == 0 {
            self.layout.own(inputs)
        } else {
            self.layout.run(inputs, place.rank(), blocks)
        };
        let incoming = self.layout.run(inputs, source, blocks);
        exchange(acts, 0, (source, incoming), (destination, outgoing));
        if i == 0 {
            self.layout.take_own(inputs, acts);
        }
        Some(phase)
    }
}

impl Phase for AllgatherBruck {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        AllgatherBruck::of(call, parameters)
    }

    fn free(&self) -> u32 {
        self.radix() - 1
    }
}
