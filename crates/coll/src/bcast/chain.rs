//! Broadcast chain: each rank forwards the vector to the next one, block by block.
//!
//! `n + p - 2` rounds for `n` blocks, and every rank sends each block to one rank only: for few
//! ranks and large vectors.
//!
//! A rank sends before it posts the next receive, because it may copy that block itself, and the next rank
//! would wait for the copy. Between nodes the request for a block queues at the adapter behind the incoming
//! one; so a rank with a neighbour on another node posts some receives ahead.

use crate::call::{Call, Parameters};
use crate::eager::EagerLimit;
use crate::partition::Partition;
use crate::phase::Shorten;
use crate::phase::phase;
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs};
use crate::rank_ring::RankRing;

/// The largest group whose rounds can be counted.
pub(crate) const MAX_SIZE: u32 = 1 << 30;

/// One rank's plan for a broadcast down a chain. Step `i` receives block `i` and forwards the one
/// before it or, where the rank posts receives ahead, an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BcastChain {
    ring: RankRing,
    from_root: u32,
    blocks: u32,
    cut: Partition,
    short: EagerLimit,
    /// The receives that are posted before the last block is forwarded.
    ahead: u32,
}

impl BcastChain {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let most = u64::from(parameters.blocks).clamp(1, u64::from(MAX_SIZE));
        let blocks = most.min(call.count) as u32;
        let ring = RankRing::of(call);
        BcastChain {
            ring,
            from_root: call.from_root(),
            blocks,
            cut: Partition::new(call.count, blocks),
            short: EagerLimit::of(call),
            // Unlike in a ring, the first of two ranks on a node does so as well.
            ahead: match parameters.edges(ring).contains(&true) {
                true => Parameters::AHEAD,
                false => 0,
            },
        }
    }

    fn part(&self, buf: Buf, block: u32) -> Part {
        let (first, count) = self.cut.piece(block);
        Part::new(buf, first, count)
    }
}

impl Shorten for BcastChain {
    fn shortened(&self, count: u64) -> Self {
        let blocks = u64::from(self.blocks).min(count) as u32;
        BcastChain {
            blocks,
            cut: Partition::new(count, blocks),
            ..*self
        }
    }
}

impl Plan for BcastChain {
    fn steps(&self) -> u32 {
        match self.blocks {
            blocks if blocks == 0 || self.from_root == 0 => blocks,
            blocks => blocks + 1 + self.ahead,
        }
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let is_last = self.from_root + 1 == self.ring.size();
        let (below, above) = (self.ring.below(1), self.ring.above(1));
        if self.from_root == 0 {
            if !is_last {
                acts.send(above, 0, self.part(Buf::In, i));
            }
            return Some(0);
        }
        let incoming = match i < self.blocks {
            true => self.part(Buf::Out, i),
            false => Part::EMPTY,
        };
        let outgoing = i.checked_sub(1 + self.ahead).filter(|_| !is_last);
        let outgoing = outgoing.map_or(Part::EMPTY, |block| self.part(Buf::Out, block));
        self.short
            .exchange(acts, 0, (below, incoming), (above, outgoing));
        Some(i.saturating_sub(self.ahead))
    }
}

phase!(BcastChain);
