//! The reduce-scatter over the circulant graph: `ceil(log2 p)` rounds, in which each rank sends,
//! receives and reduces `p - 1` blocks.
//!
//! A rank keeps partial sums of the blocks of some ranks, its own and those above. In each round it
//! sends the upper half of them over the distance at which that half starts, and reduces what comes
//! into the lower half. The input is read in the first round only. So nothing is copied but one
//! block, and that only where the number of ranks is odd.

use super::Skips;
use crate::blocks::{Division, RotatedBlocks};
use crate::call::Call;
use crate::eager::EagerLimit;
use crate::plan::{Buf, Side};
use crate::rank_ring::RankRing;
use crate::symmetric::{AtRank, RelativeActs, RelativePart, RelativeView, SymmetricPlan};

/// What every rank does in the reduce-scatter: two steps for each round, and one to move the result to its
/// place. A step needs all before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CirculantScatter {
    pub(crate) blocks: Division,
    /// Whether the input is in `Out`.
    pub(crate) in_place: bool,
    pub(crate) result: ScatterResult,
    pub(crate) short: EagerLimit,
}

/// Where partial sums are kept and the result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScatterResult {
    /// All in their places in `Out`.
    Home,
    /// Sums in scratch, the result to the start of `Out`.
    Start,
}

impl CirculantScatter {
    /// The plan at the caller's position in its group.
    pub(crate) const fn placed(
        call: &Call,
        blocks: Division,
        result: ScatterResult,
    ) -> AtRank<Self> {
        let scatter = CirculantScatter {
            blocks,
            in_place: call.in_place,
            result,
            short: EagerLimit::of(call),
        };
        AtRank::new(RankRing::of(call), scatter)
    }

    /// The blocks in the order of the rank at a position.
    pub(crate) const fn view(&self, ring: RankRing) -> RotatedBlocks {
        RotatedBlocks {
            ring,
            blocks: self.blocks,
        }
    }

    /// Blocks `from` to `to` of the input.
    fn input(&self, from: u32, to: u32, around: &RelativeView<'_>) -> RelativePart {
        let buf = if self.in_place { Buf::Out } else { Buf::In };
        around.natural(buf, self.blocks, from..to)
    }

    /// Partial sums of blocks `from` to `to`.
    fn kept(&self, from: u32, to: u32, around: &RelativeView<'_>) -> RelativePart {
        match self.result {
            ScatterResult::Home => around.natural(Buf::Out, self.blocks, from..to),
            ScatterResult::Start => around.owns_first(Buf::Scratch, self.blocks, from..to),
        }
    }

    /// Where scratch behind the partial sums begins.
    fn base(&self, around: &RelativeView<'_>) -> u64 {
        match self.result {
            ScatterResult::Home => 0,
            ScatterResult::Start => around.len(self.blocks, 0..around.size().div_ceil(2)),
        }
    }

    /// The place of the result.
    fn result(&self, around: &RelativeView<'_>) -> RelativePart {
        match self.result {
            ScatterResult::Home => self.kept(0, 1, around),
            ScatterResult::Start => RelativePart::fixed(Buf::Out, 0, around.len(self.blocks, 0..1)),
        }
    }

    /// Where the message of distance `k` is received, and this rank's own sums for it.
    fn block_exchange(&self, k: u32, around: &RelativeView<'_>) -> BlockExchange {
        let (from, to) = blocks(k, around);
        let lower = self.kept(0, to - from, around);
        let is_first = k + 1 == rounds(around.size());
        let own = if is_first {
            self.input(0, to - from, around)
        } else {
            lower
        };
        let is_in_place = self.in_place && self.result == ScatterResult::Home;
        let ends = self.result == ScatterResult::Start && k == 0 && !(is_first && self.in_place);
        let (room, sum_in_room) = if ends {
            (self.result(around), true)
        } else if is_first && !is_in_place {
            (lower, true)
        } else {
            let room = RelativePart::fixed(Buf::Scratch, self.base(around), lower.len());
            (room, false)
        };
        BlockExchange {
            room,
            own,
            sum_in_room,
        }
    }

    fn exchange(&self, k: u32, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) {
        let (from, to) = blocks(k, around);
        let upper = if k + 1 == rounds(around.size()) {
            self.input(from, to, around)
        } else {
            self.kept(from, to, around)
        };
        let room = self.block_exchange(k, around).room;
        acts.exchange_of(self.short, (from, k), room, upper);
    }

    fn merge(&self, k: u32, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) {
        let (from, to) = blocks(k, around);
        let BlockExchange {
            room,
            own,
            sum_in_room,
        } = self.block_exchange(k, around);
        let (operand, sum) = if sum_in_room {
            (own, room)
        } else {
            (room, own)
        };
        acts.reduce(operand, sum, Side::Left);
        // Of an odd number of blocks the middle one is kept, and is not merged in the first round.
        if k + 1 == rounds(around.size()) && sum_in_room {
            let middle = self.input(to - from, from, around);
            acts.copy(middle, self.kept(to - from, from, around));
        }
    }

    /// Copies to the place of the result what no message brought there: the input of a single rank, and the
    /// sum of two ranks in place.
    fn deliver(&self, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) {
        let from = match around.size() {
            1 if !self.in_place => self.input(0, 1, around),
            2 if self.in_place && self.result == ScatterResult::Start => self.kept(0, 1, around),
            _ => return,
        };
        acts.copy(from, self.result(around));
    }
}

impl SymmetricPlan for CirculantScatter {
    fn steps(&self, size: u32) -> u32 {
        2 * rounds(size) + 1
    }

    fn scratch(&self, around: &RelativeView<'_>) -> u64 {
        let size = around.size();
        let half = size.div_ceil(2);
        let first = if self.result == ScatterResult::Home && self.in_place {
            around.len(self.blocks, 0..size - half)
        } else {
            0
        };
        match size {
            1 => 0,
            _ => self.base(around) + first.max(around.len(self.blocks, 0..half / 2)),
        }
    }

    fn step(&self, i: u32, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) -> u32 {
        match rounds(around.size()).checked_sub(1 + i / 2) {
            Some(k) if i.is_multiple_of(2) => self.exchange(k, around, acts),
            Some(k) => self.merge(k, around, acts),
            None => self.deliver(around, acts),
        }
        i
    }
}

fn rounds(size: u32) -> u32 {
    Skips::new(size).rounds()
}

/// The blocks of distance `k`: those from the first number to the second are sent.
fn blocks(k: u32, around: &RelativeView<'_>) -> (u32, u32) {
    let skips = Skips::new(around.size());
    (skips.skip(k), skips.skip(k + 1))
}

/// A message and this rank's own sums.
struct BlockExchange {
    room: RelativePart,
    own: RelativePart,
    /// Whether the sum is kept where the message is received; else where this rank's own sums are.
    sum_in_room: bool,
}
