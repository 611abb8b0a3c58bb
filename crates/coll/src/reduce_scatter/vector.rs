//! The vector that a rank gives, one block for each rank.

use core::ops::Range;

use crate::blocks::{Blocks, sum};
use crate::call::Call;
use crate::partition::run;
use crate::plan::{Buf, Part, PlanInputs};

/// Where the vector lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DividedVector {
    pub(super) blocks: Blocks,
    pub(super) in_place: bool,
}

impl DividedVector {
    pub(super) const fn of(call: &Call) -> Self {
        DividedVector {
            blocks: Blocks::of(call),
            in_place: call.in_place,
        }
    }

    /// The elements of consecutive blocks.
    ///
    /// # Cost
    ///
    /// Reads their lengths, if the caller gives any.
    pub(super) fn len(&self, inputs: &PlanInputs<'_>, ranks: Range<u32>) -> u64 {
        match self.blocks {
            Blocks::Even(count) => ranks.len() as u64 * count,
            Blocks::Partition(count, size) => run(count, size, ranks.start, ranks.end).1,
            Blocks::Given => sum(inputs.arrays.sends, ranks.start, ranks.end),
        }
    }

    /// Consecutive blocks as they are given.
    ///
    /// # Cost
    ///
    /// As [`DividedVector::len`]; in place also of all blocks before them.
    pub(super) fn blocks(&self, inputs: &PlanInputs<'_>, ranks: Range<u32>) -> Part {
        let count = self.len(inputs, ranks.clone());
        if self.in_place {
            let first = self.len(inputs, 0..ranks.start);
            return Part::new(Buf::Out, first, count);
        }
        Part {
            count,
            ..self.blocks.input(inputs, ranks.start)
        }
    }

    /// One block as it is given.
    pub(super) fn block(&self, inputs: &PlanInputs<'_>, rank: u32) -> Part {
        self.blocks(inputs, rank..rank + 1)
    }
}
