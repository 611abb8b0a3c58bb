//! Allgather around a ring: each rank passes on to the one above what came from the one below.
//!
//! `p - 1` rounds, and `(p - 1)` blocks sent and received by each rank, which is the least volume
//! there is. Only neighbours talk, which suits large blocks and rings of machines.

use super::Board;
use crate::catalog::{Call, Parameters};
use crate::circle::Circle;
use crate::circular::{Around, Circular, CircularActs, Placed};

/// One rank's part in a ring allgather. One step a round.
pub type Ring = Placed<Rounds>;

/// What every rank does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds(Board);

impl Ring {
    pub(crate) const fn of(call: &Call, _: &Parameters) -> Self {
        Placed::new(Circle::of(call), Rounds(Board::of(call)))
    }
}

impl Circular for Rounds {
    fn steps(&self, size: u32) -> u32 {
        self.0.steps(size, size - 1)
    }

    fn scratch(&self, _: &Around<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, around: &Around<'_>, acts: &mut CircularActs<'_>) -> u32 {
        if around.size() > 1 {
            let outgoing = match i {
                0 => self.0.own(around),
                _ => self.0.block(around, around.back(i)),
            };
            acts.recv(1, 0, self.0.block(around, around.back(i + 1)));
            acts.send(1, 0, outgoing);
        }
        if i == 0 {
            self.0.take_own(around, acts);
        }
        i
    }
}
