//! Gatherv knomial: short blocks go up a k-nomial tree, long ones directly to the root.
//!
//! A block's own length decides, which its owner and the root know: up to the cutoff it travels through the
//! tree. A rank sends up the short blocks of its subtree, one after another in rank order. Nobody needs to be
//! told the lengths: a rank between root and leaves learns a message's length by a probe, and the root knows
//! all lengths. So lengths cost no round and no byte: up a binomial tree `ceil(log2 p)` rounds where all
//! blocks are short, as for blocks of one length. Traeff, "Practical, linear-time, fully distributed
//! algorithms for irregular gather and scatter", 2017 (arXiv 1702.05967), sends blocks likewise, along a tree
//! that depends on their lengths; "On optimal trees for irregular gather and scatter collectives", 2018
//! (arXiv 1711.08731).
//!
//! Long blocks would be sent again by every rank on their way; they go to the root at its request,
//! a window at a time. The cutoff and its default are those of Cray's
//! `MPICH_GATHERV_SHORT_MSG`, which goes by the average length instead, known to the root only.

use core::ops::Range;

use crate::call::{Call, Parameters};
use crate::eager::copy;
use crate::long_blocks::{LongBlocks, TREE_TAG};
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs};
use crate::tree::{self, Subtrees, TreeEdge};

/// One rank's plan for a gatherv up a tree.
///
/// The root has one step for each child slot, one that copies its own block, and then one for
/// each rank whose long block it may request. Another rank copies its own block, has two steps for each
/// child slot, which learn a length and receive, one that sends to the parent, and two for a long block: wait
/// for the request, and send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GathervTree<T> {
    place: T,
    direct: LongBlocks,
    /// Elements of this rank's own block.
    own: u64,
    in_place: bool,
}

/// Up a k-nomial tree.
pub(crate) type GathervKnomial = GathervTree<tree::KnomialPlace>;

impl<T: Subtrees> GathervTree<T> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        GathervTree {
            place: T::of(call, parameters),
            direct: LongBlocks::of(call, parameters),
            own: call.count,
            in_place: call.in_place,
        }
    }

    /// Whether this rank's own block goes through the tree.
    const fn is_short(&self) -> bool {
        self.direct.is_short(self.own)
    }

    /// Elements of this rank's own block in what it sends up.
    const fn share(&self) -> u64 {
        if self.is_short() { self.own } else { 0 }
    }

    /// Elements received from child slots below `n`; `None` while they are not known.
    fn gathered(&self, inputs: &PlanInputs<'_>, n: u32) -> Option<u64> {
        let mut sum = self.share();
        for n in 0..n {
            if self.place.down(n).is_some() {
                sum += inputs.learned.get(n as u8)?;
            }
        }
        Some(sum)
    }

    /// The root's step.
    fn collect(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let children = self.place.places();
        if i < children {
            if let Some(child) = self.place.down(i) {
                let short = self.short(inputs, self.place.child_subtree(i));
                if !short.is_empty() {
                    acts.recv(child.peer, TREE_TAG, short);
                }
            }
            return Some(0);
        }
        if i == children {
            if !self.in_place {
                let block = Part::new(Buf::OutBlock(self.direct.root()), 0, self.own);
                copy(acts, Part::new(Buf::In, 0, self.own), block);
            }
            return Some(0);
        }
        self.direct.collect(i, children + 1, inputs, acts)
    }

    /// The place of the short blocks of a range of ranks.
    fn short(&self, inputs: &PlanInputs<'_>, ranks: Range<u32>) -> Part {
        self.direct
            .short(Buf::OutBlock(ranks.start), inputs.arrays.recvs, ranks)
    }

    /// A step of a rank other than the root.
    fn send_to_parent(
        &self,
        i: u32,
        parent: u32,
        inputs: &PlanInputs<'_>,
        acts: &mut Acts,
    ) -> Option<u32> {
        let children = self.place.places();
        let own = Part::new(Buf::In, 0, self.own);
        if i == 0 {
            if self.is_short() && !self.place.is_leaf() {
                copy(acts, own, Part::new(Buf::Scratch, 0, self.own));
            }
            return Some(0);
        }
        let (n, learned) = ((i - 1) / 2, i.is_multiple_of(2));
        if n < children {
            let Some(TreeEdge { peer: child, .. }) = self.place.down(n) else {
                return Some(0);
            };
            if !learned {
                acts.size(child, TREE_TAG, n as u8);
                return Some(0);
            }
            let (first, end) = (self.gathered(inputs, n)?, self.gathered(inputs, n + 1)?);
            acts.recv(child, TREE_TAG, message(Buf::Scratch, first, end - first));
            return Some(i);
        }
        if i == 1 + 2 * children {
            let buf = if self.place.is_leaf() {
                Buf::In
            } else {
                Buf::Scratch
            };
            let total = self.gathered(inputs, children)?;
            if total > 0 || parent != self.direct.root() {
                acts.send(parent, TREE_TAG, message(buf, 0, total));
            }
            return Some(i);
        }
        self.direct.give(i == self.steps() - 1, own, acts);
        Some(i)
    }
}

/// `count` elements, or an empty message.
const fn message(buf: Buf, first: u64, count: u64) -> Part {
    if count == 0 {
        Part::EMPTY
    } else {
        Part::new(buf, first, count)
    }
}

impl<T: Subtrees> Plan for GathervTree<T> {
    fn steps(&self) -> u32 {
        match self.place.up() {
            None => self.place.places() + 1 + self.direct.steps(),
            Some(_) if self.is_short() => 2 + 2 * self.place.places(),
            Some(_) => 2 + 2 * self.place.places() + 2,
        }
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        if self.place.up().is_none() || self.place.is_leaf() {
            return 0;
        }
        let gathered = (0..=self.place.places()).map_while(|n| self.gathered(inputs, n));
        gathered.last().unwrap_or(0)
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        match self.place.up() {
            None => self.collect(i, inputs, acts),
            Some(TreeEdge { peer: parent, .. }) => self.send_to_parent(i, parent, inputs, acts),
        }
    }
}
