//! Plans that serve as phases of other plans.

use core::ops::Range;

use crate::call::{Call, Parameters};
use crate::plan::Plan;

/// A plan that can be one phase of another call; it is made for a call of its own.
pub(crate) trait Phase: Plan {
    /// One rank's plan for the phase's call.
    fn of(call: &Call, parameters: &Parameters) -> Self;

    /// In a scatter: the first of the blocks that a rank keeps in scratch for its subtree.
    fn first_kept(&self) -> u32 {
        0
    }

    /// In a scatter: the ranks whose blocks pass through a rank, itself included.
    fn subtree_of(&self, rank: u32) -> Range<u32> {
        rank..rank + 1
    }

    /// In an allgather: how many of the first steps need no earlier step.
    fn free(&self) -> u32 {
        1
    }
}

/// Implements [`Phase`] by the plan's own constructor.
macro_rules! phase {
    ($plan:ident $(<$place:ident: $bound:ident>)?) => {
        impl $(<$place: $bound>)? $crate::phase::Phase for $plan $(<$place>)? {
            fn of(call: &$crate::call::Call, parameters: &$crate::call::Parameters) -> Self {
                $plan::of(call, parameters)
            }
        }
    };
}

pub(crate) use phase;

/// A plan for a vector whose length can be reduced.
pub(crate) trait Shorten: Phase + Copy {
    /// The same plan for a vector of at most `count` elements.
    #[must_use]
    fn shortened(&self, count: u64) -> Self;
}
