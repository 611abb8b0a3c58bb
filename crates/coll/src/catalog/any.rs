//! One type for the plans of all algorithms: a call through it is a branch, not a pointer.

use crate::allreduce::{RecursiveDoubling, Ring};
use crate::barrier::Dissemination;
use crate::plan::{Acts, Known, Plan};
use crate::{bcast, reduce};

/// A plan of any algorithm in the catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant is named as its algorithm")]
pub enum AnyPlan {
    BarrierDissemination(Dissemination),
    BcastBinomial(bcast::Binomial),
    ReduceBinomial(reduce::Binomial),
    AllreduceRecursiveDoubling(RecursiveDoubling),
    AllreduceRing(Ring),
}

/// Evaluates an expression over the plan inside.
macro_rules! each {
    ($any:expr, $plan:ident => $value:expr) => {
        match $any {
            AnyPlan::BarrierDissemination($plan) => $value,
            AnyPlan::BcastBinomial($plan) => $value,
            AnyPlan::ReduceBinomial($plan) => $value,
            AnyPlan::AllreduceRecursiveDoubling($plan) => $value,
            AnyPlan::AllreduceRing($plan) => $value,
        }
    };
}

impl Plan for AnyPlan {
    #[inline]
    fn steps(&self) -> u32 {
        each!(self, plan => plan.steps())
    }

    fn scratch(&self, known: &Known<'_>) -> u64 {
        each!(self, plan => plan.scratch(known))
    }

    #[inline]
    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        each!(self, plan => plan.step(i, known, acts))
    }
}

#[cfg(test)]
mod tests {
    use super::AnyPlan;

    #[test]
    fn a_plan_is_small() {
        assert!(size_of::<AnyPlan>() <= 64);
    }
}
