//! The allgather over the circulant graph: `ceil(log2 p)` rounds, in which each rank sends and
//! receives `p - 1` blocks.
//!
//! A rank has its own block and those of some ranks above it, more from round to round. It sends as
//! many of them, from its own on, as the rank below still lacks, and gets the next ones from above.
//! Blocks are received right where they belong, and sent from there.

use super::Skips;
use crate::blocks::{Division, RotatedBlocks};
use crate::eager::exchange;
use crate::plan::{Acts, Buf, Part, PlanInputs};
use crate::rank_ring::RankRing;

/// The tag of round 0; a reduce-scatter before has those below.
const FIRST_TAG: u32 = 32;

/// One rank's plan for the allgather.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CirculantGather {
    pub(crate) view: RotatedBlocks,
    pub(crate) own: OwnBlock,
}

/// Where a rank finds its own block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnBlock {
    /// Alone in `In`; the allgather copies it to `Out`.
    Input,
    /// At its place in `Out`.
    Output,
    /// Alone at the start of this buffer; all blocks are gathered in scratch.
    Apart(Buf),
    /// At its place in `Out`; but this root, from which the ranks of the view are counted, has all
    /// blocks in `In` and receives none.
    Rooted(u32),
}

impl CirculantGather {
    /// The number of steps: one a round, and one for a rank alone.
    pub(crate) fn steps(&self) -> u32 {
        self.skips().rounds().max(1)
    }

    /// Adds the acts of step `k`, which needs all before it.
    pub(crate) fn step(&self, k: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) {
        if k < self.skips().rounds() {
            self.exchange(k, inputs, acts);
        }
        let place = self.place(self.home(), 0, 1, inputs);
        if let Some(own) = self.alone(inputs).filter(|own| k == 0 && !own.is_empty()) {
            acts.copy(own, place);
        }
    }

    /// The rank's own block, where it is not yet in its place.
    fn alone(&self, inputs: &PlanInputs<'_>) -> Option<Part> {
        let buf = match self.own {
            OwnBlock::Input => Buf::In,
            OwnBlock::Apart(buf) => buf,
            OwnBlock::Output | OwnBlock::Rooted(_) => return None,
        };
        Some(Part::new(buf, 0, self.view.len(0, 1, inputs)))
    }

    /// Where the blocks are gathered.
    const fn home(&self) -> Buf {
        match self.own {
            OwnBlock::Apart(_) => Buf::Scratch,
            _ => Buf::Out,
        }
    }

    fn skips(&self) -> Skips {
        Skips::new(self.view.ring.size())
    }

    fn exchange(&self, k: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) {
        let ring = self.view.ring;
        let (from, to) = (self.skips().skip(k), self.skips().skip(k + 1));
        let (above, below) = (ring.above(from), ring.below(from));
        let room = match self.has_all(ring.rank()) {
            true => Part::EMPTY,
            false => self.place(self.home(), from, to, inputs),
        };
        let lower = match self.alone(inputs) {
            _ if self.has_all(below) => Part::EMPTY,
            Some(own) if k == 0 => own,
            _ if self.has_all(ring.rank()) => self.place(Buf::In, 0, to - from, inputs),
            _ => self.place(self.home(), 0, to - from, inputs),
        };
        let (recv, send) = ((self.peer(above), room), (self.peer(below), lower));
        exchange(acts, FIRST_TAG + k, recv, send);
    }

    /// The places of blocks `from` to `to`.
    fn place(&self, buf: Buf, from: u32, to: u32, inputs: &PlanInputs<'_>) -> Part {
        match self.view.blocks {
            Division::Recvs(_) => {
                let first = Buf::OutBlock(self.view.ring.above(from));
                Part::new(first, 0, self.view.len(from, to, inputs))
            }
            _ => self.view.natural(buf, from, to, inputs),
        }
    }

    /// Whether the rank of the view has all blocks at the start.
    fn has_all(&self, rank: u32) -> bool {
        rank == 0 && matches!(self.own, OwnBlock::Rooted(_))
    }

    /// The rank of the group at a rank of the view.
    fn peer(&self, rank: u32) -> u32 {
        match self.own {
            OwnBlock::Rooted(root) => RankRing::new(rank, self.view.ring.size()).above(root),
            _ => rank,
        }
    }
}
