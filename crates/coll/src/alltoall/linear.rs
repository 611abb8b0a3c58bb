//! Alltoall with a message from every rank straight to every other one.
//!
//! `p - 1` rounds, one more in place, and the least volume. A window's worth of exchanges is under
//! way at a time, and each rank starts with the one above it, so that not all send to the same
//! one.

use super::replace::Replace;
use crate::blocks::Blocks;
use crate::catalog::{Call, Parameters};
use crate::circle::Circle;
use crate::circular::{Around, Circular, CircularActs, Placed};
use crate::plan::any_plan;
use crate::window::Window;

/// One rank's part in a linear alltoall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linear {
    /// Straight from input to output.
    Apart(Placed<Exchanges>),
    /// In place.
    InPlace(Replace),
}

/// What every rank does: one step for each distance, the last for the rank itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchanges {
    blocks: Blocks,
    window: Window,
}

impl Linear {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let (place, blocks) = (Circle::of(call), Blocks::of(call));
        let window = Window::new(parameters.window);
        match call.in_place {
            true => Linear::InPlace(Replace::new(place, blocks, window.get())),
            false => Linear::Apart(Placed::new(place, Exchanges { blocks, window })),
        }
    }
}

impl Circular for Exchanges {
    fn steps(&self, size: u32) -> u32 {
        if self.blocks.are_empty() { 0 } else { size }
    }

    fn scratch(&self, _: &Around<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, around: &Around<'_>, acts: &mut CircularActs<'_>) -> u32 {
        let distance = i + 1;
        let incoming = around.output(self.blocks, around.back(distance));
        let outgoing = around.input(self.blocks, distance);
        if distance == around.size() {
            acts.copy(outgoing, incoming);
            return 0;
        }
        acts.exchange(distance, 0, incoming, outgoing);
        self.window.needs(i)
    }
}

any_plan!(Linear: Apart, InPlace);
