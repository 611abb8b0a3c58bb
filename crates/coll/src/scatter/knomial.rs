//! Scatter down a k-nomial tree: `ceil(log2 p)` rounds with radix 2, the minimum, and no
//! more than `(p - 1)` blocks out of the root, which is the least as well.
//!
//! The blocks of a subtree are consecutive, whatever the root. So the root sends every message from
//! where it lies, and a rank between root and leaves needs room for its subtree and nothing else.
//! The child with the largest subtree comes first, since that one has the longest way to go.

use core::ops::Range;

use crate::call::{Call, Parameters};
use crate::phase::Phase;
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs};
use crate::tree::{SubtreeBlocks, Subtrees, TreeEdge, TreePlace};

/// One rank's plan for a k-nomial scatter. Below the root, step 0 receives; then one step for each
/// child slot, and one that copies the rank's own block; a leaf only receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knomial {
    subtree: SubtreeBlocks,
    in_place: bool,
}

impl Knomial {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        Knomial {
            subtree: SubtreeBlocks::of(call, parameters),
            in_place: call.in_place,
        }
    }

    /// The first of the blocks that this rank hands out, which it keeps in scratch if it is neither
    /// root nor leaf.
    pub(crate) fn first(&self) -> u32 {
        self.subtree.first()
    }

    /// The ranks whose blocks come to a rank.
    pub(crate) fn subtree(&self, rank: u32) -> Range<u32> {
        self.subtree.place.at(rank).subtree()
    }

    fn output(&self) -> Part {
        Part::new(Buf::Out, 0, self.subtree.count)
    }

    /// Sends to child slot `n`, the one that may have the most ranks below it first, or copies this rank's
    /// own block.
    fn hand_out(&self, n: u32, acts: &mut Acts) {
        let place = &self.subtree.place;
        if n == place.places() {
            acts.copy(self.subtree.own(Buf::In), self.output());
            return;
        }
        let at = place.scatter_slot(n);
        if let Some(TreeEdge { peer, tag }) = place.down(at) {
            acts.send(
                peer,
                tag,
                self.subtree.part(Buf::In, place.child_subtree(at)),
            );
        }
    }
}

impl Plan for Knomial {
    fn steps(&self) -> u32 {
        let place = &self.subtree.place;
        match place.parent() {
            _ if self.subtree.count == 0 => 0,
            None => place.places() + u32::from(!self.in_place),
            Some(_) if place.is_leaf() => 1,
            Some(_) => 1 + place.places() + 1,
        }
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        self.subtree.scratch()
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let place = &self.subtree.place;
        let Some(TreeEdge { peer, tag }) = place.up() else {
            self.hand_out(i, acts);
            return Some(0);
        };
        if i == 0 {
            let whole = if place.is_leaf() {
                self.output()
            } else {
                self.subtree.part(Buf::In, place.subtree())
            };
            acts.recv(peer, tag, whole);
            return Some(0);
        }
        self.hand_out(i - 1, acts);
        Some(1)
    }
}

impl Phase for Knomial {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        Knomial::of(call, parameters)
    }

    fn first_kept(&self) -> u32 {
        self.first()
    }

    fn subtree_of(&self, rank: u32) -> Range<u32> {
        self.subtree(rank)
    }
}
