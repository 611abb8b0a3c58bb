//! Reduce_scatter and reduce_scatter_block, pairwise: in round `j` each rank sends one block to the rank `j`
//! above it and receives its own block from the rank `j` below it.
//!
//! `p - 1` rounds of one block each, the minimum volume. Two rounds are under way at a time: the next
//! block travels while the last is reduced; there is room for three. The lower ranks' contributions arrive
//! from the nearest on and are reduced from the left; the higher ranks', from the highest on, are
//! reduced separately and joined at the end. So operations need not commute; for those that do,
//! all other ranks count as lower, and there is one sum.

use crate::blocks::Division;
use crate::call::{Call, Collective, Parameters};
use crate::eager::EagerLimit;
use crate::plan::{Buf, Side, TAGS};
use crate::rank_ring::RankRing;
use crate::symmetric::{AtRank, RelativeActs, RelativePart, RelativeView, SymmetricPlan};

/// The largest group whose rounds can be counted.
pub(crate) const MAX_SIZE: u32 = 1 << 30;

/// One rank's plan for a pairwise reduce-scatter. Two steps a round, exchange and merge, each merge
/// after the exchange of the next round, and two to join the sums and move the result to its place.
///
/// # Cost
///
/// Where the caller gives the blocks, a step that sends sums over the lengths of those before the one sent.
pub(crate) type ReduceScatterPairwise = AtRank<PairwiseScatterRounds>;

/// What a rank does; where the operation commutes, the same on every rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PairwiseScatterRounds {
    blocks: Division,
    /// The rounds whose contributions are reduced from the left, if these are not all.
    lower: Option<u32>,
    in_place: bool,
    short: EagerLimit,
}

impl ReduceScatterPairwise {
    pub(crate) fn of(call: &Call, _: &Parameters) -> Self {
        let rounds = PairwiseScatterRounds {
            blocks: match call.collective {
                Collective::ReduceScatter => Division::Sends(call.count),
                _ => Division::Equal(call.count),
            },
            lower: (!call.commutative).then_some(call.rank),
            in_place: call.in_place,
            short: EagerLimit::of(call),
        };
        AtRank::new(RankRing::of(call), rounds)
    }
}

impl PairwiseScatterRounds {
    /// The block that goes to the rank `distance` above.
    fn block(&self, distance: u32, around: &RelativeView<'_>) -> RelativePart {
        let buf = if self.in_place { Buf::Out } else { Buf::In };
        around.natural(buf, self.blocks, distance..distance + 1)
    }

    /// The length of the own block, which is that of every sum.
    fn len(&self, around: &RelativeView<'_>) -> u64 {
        around.len(self.blocks, 0..1)
    }

    /// The rounds whose contributions are reduced from the left.
    fn lower_rounds(&self, around: &RelativeView<'_>) -> u32 {
        self.lower.unwrap_or(around.size() - 1)
    }

    /// Where the sum of the lower ranks' contributions and the own one is, once there is a lower one: at
    /// the place of the result or, in place, in scratch, as `Out` is still being sent from.
    fn lower(&self, len: u64, around: &RelativeView<'_>) -> RelativePart {
        match self.in_place {
            true => sum(u64::from(self.has_higher(around)), len),
            false => result(len),
        }
    }

    /// Where the message of a round is received, and what its contribution is reduced into, from the
    /// left; nothing where it is the first higher one.
    fn block_exchange(
        &self,
        round: u32,
        len: u64,
        around: &RelativeView<'_>,
    ) -> (RelativePart, Option<RelativePart>) {
        let lower_rounds = self.lower_rounds(around);
        match () {
            () if round == 1 && lower_rounds > 0 => (self.lower(len, around), None),
            () if round <= lower_rounds => (later(round, len), Some(self.lower(len, around))),
            () if round == lower_rounds + 1 => (higher(len), None),
            () => (later(round, len), Some(higher(len))),
        }
    }

