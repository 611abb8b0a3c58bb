//! Alltoall and alltoallv in place: pairs of ranks exchange blocks, each of which replaces the other.
//!
//! `p` rounds in which each rank rests once, and the minimum volume. In round `i` ranks `a` and `b`
//! with `a + b = i` modulo `p` exchange, so in each round every rank has its own partner, for any
//! `p`. A received block waits in scratch until the one it replaces has been sent: one block per exchange
//! of the window.

use crate::blocks::Blocks;
use crate::eager::{copy, exchange};
use crate::plan::{ACTS, Acts, Buf, Part, Plan, PlanInputs};
use crate::rank_ring::RankRing;

/// One rank's plan for alltoall in place. A window's worth of steps, each an exchange, then one that
/// brings what came where it belongs, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Replace {
    place: RankRing,
    blocks: Blocks,
    /// Exchanges under way at a time, at most as many as a step holds acts.
    window: u32,
}

impl Replace {
    pub(super) fn new(place: RankRing, blocks: Blocks, window: u32) -> Self {
        Replace {
            place,
            blocks,
            window: window.clamp(1, ACTS as u32),
        }
    }

    /// The partner of round `i`; none in the round in which the rank rests, and after the last.
    fn partner(&self, i: u32) -> Option<u32> {
        let size = self.place.size();
        let partner = || RankRing::new(i, size).below(self.place.rank());
        (i < size)
            .then(partner)
            .filter(|&partner| partner != self.place.rank())
    }

    /// Where the block received in round `i` waits.
    fn room(&self, inputs: &PlanInputs<'_>, i: u32, count: u64) -> Part {
        let slot = u64::from(i % self.window);
        Part::new(Buf::Scratch, slot * self.longest(inputs), count)
    }

    fn longest(&self, inputs: &PlanInputs<'_>) -> u64 {
        self.blocks.longest_output(inputs)
    }
}

impl Plan for Replace {
    fn steps(&self) -> u32 {
        match self.place.size() {
            _ if self.blocks.are_empty() => 0,
            1 => 0,
            size => size + size.div_ceil(self.window),
        }
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        match self.steps() {
            0 => 0,
            _ => u64::from(self.window.min(self.place.size())) * self.longest(inputs),
        }
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let batch = i / (self.window + 1);
        let (first, within) = (batch * self.window, i % (self.window + 1));
        let end = (first + self.window).min(self.place.size());
        if first + within < end {
            let round = first + within;
            if let Some(partner) = self.partner(round) {
                let block = self.blocks.output(inputs, partner);
                let room = self.room(inputs, round, block.len());
                exchange(acts, 0, (partner, room), (partner, block));
            }
            return Some(i - within);
        }
        for round in first..end {
            if let Some(partner) = self.partner(round) {
                let block = self.blocks.output(inputs, partner);
                copy(acts, self.room(inputs, round, block.len()), block);
            }
        }
        Some(i)
    }
}
