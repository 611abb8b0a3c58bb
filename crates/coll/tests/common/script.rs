//! Plans that stand as a list.

use oxmpi_coll::plan::{Acts, Plan, PlanInputs};

/// A step of a script: what it needs, and its acts.
pub(crate) type Step = (u32, Acts);

/// A rank's plan, step by step: written by hand, or what it did in a run, when all lengths are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Script<'a>(pub(crate) &'a [Step]);

impl Plan for Script<'_> {
    fn steps(&self) -> u32 {
        self.0.len() as u32
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let (needs, own) = &self.0[i as usize];
        own.iter().for_each(|&act| acts.push(act));
        Some(*needs)
    }
}
