//! Broadcast multirail: the vector's blocks, one per rank, go down a tree from the root, and an allgather
//! completes them.
//!
//! The tree is one of nodes, each of which is a tree of its ranks. The allgather is Bruck's algorithm between
//! nodes with as many ports as ranks, and inside the nodes.

use core::ops::Range;

use super::{NodeBruck, NodeTree, with_second_radix};
use crate::call::{Call, Parameters};
use crate::partition::run;
use crate::plan::{Act, Acts, Buf, Part, Plan, PlanInputs};
use crate::tree::{Subtrees, TreeEdge, TreePlace};

/// One rank's plan: below the root one step that receives; one for each child slot; then those of the
/// allgather, in which no rank sends to the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MultirailBcast {
    tree: NodeTree,
    gather: NodeBruck,
    root: u32,
    size: u32,
    count: u64,
}

impl MultirailBcast {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        MultirailBcast {
            tree: NodeTree::of(call, parameters),
            gather: NodeBruck::of_vector(call, &with_second_radix(parameters)),
            root: call.root,
            size: call.size,
            count: call.count,
        }
    }

    /// At most the rounds with one message at a time.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        NodeTree::rounds(call, parameters) + NodeBruck::rounds(call, &with_second_radix(parameters))
    }

    fn is_root(&self) -> bool {
        self.tree.up().is_none()
    }

    /// A part of the vector.
    fn part(&self, part: Part) -> Part {
        match self.is_root() {
            true => part.moved(Buf::Out, Buf::In, 0),
            false => part,
        }
    }

    /// The blocks of a range of ranks.
    fn blocks(&self, ranks: Range<u32>) -> Part {
        let (first, count) = run(self.count, self.size, ranks.start, ranks.end);
        self.part(Part::new(Buf::Out, first, count))
    }

    /// The number of steps before the allgather.
    fn before(&self) -> u32 {
        u32::from(!self.is_root()) + self.tree.places()
    }

    /// An act of the allgather, unless it would send the root blocks that it has.
    fn gathered(&self, act: Act) -> Option<Act> {
        match act {
            Act::Send { to, .. } if to == self.root => None,
            Act::Recv { .. } if self.is_root() => None,
            _ => Some(act.with_parts(|part| self.part(part))),
        }
    }
}

impl Plan for MultirailBcast {
    fn steps(&self) -> u32 {
        match self.count {
            0 => 0,
            _ => self.before() + self.gather.steps(),
        }
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        if let Some(i) = i.checked_sub(self.before()) {
            let mut inner = Acts::new();
            let needs = self.gather.step(i, inputs, &mut inner)?;
            let kept = inner.iter().filter_map(|&act| self.gathered(act));
            kept.for_each(|act| acts.push(act));
            return Some(self.before() + needs);
        }
        let (taken, sent) = match self.is_root() {
            true => (0, i),
            false if i == 0 => {
                let blocks = self.blocks(self.tree.subtree());
                if let Some(TreeEdge { peer, tag }) = self.tree.up().filter(|_| !blocks.is_empty())
                {
                    acts.recv(peer, tag, blocks);
                }
                return Some(0);
            }
            false => (1, i - 1),
        };
        // Serve the child with the largest subtree first.
        let at = self.tree.places() - 1 - sent;
        let blocks = self.blocks(self.tree.child_subtree(at));
        if let Some(TreeEdge { peer, tag }) = self.tree.down(at).filter(|_| !blocks.is_empty()) {
            acts.send(peer, tag, blocks);
        }
        Some(taken)
    }
}
