//! Reduce-scatter by recursive halving: partners exchange halves of what they have and reduce, until
//! each has its own block.
//!
//! `log2 p` rounds, and `(p - 1) / p` of the vector sent, received and reduced by each rank where
//! blocks are equally long, all of them the minimum, where `p` is a power of two. The first
//! partner is half of the ranks away, so that what a rank keeps is always consecutive; the result is
//! not in the order of the ranks, and the operation must commute. Thakur, Rabenseifner and Gropp,
//! "Optimization of collective communication operations in MPICH", 2005.

use core::ops::Range;

use super::vector::DividedVector;
use crate::call::{Call, Parameters};
use crate::eager::{EagerLimit, copy};
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs, Side};
use crate::tree::levels;

/// One rank's plan for reduce-scatter by recursive halving. Two steps a round: exchange, then merge;
/// one more where the result is not yet where it belongs.
///
/// Scratch holds what is kept after the first round, and after it room for what comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReduceScatterHalving {
    rank: u32,
    size: u32,
    vector: DividedVector,
    short: EagerLimit,
}

impl ReduceScatterHalving {
    pub(crate) const fn of(call: &Call, _: &Parameters) -> Self {
        ReduceScatterHalving {
            rank: call.rank,
            size: call.size,
            vector: DividedVector::of(call),
            short: EagerLimit::of(call),
        }
    }

    const fn rounds(&self) -> u32 {
        levels(self.size)
    }

    /// The partner of a round.
    const fn partner(&self, round: u32) -> u32 {
        self.rank ^ (self.size >> (round + 1))
    }

    /// The blocks that a rank keeps in a round.
    const fn kept(&self, rank: u32, round: u32) -> Range<u32> {
        let ranks = self.size >> (round + 1);
        let first = rank & !(ranks - 1);
        first..first + ranks
    }

    /// Blocks as they are before a round: the vector at first, then what is reduced in scratch.
    fn value(&self, inputs: &PlanInputs<'_>, round: u32, ranks: Range<u32>) -> Part {
        if round == 0 {
            return self.vector.blocks(inputs, ranks);
        }
        let kept = self.kept(self.rank, 0).start;
        let first = self.vector.len(inputs, kept..ranks.start);
        Part::new(Buf::Scratch, first, self.vector.len(inputs, ranks))
    }

    /// Whether what comes in a round is received where the result belongs: in the last round, unless
    /// the vector is still being sent from there.
    const fn ends(&self, round: u32) -> bool {
        round + 1 == self.rounds() && (round > 0 || !self.vector.in_place)
    }

    /// Where what comes in a round is received.
    fn room(&self, inputs: &PlanInputs<'_>, round: u32) -> Part {
        let count = self.vector.len(inputs, self.kept(self.rank, round));
        let (buf, first) = match round {
            _ if self.ends(round) => (Buf::Out, 0),
            0 => (Buf::Scratch, 0),
            _ => {
                let kept = self.kept(self.rank, 0);
                (Buf::Scratch, self.vector.len(inputs, kept))
            }
        };
        Part::new(buf, first, count)
    }

    fn merge(&self, round: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) {
        let room = self.room(inputs, round);
        let value = self.value(inputs, round, self.kept(self.rank, round));
        // In the first and the last round the room is where the sum is kept.
        let (from, into, is_own) = if round == 0 || self.ends(round) {
            (value, room, true)
        } else {
            (room, value, false)
        };
        let left = (self.rank < self.partner(round)) == is_own;
        let side = if left { Side::Left } else { Side::Right };
        if !into.is_empty() {
            acts.reduce(from, into, side);
        }
    }
}

impl Plan for ReduceScatterHalving {
    fn steps(&self) -> u32 {
        match self.rounds() {
            _ if self.vector.blocks.are_empty() => 0,
            0 => u32::from(!self.vector.in_place),
            rounds => 2 * rounds + u32::from(!self.ends(rounds - 1)),
        }
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        let kept = |round| self.vector.len(inputs, self.kept(self.rank, round));
        match self.rounds() {
            0 => 0,
            1 if self.ends(0) => 0,
            1 | 2 => kept(0),
            _ => kept(0) + kept(1),
        }
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let (round, is_merge) = (i / 2, !i.is_multiple_of(2));
        if round == self.rounds() {
            let sum = if round == 0 {
                self.vector.block(inputs, self.rank)
            } else {
                self.room(inputs, round - 1)
            };
            copy(acts, sum, Part::new(Buf::Out, 0, sum.len()));
        } else if is_merge {
            self.merge(round, inputs, acts);
        } else {
            let partner = self.partner(round);
            let given = self.value(inputs, round, self.kept(partner, round));
            let room = self.room(inputs, round);
            self.short
                .exchange(acts, 0, (partner, room), (partner, given));
        }
        Some(i)
    }
}
