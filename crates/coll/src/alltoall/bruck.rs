//! Alltoall by Bruck's algorithm: blocks travel packed, by the digits of their distances around the ring.
//!
//! A block with `d` ranks to go is forwarded in each phase by that phase's digit of `d`. So
//! `ceil(log2 p)` rounds suffice with radix 2, the minimum, at the price of volume: a block
//! is sent once for each non-zero digit, about half of `ceil(log2 p)` times. A larger radix
//! sends it fewer times, in more messages. For small blocks. Bruck, Ho, Kipnis, Upfal and
//! Weathersby, "Efficient algorithms for all-to-all communications in multiport message-passing
//! systems", 1997.
//!
//! Scratch holds the blocks by distance: first this rank's own, rotated so that the block for the rank itself
//! is number 0; in the end, at the same places, the received blocks by the distance of their senders. Behind
//! them is temporary memory for the packed blocks that one phase sends, and for those that it receives.

use crate::call::{Call, Parameters};
use crate::digits::Digits;
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs};
use crate::rank_ring::RankRing;

/// One rank's plan for Bruck's alltoall. Step 0 rotates the blocks; each phase has one step for each
/// value of its digit that packs, one that exchanges and one that unpacks; the last step rotates the
/// blocks back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AlltoallBruck {
    place: RankRing,
    digits: Digits,
    count: u64,
    in_place: bool,
}

/// The blocks with one value of one digit: full runs, and a shorter last run where the number of ranks cuts
/// one off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    /// The first block.
    first: u32,
    /// Blocks in a run: the digit's weight.
    run: u32,
    /// Blocks from the start of a run to the start of the next.
    period: u32,
    runs: u32,
    rest: u32,
}

impl Group {
    fn new(size: u32, radix: u32, weight: u32, digit: u32) -> Self {
        let first = weight * digit;
        // A period longer than the group has one run.
        let period = weight.saturating_mul(radix);
        let beyond = size - first;
        let (runs, left) = (beyond / period, beyond % period);
        Group {
            first,
            run: weight,
            period,
            runs: runs + u32::from(left >= weight),
            rest: if left < weight { left } else { 0 },
        }
    }

    fn blocks(&self) -> u32 {
        self.runs * self.run + self.rest
    }
}

impl AlltoallBruck {
    pub(crate) const fn of(call: &Call, parameters: &Parameters) -> Self {
        AlltoallBruck {
            place: RankRing::of(call),
            digits: Digits::new(call.size, parameters.radix),
            count: call.count,
            in_place: call.in_place,
        }
    }

    fn group(&self, phase: u32, digit: u32) -> Group {
        let weight = self.digits.weight(phase);
        Group::new(self.place.size(), self.digits.radix(), weight, digit)
    }

    /// The most blocks that one phase sends.
    fn most(&self) -> u32 {
        let sent = |phase| self.before(phase, self.digits.radix());
        (0..self.digits.phases()).map(sent).max().unwrap_or(0)
    }

    /// The blocks of a phase with a value of its digit from 1 to below `digit`.
    fn before(&self, phase: u32, digit: u32) -> u32 {
        let (size, weight) = (
            u64::from(self.place.size()),
            u64::from(self.digits.weight(phase)),
        );
        let period = weight * u64::from(self.digits.radix());
        let values = u64::from(digit - 1) * weight;
        let cut = (size % period).saturating_sub(weight).min(values);
        (size / period * values + cut) as u32
    }

    fn elements(&self, blocks: u32) -> u64 {
        u64::from(blocks) * self.count
    }

    /// Where a group's blocks lie: its whole runs, and its rest.
    fn places(&self, group: Group) -> [Part; 2] {
        let at =
            |block, blocks| Part::new(Buf::Scratch, self.elements(block), self.elements(blocks));
        let whole =
            at(group.first, group.run).repeated(group.runs, self.elements(group.period) as i64);
        let after = u64::from(group.runs) * u64::from(group.period);
        let rest = Part::new(
            Buf::Scratch,
            (u64::from(group.first) + after) * self.count,
            self.elements(group.rest),
        );
        [whole, rest]
    }

    /// Packs a group's blocks into consecutive ones, or unpacks them.
    fn gather(&self, group: Group, packed: Part, pack: bool, acts: &mut Acts) {
        let mut first = packed.first;
        for part in self.places(group) {
            if !part.is_empty() {
                let packed = Part::new(Buf::Scratch, first, part.len());
                first += part.len();
                if pack {
                    acts.copy(part, packed);
                } else {
                    acts.copy(packed, part);
                }
            }
        }
    }

    /// Temporary memory for the blocks that a phase sends or receives with one value of its digit.
    fn room(&self, phase: u32, digit: u32, incoming: bool) -> Part {
        let before = u64::from(self.place.size())
            + u64::from(self.before(phase, digit))
            + u64::from(incoming) * u64::from(self.most());
        let blocks = self.group(phase, digit).blocks();
        Part::new(Buf::Scratch, before * self.count, self.elements(blocks))
    }

    /// The blocks by distance, all at once.
    fn all(&self) -> Part {
        Part::new(Buf::Scratch, 0, self.elements(self.place.size()))
    }

    /// The blocks by rank, from this rank's own on `stride` blocks at a time around the ring.
    fn around(&self, buf: Buf, stride: i64) -> Part {
        let size = self.place.size();
        Part::new(buf, self.elements(self.place.rank()), self.count)
            .repeated(size, stride * self.count as i64)
            .around(self.elements(size))
    }
}

impl Plan for AlltoallBruck {
    fn steps(&self) -> u32 {
        match self.place.size() {
            _ if self.count == 0 => 0,
            1 => u32::from(!self.in_place),
            _ => 3 * self.digits.exchanges() + 2,
        }
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        match self.place.size() {
            1 => 0,
            size => self.elements(size) + 2 * self.elements(self.most()),
        }
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        if self.place.size() == 1 {
            acts.copy(self.around(Buf::In, 1), self.around(Buf::Out, 1));
            return Some(0);
        }
        if i == 0 {
            let input = if self.in_place { Buf::Out } else { Buf::In };
            acts.copy(self.around(input, 1), self.all());
            return Some(0);
        }
        if i + 1 == self.steps() {
            acts.copy(self.all(), self.around(Buf::Out, -1));
            return Some(i);
        }
        let per_phase = 3 * (self.digits.radix() - 1);
        let (phase, within) = ((i - 1) / per_phase, (i - 1) % per_phase);
        let values = self.digits.values(phase);
        let (part, digit) = (within / values, within % values + 1);
        let group = self.group(phase, digit);
        match part {
            0 => self.gather(group, self.room(phase, digit, false), true, acts),
            1 => {
                let distance = self.digits.weight(phase) * digit;
                acts.recv(self.place.below(distance), 0, self.room(phase, digit, true));
                acts.send(
                    self.place.above(distance),
                    0,
                    self.room(phase, digit, false),
                );
                return Some(i + 1 - digit);
            }
            _ => self.gather(group, self.room(phase, digit, true), false, acts),
        }
        Some(i + 1 - digit)
    }
}
