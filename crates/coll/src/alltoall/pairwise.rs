//! Alltoall in pairs: in each round every rank exchanges with one other rank, and no two with the
//! same one.
//!
//! `p - 1` rounds, one more in place, and the least volume. Where `p` is a power of two, the partner
//! of round `i` is found by exclusive or, so that both send to each other; else a rank sends `i`
//! above and receives from `i` below. The next round starts when the last is done, so each link
//! carries one message at a time. Thakur, Rabenseifner and Gropp, "Optimization of collective
//! communication operations in MPICH", 2005.

use super::replace::Replace;
use crate::blocks::Blocks;
use crate::catalog::{Call, Parameters};
use crate::circle::Circle;
use crate::plan::{Acts, Known, Plan};
use crate::window::{copy, exchange};

/// One rank's part in a pairwise alltoall. One step a round; the rank's own block goes with the
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairwise {
    place: Circle,
    blocks: Blocks,
    in_place: bool,
}

impl Pairwise {
    pub(crate) const fn of(call: &Call, _: &Parameters) -> Self {
        Pairwise {
            place: Circle::of(call),
            blocks: Blocks::of(call),
            in_place: call.in_place,
        }
    }

    /// From whom this rank receives in round `i`, and to whom it sends.
    fn partners(&self, i: u32) -> (u32, u32) {
        if self.place.size().is_power_of_two() {
            (self.place.rank() ^ i, self.place.rank() ^ i)
        } else {
            (self.place.below(i), self.place.above(i))
        }
    }

    /// The plan in place.
    fn replace(&self) -> Option<Replace> {
        let plan = || Replace::new(self.place, self.blocks, 1);
        self.in_place.then(plan)
    }
}

impl Plan for Pairwise {
    fn steps(&self) -> u32 {
        if let Some(plan) = self.replace() {
            return plan.steps();
        }
        match self.place.size() {
            _ if self.blocks.are_empty() => 0,
            size => (size - 1).max(1),
        }
    }

    fn scratch(&self, known: &Known<'_>) -> u64 {
        self.replace().map_or(0, |plan| plan.scratch(known))
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        if let Some(plan) = self.replace() {
            return plan.step(i, known, acts);
        }
        let rank = self.place.rank();
        if self.place.size() > 1 {
            let (source, destination) = self.partners(i + 1);
            let incoming = self.blocks.output(known, source);
            let outgoing = self.blocks.input(known, destination);
            exchange(acts, 0, (source, incoming), (destination, outgoing));
        }
        if i == 0 {
            copy(
                acts,
                self.blocks.input(known, rank),
                self.blocks.output(known, rank),
            );
        }
        Some(i)
    }
}
