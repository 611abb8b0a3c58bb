//! Alltoall with a message from every rank straight to every other one.
//!
//! `p - 1` rounds, one more in place, and the least volume. A window's worth of exchanges is under
//! way at a time, and each rank starts with the one above it, so that not all send to the same
//! one.

use super::replace::Replace;
use crate::blocks::Blocks;
use crate::catalog::{Call, Parameters};
use crate::circle::Circle;
use crate::plan::{Acts, Known, Plan};
use crate::window::{Window, copy, exchange};

/// One rank's part in a linear alltoall. One step for each distance, the last for the rank itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    place: Circle,
    blocks: Blocks,
    in_place: bool,
    window: Window,
}

impl Linear {
    pub(crate) const fn of(call: &Call, parameters: &Parameters) -> Self {
        Linear {
            place: Circle::of(call),
            blocks: Blocks::of(call),
            in_place: call.in_place,
            window: Window::new(parameters.window),
        }
    }

    /// The plan in place.
    fn replace(&self) -> Option<Replace> {
        let plan = || Replace::new(self.place, self.blocks, self.window.get());
        self.in_place.then(plan)
    }
}

impl Plan for Linear {
    fn steps(&self) -> u32 {
        if let Some(plan) = self.replace() {
            return plan.steps();
        }
        if self.blocks.are_empty() {
            0
        } else {
            self.place.size()
        }
    }

    fn scratch(&self, known: &Known<'_>) -> u64 {
        self.replace().map_or(0, |plan| plan.scratch(known))
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        if let Some(plan) = self.replace() {
            return plan.step(i, known, acts);
        }
        let (source, destination) = (self.place.below(i + 1), self.place.above(i + 1));
        let incoming = self.blocks.output(known, source);
        let outgoing = self.blocks.input(known, destination);
        if source == self.place.rank() {
            copy(acts, outgoing, incoming);
            return Some(0);
        }
        exchange(acts, 0, (source, incoming), (destination, outgoing));
        Some(self.window.needs(i))
    }
}
