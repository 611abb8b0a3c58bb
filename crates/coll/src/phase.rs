//! A plan of the catalog as a phase of another one.

use core::ops::Range;

use crate::call::{Call, Parameters};
use crate::plan::Plan;

/// A plan that is made for a call of its own, as part of another call.
pub trait Phase: Plan {
    /// One rank's plan.
    fn of(call: &Call, parameters: &Parameters) -> Self;

    /// The first of the blocks that a rank keeps in scratch on their way, in a scatter.
    fn stock(&self) -> u32 {
        0
    }

    /// The ranks whose blocks come to a rank, in a scatter.
    fn brought(&self, rank: u32) -> Range<u32> {
        rank..rank + 1
    }

    /// How many of so many ranks, the first ones, best have a block, in an allgather of a vector's blocks.
    fn owners(size: u32) -> u32 {
        size
    }

    /// How many of the first steps need nothing, in an allgather.
    fn free(&self) -> u32 {
        1
    }
}

/// Makes a plan a phase that is built as it is for a call of its own.
macro_rules! phase {
    ($plan:ident) => {
        impl $crate::phase::Phase for $plan {
            fn of(call: &$crate::call::Call, parameters: &$crate::call::Parameters) -> Self {
                $plan::of(call, parameters)
            }
        }
    };
}

pub(crate) use phase;

/// A plan for a vector.
pub trait Shorten: Phase + Copy {
    /// The same for a vector of so many elements, no more.
    #[must_use]
    fn shortened(&self, count: u64) -> Self;
}
