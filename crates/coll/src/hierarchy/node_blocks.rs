//! Gather and scatter between leaders: the blocks of a node's ranks as one block of the node.

use super::{NodeLeaders, one_after_another};
use crate::call::{Call, Parameters};
use crate::plan::{Act, Buf, Part};

/// The blocks of all ranks, grouped by node. Nodes are filled in blocks. The last node's block is shorter
/// where that node is not full, so a plan for equal blocks is cut off at the end of the last block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeBlocks {
    nodes: NodeLeaders,
    is_root: bool,
    /// Elements of one rank's block, of a full node's block and of all blocks.
    count: u64,
    longest: u64,
    all: u64,
}

impl NodeBlocks {
    pub(super) fn of(call: &Call, parameters: &Parameters) -> Self {
        let place = one_after_another(call, parameters);
        NodeBlocks {
            nodes: NodeLeaders::at(place, call),
            is_root: call.rank == call.root,
            count: call.count,
            longest: u64::from(place.per_node().min(place.size())) * call.count,
            all: u64::from(place.size()) * call.count,
        }
    }

    pub(super) const fn nodes(&self) -> NodeLeaders {
        self.nodes
    }

    /// Elements of a full node's block.
    pub(super) const fn longest(&self) -> u64 {
        self.longest
    }

    pub(super) const fn are_at_root(&self) -> bool {
        self.is_root
    }

    /// The elements at the start of scratch in which a leader other than the root keeps the block of its
    /// node.
    pub(super) fn kept(&self) -> u64 {
        match self.nodes.leads() && !self.is_root {
            true => u64::from(self.nodes.ranks()) * self.count,
            false => 0,
        }
    }

    /// An act inside the node, whose leader has the blocks of its node in the buffer `of_node`.
    pub(super) fn within(&self, act: Act, of_node: Buf) -> Act {
        let act = self.nodes.inside(act);
        match self.nodes.leads() {
            true => act.with_parts(|part| self.own(part, of_node)),
            false => act,
        }
    }

    /// Where a leader has a part of the buffer `of_node`, which holds its node's block.
    fn own(&self, part: Part, of_node: Buf) -> Part {
        let before = u64::from(self.nodes.node()) * self.longest;
        match self.is_root {
            true => part.moved(of_node, of_node, before),
            false if part.buf == of_node => part.moved(of_node, Buf::Scratch, 0),
            false => part.moved(Buf::Scratch, Buf::Scratch, self.kept()),
        }
    }

    /// An act between leaders on the blocks of nodes; blocks from number `stock` on are in scratch, and this
    /// node's block is in the buffer `of_node`.
    pub(super) fn across(&self, act: Act, of_node: Buf, stock: u32) -> Act {
        let node = self.nodes.node();
        act.with_parts(|part| {
            let before = match part.buf {
                Buf::Scratch => stock,
                buf if buf == of_node => node,
                _ => 0,
            };
            let place = u64::from(before) * self.longest + part.first;
            let count = part.count.min(self.all.saturating_sub(place));
            let part = Part { count, ..part };
            match part.buf {
                Buf::Scratch => part.moved(Buf::Scratch, Buf::Scratch, self.kept()),
                _ if self.is_root => part,
                _ => part.moved(of_node, Buf::Scratch, 0),
            }
        })
    }
}
