//! Plans given as lists of steps.

use oxmpi_coll::plan::{Acts, Plan, PlanInputs};

/// A step of a script: the number of steps that it needs, and its acts.
pub(crate) type Step = (u32, Acts);

/// A plan given as a list of steps, written by hand or recorded from a run. It learns no lengths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Script<'a>(pub(crate) &'a [Step]);

impl Plan for Script<'_> {
    fn steps(&self) -> u32 {
        self.0.len() as u32
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let (needs, own) = &self.0[i as usize];
        own.iter().for_each(|&act| acts.push(act));
        Some(*needs)
    }
}
