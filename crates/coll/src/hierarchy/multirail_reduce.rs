//! Reduce multirail: a reduce-scatter of the vector's blocks, one per rank, which then go up a tree to the
//! root.
//!
//! The reduce-scatter is Bruck's algorithm between nodes with as many ports as ranks, and inside the nodes.
//! The tree is one of nodes, each of which is a tree of its ranks. Each element is reduced once, and all
//! ranks reduce the same number.

use core::ops::Range;

use super::{NodeReduceScatter, NodeTree, with_second_radix};
use crate::call::{Call, Parameters};
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs};
use crate::tree::{Subtrees, TreeEdge, TreePlace};

/// One rank's plan: the steps of the reduce-scatter; then one for each child slot, and one that sends to the
/// parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MultirailReduce {
    scatter: NodeReduceScatter,
    tree: NodeTree,
    /// Where in scratch a rank other than the root keeps the blocks of its subtree.
    kept: u64,
}

impl MultirailReduce {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let scatter = NodeReduceScatter::of_vector(call, parameters);
        MultirailReduce {
            scatter,
            tree: NodeTree::of(call, &with_second_radix(parameters)),
            kept: scatter.scratch(&PlanInputs::NOTHING),
        }
    }

    /// At most the rounds with one message at a time.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let gathered = NodeTree::rounds(call, &with_second_radix(parameters));
        NodeReduceScatter::rounds(call, parameters) + gathered
    }

    /// The place of a part of the vector while it is gathered.
    fn gathered(&self, part: Part) -> Part {
        match self.tree.up() {
            Some(_) if part.buf == Buf::Out && !part.is_empty() => Part {
                buf: Buf::Scratch,
                first: self.kept + part.first - self.scatter.blocks(&self.tree.subtree()).0,
                ..part
            },
            _ => part,
        }
    }

    /// The blocks of a range of ranks.
    fn blocks(&self, ranks: Range<u32>) -> Part {
        let (first, count) = self.scatter.blocks(&ranks);
        self.gathered(Part::new(Buf::Out, first, count))
    }
}

impl Plan for MultirailReduce {
    fn steps(&self) -> u32 {
        match self.scatter.count() {
            0 => 0,
            _ => self.scatter.steps() + self.tree.places() + u32::from(self.tree.up().is_some()),
        }
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        match self.tree.up() {
            Some(_) => self.kept + self.blocks(self.tree.subtree()).len(),
            None => self.kept,
        }
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let scattered = self.scatter.steps();
        let Some(at) = i.checked_sub(scattered) else {
            let needs = self.scatter.step(i, inputs, acts)?;
            acts.rename(|act| act.with_parts(|part| self.gathered(part)));
            return Some(needs);
        };
        if at < self.tree.places() {
            let blocks = self.blocks(self.tree.child_subtree(at));
            if let Some(TreeEdge { peer, tag }) = self.tree.down(at).filter(|_| !blocks.is_empty())
            {
                acts.recv(peer, tag, blocks);
            }
            return Some(scattered);
        }
        let blocks = self.blocks(self.tree.subtree());
        if let Some(TreeEdge { peer, tag }) = self.tree.up().filter(|_| !blocks.is_empty()) {
            acts.send(peer, tag, blocks);
        }
        Some(i)
    }
}
