//! The reduce-scatter over the circulant graph: `ceil(log2 p)` rounds, in which each rank sends,
//! receives and reduces `p - 1` blocks.
//!
//! A rank keeps partial sums of the blocks of some ranks, its own and those above. In each round it
//! sends the upper half of them over the distance at which that half starts, and reduces what comes
//! into the lower half. The input is read in the first round only. So nothing is copied but one
//! block, and that only where the number of ranks is odd.

use super::Skips;
use super::blocks::Turned;
use crate::plan::{Acts, Buf, Known, Part, Side};
use crate::window::Short;

/// One rank's part in the reduce-scatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scatter {
    pub(crate) view: Turned,
    /// Whether the input is in `Out`.
    pub(crate) in_place: bool,
    pub(crate) result: Result,
    pub(crate) short: Short,
}

/// Where partial sums are kept and the result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Result {
    /// All in their places in `Out`.
    Home,
    /// Sums in scratch, the result to the start of `Out`.
    Start,
}

impl Scatter {
    /// The number of steps: two for each round, and one to bring the result home.
    pub(crate) fn steps(&self) -> u32 {
        2 * self.rounds() + 1
    }

    pub(crate) fn scratch(&self, known: &Known<'_>) -> u64 {
        let size = self.view.circle.size();
        let half = size.div_ceil(2);
        let first = if self.result == Result::Home && self.in_place {
            self.view.len(0, size - half, known)
        } else {
            0
        };
        match size {
            1 => 0,
            _ => self.base(known) + first.max(self.view.len(0, half / 2, known)),
        }
    }

    /// Adds the acts of step `i`, which needs all before it.
    pub(crate) fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) {
        match self.rounds().checked_sub(1 + i / 2) {
            Some(k) if i.is_multiple_of(2) => self.exchange(k, known, acts),
            Some(k) => self.merge(k, known, acts),
            None => self.deliver(known, acts),
        }
    }

    fn rounds(&self) -> u32 {
        Skips::new(self.view.circle.size()).rounds()
    }

    /// The blocks of distance `k`: those from the first number to the second are sent.
    fn upper(&self, k: u32) -> (u32, u32) {
        let skips = Skips::new(self.view.circle.size());
        (skips.skip(k), skips.skip(k + 1))
    }

    /// Blocks `from` to `to` of the input.
    fn input(&self, from: u32, to: u32, known: &Known<'_>) -> Part {
        let buf = if self.in_place { Buf::Out } else { Buf::In };
        self.view.natural(buf, from, to, known)
    }

    /// Partial sums of blocks `from` to `to`.
    fn kept(&self, from: u32, to: u32, known: &Known<'_>) -> Part {
        match self.result {
            Result::Home => self.view.natural(Buf::Out, from, to, known),
            Result::Start => self.view.turned(Buf::Scratch, 0, from, to, known),
        }
    }

    /// Where scratch is free of partial sums.
    fn base(&self, known: &Known<'_>) -> u64 {
        match self.result {
            Result::Home => 0,
            Result::Start => self.view.len(0, self.view.circle.size().div_ceil(2), known),
        }
    }

    /// Where the result belongs.
    fn result(&self, known: &Known<'_>) -> Part {
        match self.result {
            Result::Home => self.kept(0, 1, known),
            Result::Start => Part::new(Buf::Out, 0, self.view.len(0, 1, known)),
        }
    }

    /// Where the message of distance `k` comes, and this rank's own sums, which it meets.
    fn meeting(&self, k: u32, known: &Known<'_>) -> Meeting {
        let (from, to) = self.upper(k);
        let lower = self.kept(0, to - from, known);
        let is_first = k + 1 == self.rounds();
        let own = if is_first {
            self.input(0, to - from, known)
        } else {
            lower
        };
        let ends = self.result == Result::Start && k == 0 && !(is_first && self.in_place);
        let (room, sum_in_room) = if ends {
            (self.result(known), true)
        } else if own != lower {
            (lower, true)
        } else {
            (
                Part::new(Buf::Scratch, self.base(known), lower.len()),
                false,
            )
        };
        Meeting {
            room,
            own,
            sum_in_room,
        }
    }

    fn exchange(&self, k: u32, known: &Known<'_>, acts: &mut Acts) {
        let (from, to) = self.upper(k);
        let upper = if k + 1 == self.rounds() {
            self.input(from, to, known)
        } else {
            self.kept(from, to, known)
        };
        let room = self.meeting(k, known).room;
        let circle = self.view.circle;
        let (recv, send) = ((circle.below(from), room), (circle.above(from), upper));
        self.short.exchange(acts, k, recv, send);
    }

    fn merge(&self, k: u32, known: &Known<'_>, acts: &mut Acts) {
        let (from, to) = self.upper(k);
        let Meeting {
            room,
            own,
            sum_in_room,
        } = self.meeting(k, known);
        if !room.is_empty() {
            let (operand, sum) = if sum_in_room {
                (own, room)
            } else {
                (room, own)
            };
            acts.reduce(operand, sum, Side::Left);
        }
        // Of an odd number of blocks the middle one is kept, and meets nothing in the first round.
        let middle = self.input(to - from, from, known);
        if k + 1 == self.rounds() && sum_in_room && !middle.is_empty() {
            acts.copy(middle, self.kept(to - from, from, known));
        }
    }

    /// Brings home what no message brought there: the input of a rank alone, and the sum of two
    /// ranks in place.
    fn deliver(&self, known: &Known<'_>, acts: &mut Acts) {
        let result = self.result(known);
        let from = match self.view.circle.size() {
            1 if !self.in_place => self.input(0, 1, known),
            2 if self.in_place && self.result == Result::Start => self.kept(0, 1, known),
            _ => return,
        };
        if !result.is_empty() {
            acts.copy(from, result);
        }
    }
}

/// A message and this rank's own sums.
struct Meeting {
    room: Part,
    own: Part,
    /// Whether the sum is kept where the message comes; else where this rank's own are.
    sum_in_room: bool,
}
