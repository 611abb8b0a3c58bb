//! Gatherv and scatterv: the long blocks, which bypass the tree and travel directly from or to the root at
//! the root's pace.

use core::ops::Range;

use crate::call::{Call, Parameters};
use crate::plan::{Acts, Buf, Part, PlanInputs};
use crate::rank_ring::RankRing;
use crate::window::Window;

/// The tag of messages in the tree.
pub(crate) const TREE_TAG: u32 = 0;
const ASK: u32 = 1;
const BLOCK: u32 = 2;

/// The largest radix of the tree: a rank has slots for the lengths of this many children.
pub(crate) const MAX_RADIX: u32 = 4;

/// Which blocks are long, and how they travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LongBlocks {
    place: RankRing,
    root: u32,
    cutoff: u64,
    window: Window,
}

impl LongBlocks {
    pub(crate) const fn of(call: &Call, parameters: &Parameters) -> Self {
        LongBlocks {
            place: RankRing::of(call),
            root: call.root,
            cutoff: parameters.cutoff,
            window: Window::new(parameters.window),
        }
    }

    pub(crate) const fn root(&self) -> u32 {
        self.root
    }

    /// Whether a block of `count` elements goes through the tree.
    pub(crate) const fn is_short(&self, count: u64) -> bool {
        count <= self.cutoff
    }

    /// The short blocks of the ranks, from block `ranks.start` of the buffer on; at the root, which
    /// knows all `lengths`.
    ///
    /// # Cost
    ///
    /// Reads the lengths of the ranks.
    pub(crate) fn short(&self, buf: Buf, lengths: &[u64], ranks: Range<u32>) -> Part {
        Part::new(buf, 0, self.total(lengths, ranks)).up_to(self.cutoff)
    }

    /// The part without the lengths of long blocks.
    pub(crate) const fn only_short(&self, lengths: Part) -> Part {
        lengths.up_to(self.cutoff)
    }

    /// The elements of the ranks' short blocks together.
    pub(crate) fn total(&self, lengths: &[u64], ranks: Range<u32>) -> u64 {
        let lengths = lengths.get(ranks.start as usize..ranks.end as usize);
        let short = |&&length: &&u64| self.is_short(length);
        lengths.unwrap_or_default().iter().filter(short).sum()
    }

    /// The root's steps: one for each other rank.
    pub(crate) const fn steps(&self) -> u32 {
        self.place.size() - 1
    }

    /// The root's step `i` of a gatherv, these steps starting with number `first`: asks for a block
    /// and receives it.
    pub(crate) fn collect(
        &self,
        i: u32,
        first: u32,
        inputs: &PlanInputs<'_>,
        acts: &mut Acts,
    ) -> Option<u32> {
        let lengths = inputs.arrays.recvs;
        if let Some((rank, count)) = self.long(i, first, lengths, acts) {
            acts.recv(rank, BLOCK, Part::new(Buf::OutBlock(rank), 0, count));
            acts.send(rank, ASK, Part::EMPTY);
        }
        Some(self.needs(i - first, first, lengths))
    }

    /// The root's step `i` of a scatterv: sends a block.
    pub(crate) fn hand_out(
        &self,
        i: u32,
        first: u32,
        inputs: &PlanInputs<'_>,
        acts: &mut Acts,
    ) -> Option<u32> {
        let lengths = inputs.arrays.sends;
        if let Some((rank, count)) = self.long(i, first, lengths, acts) {
            acts.send(rank, BLOCK, Part::new(Buf::InBlock(rank), 0, count));
        }
        Some(self.needs(i - first, first, lengths))
    }

    /// A non-root rank's step of a gatherv: it waits for the request, then sends its block.
    pub(crate) fn give(&self, asked: bool, block: Part, acts: &mut Acts) {
        if asked {
            acts.send(self.root, BLOCK, block);
        } else {
            acts.recv(self.root, ASK, Part::EMPTY);
        }
    }

    /// A non-root rank's step of a scatterv: it receives its block.
    pub(crate) fn take(&self, block: Part, acts: &mut Acts) {
        acts.recv(self.root, BLOCK, block);
    }

    /// The rank and length of step `i` if its block is long; else notes the next step that has one.
    fn long(&self, i: u32, first: u32, lengths: &[u64], acts: &mut Acts) -> Option<(u32, u64)> {
        let here = i - first;
        let next = (here..self.steps()).find(|&step| self.is_long(step, lengths));
        if next != Some(here) {
            acts.skip_to(first + next.unwrap_or(self.steps()));
            return None;
        }
        let rank = self.place.above(here + 1);
        Some((rank, lengths[rank as usize]))
    }

    fn is_long(&self, step: u32, lengths: &[u64]) -> bool {
        let length = lengths.get(self.place.above(step + 1) as usize);
        length.is_some_and(|&length| !self.is_short(length))
    }

    /// The steps that must be done so that at most a window of blocks is under way.
    fn needs(&self, step: u32, first: u32, lengths: &[u64]) -> u32 {
        let before = (0..step).rev().filter(|&step| self.is_long(step, lengths));
        let oldest = before.take(self.window.get() as usize).enumerate().last();
        oldest
            .filter(|&(nth, _)| nth + 1 == self.window.get() as usize)
            .map_or(0, |(_, step)| first + step + 1)
    }
}
