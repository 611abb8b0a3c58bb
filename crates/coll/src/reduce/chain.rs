//! Reduce chain: the rank farthest from the root sends its vector to the next one, block by
//! block, and each rank on the way reduces its own into it.
//!
//! `n + p - 2` rounds for `n` blocks, and every rank sends and reduces each block once: for few
//! ranks and large vectors. The chain goes around from the root, so the operation must commute.

use crate::call::{Call, Parameters};
use crate::eager::EagerLimit;
use crate::partition::Partition;
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs, Side};
use crate::rank_ring::RankRing;

/// The largest group whose rounds can be counted.
pub(crate) const MAX_SIZE: u32 = 1 << 30;

/// One rank's plan for a reduction up a chain. Two steps a block: receive it while the one before it
/// is sent on, then merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReduceChain {
    ring: RankRing,
    from_root: u32,
    blocks: u32,
    cut: Partition,
    short: EagerLimit,
    /// Whether this is the root with its input in `Out`.
    in_place: bool,
}

impl ReduceChain {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let most = u64::from(parameters.blocks).clamp(1, u64::from(MAX_SIZE));
        let blocks = most.min(call.count) as u32;
        ReduceChain {
            ring: RankRing::of(call),
            from_root: call.from_root(),
            blocks,
            cut: Partition::new(call.count, blocks),
            short: EagerLimit::of(call),
            in_place: call.in_place && call.rank == call.root,
        }
    }

    const fn is_root(&self) -> bool {
        self.from_root == 0
    }

    /// Whether the rank receives no contribution.
    const fn is_first(&self) -> bool {
        self.from_root + 1 == self.ring.size()
    }

    fn part(&self, buf: Buf, block: u32) -> Part {
        let (first, count) = self.cut.piece(block);
        Part::new(buf, first, count)
    }

    /// Where a block is received: at the place of its sum, which below the root is one of two places in
    /// scratch, so that the last block can still be sent; at an in-place root in scratch, too.
    fn room(&self, block: u32) -> Part {
        let sum = self.part(Buf::Out, block);
        if self.is_root() && !self.in_place {
            return sum;
        }
        let slot = u64::from(block % 2) * self.cut.longest();
        Part::new(Buf::Scratch, slot, sum.count)
    }

    fn exchange(&self, block: u32, acts: &mut Acts) {
        let incoming = match block < self.blocks {
            true => self.room(block),
            false => Part::EMPTY,
        };
        let outgoing = block.checked_sub(1).filter(|_| !self.is_root());
        let outgoing = outgoing.map_or(Part::EMPTY, |block| self.room(block));
        self.short.exchange(
            acts,
            0,
            (self.ring.above(1), incoming),
            (self.ring.below(1), outgoing),
        );
    }

    fn merge(&self, block: u32, acts: &mut Acts) {
        let room = self.room(block);
        if self.in_place {
            acts.reduce(room, self.part(Buf::Out, block), Side::Right);
        } else {
            acts.reduce(self.part(Buf::In, block), room, Side::Left);
        }
    }
}

impl Plan for ReduceChain {
    fn steps(&self) -> u32 {
        match self.blocks {
            blocks if self.is_first() => blocks,
            0 => 0,
            blocks => 2 * blocks + u32::from(!self.is_root()),
        }
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        if self.is_first() || (self.is_root() && !self.in_place) {
            0
        } else {
            2 * self.cut.longest()
        }
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        match () {
            () if self.is_first() && self.is_root() => {
                if !self.in_place {
                    acts.copy(self.part(Buf::In, i), self.part(Buf::Out, i));
                }
                Some(0)
            }
            () if self.is_first() => {
                acts.send(self.ring.below(1), 0, self.part(Buf::In, i));
                Some(0)
            }
            () if i.is_multiple_of(2) => {
                self.exchange(i / 2, acts);
                Some(i)
            }
            () => {
                self.merge(i / 2, acts);
                Some(i)
            }
        }
    }
}
