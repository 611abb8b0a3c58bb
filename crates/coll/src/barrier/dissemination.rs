//! Dissemination barrier: in round `k` each rank signals the one `2^k` above it and hears the one
//! `2^k` below it.
//!
//! After round `k` a rank has heard, directly or not, from the `2^(k+1) - 1` ranks below it; so
//! `ceil(log2 p)` rounds suffice for every `p`, and no algorithm takes fewer. Hensgen, Finkel and
//! Manber, "Two algorithms for barrier synchronization", 1988.

use crate::catalog::{Call, Parameters};
use crate::plan::{Acts, Known, Part, Plan};
use crate::tree::levels;

/// One rank's part in a dissemination barrier. One step a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dissemination {
    rank: u32,
    size: u32,
}

impl Dissemination {
    pub(crate) const fn of(call: &Call, _: &Parameters) -> Self {
        Dissemination {
            rank: call.rank,
            size: call.size,
        }
    }

    /// The rank `distance` above, around the ring; `distance` is at most the size.
    fn above(&self, distance: u32) -> u32 {
        let to_end = self.size - self.rank;
        if distance < to_end {
            self.rank + distance
        } else {
            distance - to_end
        }
    }
}

impl Plan for Dissemination {
    fn steps(&self) -> u32 {
        levels(self.size)
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        0
    }

    fn step(&self, round: u32, _: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let distance = 1 << round;
        acts.recv(self.above(self.size - distance), round, Part::EMPTY);
        acts.send(self.above(distance), round, Part::EMPTY);
        Some(round)
    }
}
