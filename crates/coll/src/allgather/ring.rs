//! Allgather around a ring: each rank passes on to the one above what came from the one below.
//!
//! `p - 1` rounds, and `(p - 1)` blocks sent and received by each rank, which is the least volume
//! there is. Only neighbours talk, which suits large blocks and rings of machines. A block is offered
//! to the rank above while the next one comes from below: so a rank that is late keeps nobody from
//! receiving, and what it has is offered before its processor copies what comes.

use super::Board;
use crate::catalog::{Call, Parameters};
use crate::circle::Circle;
use crate::circular::{Around, Circular, CircularActs, Placed};

/// One rank's part in a ring allgather. Step `i` asks the rank below for its `i`-th block and sends, of
/// the blocks that this rank has, the one before: first its own, then what step 0 brought, and so on.
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
        self.0.steps(size, size)
    }

    fn scratch(&self, _: &Around<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, around: &Around<'_>, acts: &mut CircularActs<'_>) -> u32 {
        let others = around.size() - 1;
        let sent = i.checked_sub(1).filter(|_| others > 0);
        if let Some(sent) = sent {
            let block = match sent {
                0 => self.0.own(around),
                _ => self.0.block(around, around.back(sent)),
            };
            acts.send(1, 0, block);
        }
        if i < others {
            acts.recv(1, 0, self.0.block(around, around.back(i + 1)));
        }
        if i == others.min(1) {
            self.0.take_own(around, acts);
        }
        sent.unwrap_or(0)
    }
}
