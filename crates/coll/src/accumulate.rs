//! Where a rank keeps the running result of a reduction while contributions of other ranks arrive.
//!
//! The first contribution is received right where the result belongs and this rank's input is
//! reduced into it; so nothing is copied, and one contribution needs no scratch. Later ones are
//! received in scratch. In place the input already is where the result belongs, and every
//! contribution goes through scratch.

use crate::plan::{Acts, Buf, Part, Side};

/// The running result of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accumulator {
    count: u64,
    /// Where the result belongs: `Out` or `Scratch`.
    result: Buf,
    in_place: bool,
}

impl Accumulator {
    /// Accumulates `count` elements in `Out`; `in_place` tells that the input is there too.
    pub(crate) const fn in_out(count: u64, in_place: bool) -> Self {
        Accumulator {
            count,
            result: Buf::Out,
            in_place,
        }
    }

    /// Accumulates `count` elements of `In` in scratch.
    pub(crate) const fn in_scratch(count: u64) -> Self {
        Accumulator {
            count,
            result: Buf::Scratch,
            in_place: false,
        }
    }

    /// What this rank has so far. `merged`: a contribution has been merged.
    pub(crate) const fn value(&self, merged: bool) -> Part {
        let buf = if self.fresh(merged) {
            Buf::In
        } else {
            self.result
        };
        Part::new(buf, 0, self.count)
    }

    /// Where the next contribution is received.
    pub(crate) const fn room(&self, merged: bool) -> Part {
        match self.result {
            result if self.fresh(merged) => Part::new(result, 0, self.count),
            Buf::Scratch => Part::new(Buf::Scratch, self.count, self.count),
            _ => Part::new(Buf::Scratch, 0, self.count),
        }
    }

    /// Merges the contribution received in the room. `lower`: it comes from ranks below those
    /// merged so far, and so stands on the left of the operation.
    pub(crate) fn merge(&self, merged: bool, lower: bool, acts: &mut Acts) {
        let into = Part::new(self.result, 0, self.count);
        let from = if self.fresh(merged) {
            Part::new(Buf::In, 0, self.count)
        } else {
            self.room(merged)
        };
        let side = if lower != self.fresh(merged) {
            Side::Left
        } else {
            Side::Right
        };
        acts.reduce(from, into, side);
    }

    /// For a rank that merges nothing: brings the input where the result belongs, if it is not
    /// there.
    pub(crate) fn take_input(&self, acts: &mut Acts) {
        if !self.in_place && self.count > 0 {
            acts.copy(
                Part::new(Buf::In, 0, self.count),
                Part::new(self.result, 0, self.count),
            );
        }
    }

    /// The scratch that merging `contributions` takes.
    pub(crate) fn scratch(&self, contributions: u32) -> u64 {
        let first = u32::from(self.in_place || self.result == Buf::Scratch).min(contributions);
        let later = contributions.saturating_sub(1).min(1);
        match self.result {
            Buf::Scratch => u64::from(first + later) * self.count,
            _ => u64::from(first.max(later)) * self.count,
        }
    }

    /// Whether the input has not yet been merged into the result.
    const fn fresh(&self, merged: bool) -> bool {
        !merged && !self.in_place
    }
}
