//! Allgather around a ring: each rank passes on to the one above what came from the one below.
//!
//! `p - 1` rounds, and `(p - 1)` blocks sent and received by each rank, which is the least volume
//! there is. Only neighbours talk, which suits large blocks and rings of machines.
//!
//! Between nodes a rank asks for the next blocks while it offers the last one: so they are there when the
//! adapters have carried them, and who is late keeps nobody from receiving. Inside a node the processor
//! of a rank copies a long block, and what it then has is late for the rank above: two blocks that
//! follow one another closely would do so all the way around. There it asks for a block when it has
//! offered the one before. Those with a neighbour on another node ask ahead, but for the first of
//! two where blocks are very long, so not all ranks do the same.
//!
//! From node to node a block may go in pieces: those short enough need not be asked for, and what asks
//! for the others waits less at the adapters. Who gets pieces and sends pieces passes on each when it has come;
//! inside a node blocks are whole.

use super::BlockLayout;
use crate::call::{Call, Parameters};
use crate::phase::Phase;
use crate::rank_ring::RankRing;
use crate::ring_pieces::RingPieces;
use crate::symmetric::{AtRank, RelativeActs, RelativePart, RelativeView, SymmetricPlan};

/// One rank's part in a ring allgather. Step `i` receives the block of the rank `i + 1` below, and sends,
/// of the blocks that this rank has, the `i`-th one, or, where it asks ahead, one before. Where blocks
/// are in pieces, on one side or on both, a block takes as many steps.
pub type Ring = AtRank<Rounds>;

/// What every rank does that asks ahead as far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    layout: BlockLayout,
    /// The blocks that are asked for before the last one is offered.
    ahead: u32,
    pieces: RingPieces,
}

impl Ring {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let ring = RankRing::of(call);
        let rounds = Rounds {
            layout: BlockLayout::of(call),
            ahead: parameters.receives_ahead(ring, call.bytes()),
            pieces: RingPieces::of(ring, parameters, call.bytes()),
        };
        AtRank::new(ring, rounds)
    }

    /// The first steps that need nothing, if they send as well.
    pub(crate) const fn free(&self) -> u32 {
        1_u32.saturating_sub(self.symmetric().ahead)
    }
}

impl SymmetricPlan for Rounds {
    fn steps(&self, size: u32) -> u32 {
        self.layout
            .steps(size, (size - 1) * self.pieces.number + self.ahead)
    }

    fn scratch(&self, _: &RelativeView<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) -> u32 {
        let turns = self.pieces.number;
        let others = (around.size() - 1) * turns;
        let sent = i.checked_sub(self.ahead).filter(|_| others > 0);
        let block = |n| self.layout.block(around, around.back(n));
        let incoming = match i < others {
            true => self.pieces.coming(i, block(i / turns + 1)),
            false => RelativePart::EMPTY,
        };
        let outgoing = sent.map_or(RelativePart::EMPTY, |sent| {
            let block = match sent / turns {
                0 => self.layout.own(around),
                passed => block(passed),
            };
            self.pieces.going(sent, block)
        });
        acts.exchange(1, 0, incoming, outgoing);
        if i == self.ahead.min(others) {
            self.layout.take_own(around, acts);
        }
        self.pieces.behind(sent.unwrap_or(0))
    }
}

impl Phase for Ring {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        Ring::of(call, parameters)
    }

    fn free(&self) -> u32 {
        Ring::free(self)
    }
}
