//! Dissemination barrier: in round `k` each rank signals the one `2^k` above it and hears the one
//! `2^k` below it.
//!
//! After round `k` a rank has heard, directly or not, from the `2^(k+1) - 1` ranks below it; so
//! `ceil(log2 p)` rounds suffice for every `p`, and no algorithm takes fewer. With a larger radix
//! each of fewer phases signals several ranks at a time, which pays where a signal costs a rank
//! less time than it takes to arrive. Hensgen, Finkel and Manber, "Two algorithms for barrier
//! synchronization", 1988.

use crate::call::{Call, Parameters};
use crate::digits::Digits;
use crate::plan::{Acts, Part, Plan, PlanInputs, TAGS};
use crate::rank_ring::RankRing;

/// One rank's plan for a dissemination barrier. One step for each signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dissemination {
    place: RankRing,
    digits: Digits,
}

impl Dissemination {
    pub(crate) const fn of(call: &Call, parameters: &Parameters) -> Self {
        Dissemination {
            place: RankRing::of(call),
            digits: Digits::new(call.size, parameters.radix),
        }
    }
}

impl Plan for Dissemination {
    fn steps(&self) -> u32 {
        self.digits.exchanges()
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let round = self.digits.exchange(i);
        let (distance, tag) = (round.distance(), i % TAGS);
        acts.recv(self.place.below(distance), tag, Part::EMPTY);
        acts.send(self.place.above(distance), tag, Part::EMPTY);
        Some(round.phase)
    }
}
