//! Allgather with a message from every rank straight to every other one.
//!
//! `p - 1` rounds and the least volume, as around a ring, but nothing waits for what comes before:
//! a window's worth of exchanges is under way at a time. Each rank starts with the one above it, so
//! that not all send to the same one.

use super::Blackboard;
use crate::catalog::{Call, Parameters};
use crate::plan::{Acts, Known, Plan};
use crate::window::{Window, exchange};

/// One rank's part in a linear allgather. One step for each distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    board: Blackboard,
    window: Window,
}

impl Linear {
    pub(crate) const fn of(call: &Call, parameters: &Parameters) -> Self {
        Linear {
            board: Blackboard::of(call),
            window: Window::new(parameters.window),
        }
    }

    /// Exchanges under way at a time.
    pub(crate) const fn window(&self) -> u32 {
        self.window.get()
    }
}

impl Plan for Linear {
    fn steps(&self) -> u32 {
        self.board.steps(self.board.place.size() - 1)
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let place = self.board.place;
        if place.size() > 1 {
            let (source, destination) = (place.below(i + 1), place.above(i + 1));
            let incoming = self.board.block(known, source);
            exchange(
                acts,
                0,
                (source, incoming),
                (destination, self.board.own(known)),
            );
        }
        if i == 0 {
            self.board.take_own(known, acts);
        }
        Some(self.window.needs(i))
    }
}
