//! Alltoall and alltoallv, pairwise: in each round every rank exchanges with one other rank, and no two with
//! the same one.
//!
//! `p - 1` rounds, one more in place, and the minimum volume. Where `p` is a power of two, exclusive or gives
//! the partner of round `i`, so that both send to each other; else a rank sends to the rank `i` above and
//! receives from the rank `i` below. A round starts when the last is done, so each link carries one message
//! at a time. Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
//! 2005.

use super::replace::Replace;
use crate::blocks::Blocks;
use crate::call::{Call, Parameters};
use crate::eager::{copy, exchange};
use crate::plan::{Acts, Plan, PlanInputs, any_plan};
use crate::rank_ring::RankRing;
use crate::symmetric::{AtRank, RelativeActs, RelativeView, SymmetricPlan};

/// One rank's plan for a pairwise alltoall: one step a round; the first one copies the rank's own block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AlltoallPairwise {
    /// Around the ring.
    RankRing(AtRank<PairwiseRounds>),
    /// In pairs by exclusive or.
    Pairs(Pairs),
    /// In place.
    InPlace(Replace),
}

/// What every rank does around the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PairwiseRounds(Blocks);

/// What one rank does where partners are found by exclusive or.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pairs {
    place: RankRing,
    blocks: Blocks,
}

impl AlltoallPairwise {
    pub(crate) fn of(call: &Call, _: &Parameters) -> Self {
        let (place, blocks) = (RankRing::of(call), Blocks::of(call));
        match () {
            () if call.in_place => AlltoallPairwise::InPlace(Replace::new(place, blocks, 1)),
            () if call.size.is_power_of_two() => AlltoallPairwise::Pairs(Pairs { place, blocks }),
            () => AlltoallPairwise::RankRing(AtRank::new(place, PairwiseRounds(blocks))),
        }
    }
}

/// The steps of both ways.
fn steps(blocks: Blocks, size: u32) -> u32 {
    match size {
        _ if blocks.are_empty() => 0,
        size => (size - 1).max(1),
    }
}

impl SymmetricPlan for PairwiseRounds {
    fn steps(&self, size: u32) -> u32 {
        steps(self.0, size)
    }

    fn scratch(&self, _: &RelativeView<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) -> u32 {
        let round = i + 1;
        let incoming = around.output(self.0, around.back(round));
        acts.exchange(round, 0, incoming, around.input(self.0, round));
        if i == 0 {
            acts.copy(around.input(self.0, 0), around.output(self.0, 0));
        }
        i
    }
}

impl Plan for Pairs {
    fn steps(&self) -> u32 {
        steps(self.blocks, self.place.size())
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let rank = self.place.rank();
        let parts = |peer| {
            let incoming = self.blocks.output(inputs, peer);
            (self.blocks.input(inputs, peer), incoming)
        };
        if self.place.size() > 1 {
            let partner = rank ^ (i + 1);
            let (outgoing, incoming) = parts(partner);
            exchange(acts, 0, (partner, incoming), (partner, outgoing));
        }
        if i == 0 {
            let (from, into) = parts(rank);
            copy(acts, from, into);
        }
        Some(i)
    }
}

any_plan!(AlltoallPairwise: RankRing, Pairs, InPlace);
