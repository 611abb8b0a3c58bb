//! Allgather around a ring: each rank passes on to the one above what came from the one below.
//!
//! `p - 1` rounds, and `(p - 1)` blocks sent and received by each rank, which is the least volume
//! there is. Only neighbours talk, which suits large blocks and rings of machines.

use super::Blackboard;
use crate::catalog::{Call, Parameters};
use crate::plan::{Acts, Known, Plan};
use crate::window::exchange;

/// One rank's part in a ring allgather. One step a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring(Blackboard);

impl Ring {
    pub(crate) const fn of(call: &Call, _: &Parameters) -> Self {
        Ring(Blackboard::of(call))
    }
}

impl Plan for Ring {
    fn steps(&self) -> u32 {
        self.0.steps(self.0.place.size() - 1)
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let place = self.0.place;
        if place.size() > 1 {
            let outgoing = if i == 0 {
                self.0.own(known)
            } else {
                self.0.block(known, place.below(i))
            };
            let incoming = self.0.block(known, place.below(i + 1));
            exchange(
                acts,
                0,
                (place.below(1), incoming),
                (place.above(1), outgoing),
            );
        }
        if i == 0 {
            self.0.take_own(known, acts);
        }
        Some(i)
    }
}
