//! Exscan by a shift and a scan: round 0 brings the contribution of the rank below, and the others
//! scan these by doubling.
//!
//! `1 + ceil(log2(p - 1))` rounds of the whole vector, and no operation or copy besides those of
//! the scan. What arrives always stands on the left: operations need not commute.

use crate::call::{Call, Parameters};
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs, Side};
use crate::tree::levels;

/// One rank's plan for exscan by a shift and a scan. Two steps a round: exchange, and merge what
/// came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shift {
    rank: u32,
    size: u32,
    count: u64,
    in_place: bool,
}

impl Shift {
    /// The number of rounds that `size` ranks take.
    pub(crate) const fn rounds(size: u32) -> u32 {
        if size == 1 { 0 } else { 1 + levels(size - 1) }
    }

    pub(crate) fn of(call: &Call, _: &Parameters) -> Self {
        Shift {
            rank: call.rank,
            size: call.size,
            count: call.count,
            in_place: call.in_place,
        }
    }

    fn output(&self) -> Part {
        Part::new(Buf::Out, 0, self.count)
    }

    fn room(&self) -> Part {
        Part::new(Buf::Scratch, 0, self.count)
    }

    /// Round 0. In place the contribution is being sent from where the result belongs.
    fn shift(&self, acts: &mut Acts) {
        let input = if self.in_place { Buf::Out } else { Buf::In };
        let room = if self.in_place {
            self.room()
        } else {
            self.output()
        };
        if self.rank > 0 {
            acts.recv(self.rank - 1, 0, room);
        }
        if self.rank + 1 < self.size {
            acts.send(self.rank + 1, 0, Part::new(input, 0, self.count));
        }
    }

    /// Whether round `round` of the scan brings anything.
    fn receives(&self, round: u32) -> bool {
        self.rank > 1 << (round - 1)
    }

    fn exchange(&self, round: u32, acts: &mut Acts) {
        let distance = 1 << (round - 1);
        if self.receives(round) {
            acts.recv(self.rank - distance, round, self.room());
        }
        if self.size - self.rank > distance {
            acts.send(self.rank + distance, round, self.output());
        }
    }
}

impl Plan for Shift {
    fn steps(&self) -> u32 {
        match self.rank {
            _ if self.count == 0 => 0,
            // Rank 0 has nothing to send after the shift.
            0 => 1,
            _ => 2 * Self::rounds(self.size),
        }
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        if self.in_place || self.rank > 1 {
            self.count
        } else {
            0
        }
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        match (i / 2, i % 2) {
            (0, 0) => self.shift(acts),
            (0, _) if self.in_place => acts.copy(self.room(), self.output()),
            (0, _) => {}
            (round, 0) => self.exchange(round, acts),
            (round, _) if self.receives(round) => {
                acts.reduce(self.room(), self.output(), Side::Left);
            }
            _ => {}
        }
        Some(i)
    }
}
