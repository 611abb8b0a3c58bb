//! Barrier up and down a k-nomial tree: signals are gathered to rank 0, which then releases
//! everyone.
//!
//! `2 ceil(log2 p)` rounds with radix 2, twice what dissemination takes, but only `2 (p - 1)`
//! signals in all: for networks that are slowed by many messages at a time.

use super::Signals;
use crate::call::{Call, Parameters};
use crate::plan::{Acts, Plan, PlanInputs};

/// One rank's plan for a tree barrier: the signals up, then those down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BarrierKnomial {
    up: Signals,
    down: Signals,
}

impl BarrierKnomial {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        BarrierKnomial {
            up: Signals::up(call.rank, call.size, parameters.radix),
            down: Signals::down(call.rank, call.size, parameters.radix),
        }
    }
}

impl Plan for BarrierKnomial {
    fn steps(&self) -> u32 {
        self.up.steps() + self.down.steps()
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let before = self.up.steps();
        match i.checked_sub(before) {
            None => self.up.step(i, inputs, acts),
            Some(i) => Some(before + self.down.step(i, inputs, acts)?),
        }
    }
}