    fn exchange(
        &self,
        round: u32,
        len: u64,
        around: &RelativeView<'_>,
        acts: &mut RelativeActs<'_>,
    ) {
        let (room, _) = self.block_exchange(round, len, around);
        let given = self.block(round, around);
        acts.exchange_of(self.short, (round, round % TAGS), room, given);
    }

    fn merge(&self, round: u32, len: u64, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) {
        match self.block_exchange(round, len, around) {
            (room, Some(sum)) => acts.reduce(room, sum, Side::Left),
            (room, None) if round <= self.lower_rounds(around) => {
                acts.reduce(self.block(0, around), room, Side::Right);
            }
            _ => {}
        }
    }

    /// Whether some contributions are reduced separately.
    fn has_higher(&self, around: &RelativeView<'_>) -> bool {
        self.lower_rounds(around) + 1 < around.size()
    }

    /// Joins the two sums.
    fn join(&self, len: u64, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) {
        if self.has_higher(around) {
            match self.is_moved(around) {
                true => acts.reduce(self.lowest(len, around), higher(len), Side::Left),
                false => acts.reduce(higher(len), result(len), Side::Right),
            }
        }
    }

    /// The own contribution with those of the lower ranks.
    fn lowest(&self, len: u64, around: &RelativeView<'_>) -> RelativePart {
        match self.lower_rounds(around) {
            0 => self.block(0, around),
            _ => self.lower(len, around),
        }
    }

    /// Whether the result is joined elsewhere, and must be copied to its place.
    fn is_moved(&self, around: &RelativeView<'_>) -> bool {
        match self.in_place {
            true => around.size() > 1,
            false => self.lower_rounds(around) == 0,
        }
    }

    /// Copies a result that was joined elsewhere to its place.
    fn deliver(&self, len: u64, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) {
        if self.is_moved(around) {
            let joined = match self.has_higher(around) {
                true => higher(len),
                false => self.lowest(len, around),
            };
            acts.copy(joined, result(len));
        }
    }
}

/// The place of the result.
const fn result(len: u64) -> RelativePart {
    RelativePart::fixed(Buf::Out, 0, len)
}

/// Where a round's contribution waits to be reduced, while those of the next two arrive.
const fn later(round: u32, len: u64) -> RelativePart {
    RelativePart::fixed(Buf::Scratch, (round % 3) as u64 * len, len)
}

/// The sum of the higher ranks' contributions.
const fn higher(len: u64) -> RelativePart {
    sum(0, len)
}

/// A sum in scratch, behind the contributions that wait.
const fn sum(number: u64, len: u64) -> RelativePart {
    RelativePart::fixed(Buf::Scratch, (3 + number) * len, len)
}

impl SymmetricPlan for PairwiseScatterRounds {
    fn steps(&self, size: u32) -> u32 {
        2 * size + 1
    }

    fn scratch(&self, around: &RelativeView<'_>) -> u64 {
        let has_lower = self.in_place && self.lower_rounds(around) > 0;
        let sums = u64::from(self.has_higher(around)) + u64::from(has_lower);
        (3 + sums) * self.len(around)
    }

    fn step(&self, i: u32, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) -> u32 {
        let rounds = around.size() - 1;
        let len = self.len(around);
        // The exchange of a round comes before the sum of the round before.
        let is_sum = i > 0 && i.is_multiple_of(2);
        match if is_sum { i / 2 } else { i.div_ceil(2) + 1 } {
            round if is_sum && round <= rounds => {
                self.merge(round, len, around, acts);
                return i - 1;
            }
            round if round <= rounds => {
                self.exchange(round, len, around, acts);
                return i.saturating_sub(2);
            }
            _ if i == 2 * rounds + 1 => self.join(len, around, acts),
            _ if i == 2 * rounds + 2 => self.deliver(len, around, acts),
            _ => {}
        }
        i
    }
}
