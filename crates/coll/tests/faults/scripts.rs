//! Plans written by hand for the checker, and short names for their acts and parts.

use oxmpi_coll::plan::{Act, Acts, Buf, Part, Plan, PlanInputs, Side};

/// One rank's steps: the steps that each needs, and its acts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub(crate) scratch: u64,
    pub(crate) steps: Vec<(u32, Vec<Act>)>,
}

impl Plan for Script {
    fn steps(&self) -> u32 {
        self.steps.len() as u32
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        self.scratch
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let (needs, all) = &self.steps[i as usize];
        all.iter().for_each(|&act| acts.push(act));
        Some(*needs)
    }
}

/// A script in which each step needs all steps before it.
pub(crate) fn script(scratch: u64, steps: &[&[Act]]) -> Script {
    let steps = (0..).zip(steps).map(|(i, acts)| (i, acts.to_vec()));
    Script {
        scratch,
        steps: steps.collect(),
    }
}

pub(crate) fn send(to: u32, from: Part) -> Act {
    Act::Send { to, tag: 0, from }
}

pub(crate) fn recv(from: u32, into: Part) -> Act {
    Act::Recv { from, tag: 0, into }
}

pub(crate) fn reduce(from: Part, into: Part, side: Side) -> Act {
    Act::Reduce { from, into, side }
}

/// The first `count` elements of a buffer.
pub(crate) const fn all(buf: Buf, count: u64) -> Part {
    Part::new(buf, 0, count)
}

pub(crate) const IN: Part = all(Buf::In, 4);
pub(crate) const OUT: Part = all(Buf::Out, 4);
pub(crate) const SCRATCH: Part = all(Buf::Scratch, 4);
