//! Allgather with a message from every rank straight to every other one.
//!
//! `p - 1` rounds and the least volume, as around a ring, but nothing waits for what comes before:
//! a window's worth of exchanges is under way at a time. Each rank starts with the one above it, so
//! that not all send to the same one.

use super::Board;
use crate::catalog::{Call, Parameters};
use crate::circle::Circle;
use crate::circular::{Around, Circular, CircularActs, Placed};
use crate::window::Window;

/// One rank's part in a linear allgather. One step for each distance.
pub type Linear = Placed<Exchanges>;

/// What every rank does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchanges {
    board: Board,
    window: Window,
}

impl Linear {
    pub(crate) const fn of(call: &Call, parameters: &Parameters) -> Self {
        let exchanges = Exchanges {
            board: Board::of(call),
            window: Window::new(parameters.window),
        };
        Placed::new(Circle::of(call), exchanges)
    }

    /// Exchanges under way at a time.
    pub(crate) const fn window(&self) -> u32 {
        self.circular().window.get()
    }
}

impl Circular for Exchanges {
    fn steps(&self, size: u32) -> u32 {
        self.board.steps(size, size - 1)
    }

    fn scratch(&self, _: &Around<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, around: &Around<'_>, acts: &mut CircularActs<'_>) -> u32 {
        if around.size() > 1 {
            let distance = i + 1;
            let incoming = self.board.block(around, around.back(distance));
            acts.exchange(distance, 0, incoming, self.board.own(around));
        }
        if i == 0 {
            self.board.take_own(around, acts);
        }
        self.window.needs(i)
    }
}
