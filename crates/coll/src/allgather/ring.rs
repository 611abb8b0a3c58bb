//! Allgather and allgatherv around a ring: each rank forwards to the rank above what it received from the
//! rank below.
//!
//! `p - 1` rounds, and `(p - 1)` blocks sent and received by each rank, the minimum volume. Only neighbours
//! communicate, which suits large blocks and rings of machines.
//!
//! A rank with a neighbour on another node posts receives ahead, before it sends the last block: so blocks
//! have arrived when the adapters have carried them, and a late rank delays no receive. Inside a node the
//! processor copies a long block, which delays the rank above, and two blocks in close succession would delay
//! all ranks; so there a rank posts a receive after it has sent the block before. The first of two ranks of a
//! node posts no receives ahead for very long blocks, so not all ranks do the same.
//!
//! Between nodes a block may go in pieces: eager pieces need no request, and requests for longer ones queue
//! for a shorter time at the adapters. A rank with pieces on both sides forwards each on arrival; inside a
//! node blocks stay whole.

use super::BlockLayout;
use crate::call::{Call, Parameters};
use crate::phase::Phase;
use crate::rank_ring::RankRing;
use crate::ring_pieces::RingPieces;
use crate::symmetric::{AtRank, RelativeActs, RelativePart, RelativeView, SymmetricPlan};

/// One rank's plan for a ring allgather. Step `i` receives the block of the rank `i + 1` below, and sends,
/// of the blocks that this rank has, the `i`-th one, or, where it asks ahead, one before. Where blocks
/// are in pieces, on one side or on both, a block takes as many steps.
pub(crate) type AllgatherRing = AtRank<RingRounds>;

/// What all ranks do that post as many receives ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RingRounds {
    layout: BlockLayout,
    /// The receives that are posted before the last block is sent.
    ahead: u32,
    pieces: RingPieces,
}

impl AllgatherRing {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let ring = RankRing::of(call);
        let rounds = RingRounds {
            layout: BlockLayout::of(call),
            ahead: parameters.receives_ahead(ring, call.bytes()),
            pieces: RingPieces::of(ring, parameters, call.bytes()),
        };
        AtRank::new(ring, rounds)
    }

    /// The first steps that depend on nothing and send as well.
    pub(crate) const fn free(&self) -> u32 {
        1_u32.saturating_sub(self.symmetric().ahead)
    }
}

impl SymmetricPlan for RingRounds {
    fn steps(&self, size: u32) -> u32 {
        self.layout
            .steps(size, (size - 1) * self.pieces.number + self.ahead)
    }

    fn scratch(&self, _: &RelativeView<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) -> u32 {
        let pieces = self.pieces.number;
        let others = (around.size() - 1) * pieces;
        let sent = i.checked_sub(self.ahead).filter(|_| others > 0);
        let block = |n| self.layout.block(around, around.back(n));
        let incoming = match i < others {
            true => self.pieces.incoming(i, block(i / pieces + 1)),
            false => RelativePart::EMPTY,
        };
        let outgoing = sent.map_or(RelativePart::EMPTY, |sent| {
            let block = match sent / pieces {
                0 => self.layout.own(around),
                passed => block(passed),
            };
            self.pieces.outgoing(sent, block)
        });
        acts.exchange(1, 0, incoming, outgoing);
        if i == self.ahead.min(others) {
            self.layout.take_own(around, acts);
        }
        self.pieces.behind(sent.unwrap_or(0))
    }
}

impl Phase for AllgatherRing {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        AllgatherRing::of(call, parameters)
    }

    fn free(&self) -> u32 {
        AllgatherRing::free(self)
    }
}
