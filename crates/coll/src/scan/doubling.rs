//! Scan by doubling: in round `k` each rank sends what it has to the rank `2^k` above it.
//!
//! After round `k` a rank has the reduction over the `2^(k+1)` ranks up to itself, or as many as
//! there are; so `ceil(log2 p)` rounds of the whole vector, the minimum. What arrives always
//! stands on the left: operations need not commute. Hillis and Steele, "Data parallel algorithms",
//! 1986.

use crate::accumulate::Accumulator;
use crate::call::{Call, Parameters};
use crate::plan::{Acts, Plan, PlanInputs};
use crate::tree::levels;

/// One rank's plan for a scan by doubling. Two steps a round: exchange, and merge what came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Doubling {
    rank: u32,
    size: u32,
    count: u64,
    sum: Accumulator,
}

impl Doubling {
    pub(crate) fn of(call: &Call, _: &Parameters) -> Self {
        Doubling {
            rank: call.rank,
            size: call.size,
            count: call.count,
            sum: Accumulator::in_out(call.count, call.in_place),
        }
    }

    fn exchange(&self, round: u32, acts: &mut Acts) {
        let (distance, merged) = (1 << round, round > 0 && self.rank > 0);
        if let Some(below) = self.rank.checked_sub(distance) {
            acts.recv(below, round, self.sum.room(merged));
        }
        if self.size - self.rank > distance {
            acts.send(self.rank + distance, round, self.sum.value(merged));
        }
    }

    fn merge(&self, round: u32, acts: &mut Acts) {
        if self.rank >= 1 << round {
            self.sum.merge(round > 0, true, acts);
        }
    }
}

impl Plan for Doubling {
    fn steps(&self) -> u32 {
        if self.count == 0 {
            0
        } else {
            2 * levels(self.size) + 1
        }
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        // Rank `r` gets a message in each round whose distance it can look down.
        self.sum.scratch(levels(self.rank + 1))
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        if i == 2 * levels(self.size) {
            if self.rank == 0 {
                self.sum.take_input(acts);
            }
        } else if i.is_multiple_of(2) {
            self.exchange(i / 2, acts);
        } else {
            self.merge(i / 2, acts);
        }
        Some(i)
    }
}
