//! Gather up a k-nomial tree: `ceil(log2 p)` rounds with radix 2, the minimum, and no more
//! than `(p - 1)` blocks into the root, which is the least as well.
//!
//! What a rank gathers from its subtree is consecutive, whatever the root. So the root receives
//! every message where it belongs, and a rank between root and leaves needs room for its subtree
//! and nothing else. A larger radix takes fewer levels with more messages each: fewer times
//! latency, where a rank can receive several messages at a time.

use crate::call::{Call, Parameters};
use crate::phase::phase;
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs};
use crate::tree::{SubtreeBlocks, Subtrees, TreeEdge, TreePlace};

/// One rank's plan for a k-nomial gather. One step for each child slot, then one that copies the
/// rank's own block, then one that sends to the parent; a leaf only sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GatherKnomial {
    subtree: SubtreeBlocks,
}

impl GatherKnomial {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        GatherKnomial {
            subtree: SubtreeBlocks::of(call, parameters),
        }
    }

    /// The first of the blocks that this rank gathers, which it keeps in scratch if it is neither
    /// root nor leaf.
    pub(crate) fn first(&self) -> u32 {
        self.subtree.first()
    }

    fn input(&self) -> Part {
        Part::new(Buf::In, 0, self.subtree.count)
    }
}

impl Plan for GatherKnomial {
    fn steps(&self) -> u32 {
        self.subtree.steps()
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        self.subtree.scratch()
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let SubtreeBlocks { place, .. } = &self.subtree;
        let receives = place.places();
        match place.up() {
            Some(TreeEdge { peer, tag }) if place.is_leaf() => acts.send(peer, tag, self.input()),
            _ if i < receives => {
                if let Some(TreeEdge { peer, tag }) = place.down(i) {
                    acts.recv(
                        peer,
                        tag,
                        self.subtree.part(Buf::Out, place.child_subtree(i)),
                    );
                }
            }
            Some(TreeEdge { peer, tag }) if i > receives => {
                acts.send(peer, tag, self.subtree.part(Buf::Out, place.subtree()));
                return Some(i);
            }
            _ => acts.copy(self.input(), self.subtree.own(Buf::Out)),
        }
        Some(0)
    }
}

phase!(GatherKnomial);
