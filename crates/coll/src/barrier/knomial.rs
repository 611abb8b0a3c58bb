//! Barrier up and down a k-nomial tree: signals are gathered to rank 0, which then releases
//! everyone.
//!
//! `2 ceil(log2 p)` rounds with radix 2, twice what dissemination takes, but only `2 (p - 1)`
//! signals in all: for networks that are slowed by many messages at a time.

use crate::call::{Call, Parameters};
use crate::plan::{Acts, Part, Plan, PlanInputs};
use crate::tree::{self, TreePlace};

const ENTERED: u32 = 0;
const RELEASED: u32 = 1;

/// One rank's plan for a tree barrier. One step for each child slot, one that tells the parent
/// and hears from it, and one for each child slot again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BarrierKnomial(tree::KnomialPlace);

impl BarrierKnomial {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        BarrierKnomial(tree::KnomialPlace::new(
            call.rank,
            call.size,
            0,
            parameters.radix,
        ))
    }

    fn child(&self, at: u32) -> Option<u32> {
        self.0.down(at).map(|edge| edge.peer)
    }
}

impl Plan for BarrierKnomial {
    fn steps(&self) -> u32 {
        2 * self.0.places() + 2
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let children = self.0.places();
        if i < children {
            if let Some(child) = self.child(i) {
                acts.recv(child, ENTERED, Part::EMPTY);
            }
            return Some(0);
        }
        let parent = self.0.parent();
        match i - children {
            0 => {
                if let Some(parent) = parent {
                    acts.send(parent, ENTERED, Part::EMPTY);
                }
                Some(children)
            }
            1 => {
                if let Some(parent) = parent {
                    acts.recv(parent, RELEASED, Part::EMPTY);
                }
                Some(children)
            }
            n => {
                // The child with the largest subtree has the longest way to go.
                if let Some(child) = self.child(children + 1 - n) {
                    acts.send(child, RELEASED, Part::EMPTY);
                }
                Some(children + 2)
            }
        }
    }
}
