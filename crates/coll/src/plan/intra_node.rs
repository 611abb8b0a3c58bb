//! Operations of the ranks of a node over the memory that they share.

use super::Part;
use crate::call::{Call, Collective};

/// All ranks of the group on one node, numbered in rank order; the same value in the plan of each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeRanks {
    /// The rank with local number 0, which tells the nodes apart.
    pub first: u32,
    /// The number of ranks.
    pub size: u32,
}

impl NodeRanks {
    /// The first `size` ranks of a group.
    pub const fn of(size: u32) -> Self {
        NodeRanks { first: 0, size }
    }
}

/// A collective among the ranks of one node, over shared memory and without messages; the same act on each
/// of them but for its number and parts. Reductions go in the order of local numbers.
///
/// A rank reads `from` and writes `into`; a part that it does not use is [`Part::EMPTY`]. In place, the
/// input part is empty and `into` holds the input at the start, where `from` would lie in place; in a
/// scatter, the root's output part is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IntraNodeOp {
    /// The collective; see [`IntraNodeOp::is_supported`].
    pub collective: Collective,
    /// The ranks.
    pub ranks: NodeRanks,
    /// This rank's local number.
    pub number: u32,
    /// The root's local number, or 0 without a root.
    pub root: u32,
    /// Elements of the vector or of one block; at least 1.
    pub count: u64,
    /// The input.
    pub from: Part,
    /// The output.
    pub into: Part,
}

impl IntraNodeOp {
    /// Whether the collective exists as an intra-node operation.
    pub const fn is_supported(collective: Collective) -> bool {
        matches!(
            collective,
            Collective::Bcast
                | Collective::Scatter
                | Collective::Gather
                | Collective::Allgather
                | Collective::Alltoall
                | Collective::Reduce
                | Collective::Allreduce
                | Collective::ReduceScatterBlock
        )
    }

    /// Whether another rank of the node does the same operation.
    pub fn agrees(&self, other: &IntraNodeOp) -> bool {
        let says = |act: &IntraNodeOp| (act.collective, act.ranks, act.root, act.count);
        says(self) == says(other)
    }

    /// Whether the operation exists, and rank and root are among its ranks.
    pub const fn is_well_formed(&self) -> bool {
        let NodeRanks { size, .. } = self.ranks;
        let are_members = self.root < size && self.number < size;
        IntraNodeOp::is_supported(self.collective) && size > 1 && are_members && self.count > 0
    }

    /// The elements of this rank's input and output, if not in place.
    pub const fn lengths(&self) -> [u64; 2] {
        let (one, all) = (self.count, self.count * self.ranks.size as u64);
        let is_root = self.number == self.root;
        match self.collective {
            Collective::Bcast if is_root => [one, 0],
            Collective::Bcast => [0, one],
            Collective::Scatter if is_root => [all, one],
            Collective::Scatter => [0, one],
            Collective::Gather if is_root => [one, all],
            Collective::Gather | Collective::Reduce if !is_root => [one, 0],
            Collective::Allgather => [one, all],
            Collective::Alltoall => [all, all],
            Collective::Reduce | Collective::Allreduce => [one, one],
            Collective::ReduceScatterBlock => [all, one],
            _ => [0, 0],
        }
    }

    /// This rank's equivalent call, with the node's ranks as the group. The operation counts as not commutative.
    pub const fn call(&self, element_bytes: u64) -> Call {
        let at_root = matches!(self.collective, Collective::Scatter);
        let missing = if at_root { &self.into } else { &self.from };
        let gives = self.lengths()[at_root as usize] > 0;
        Call {
            collective: self.collective,
            root: self.root,
            count: self.count,
            element_bytes,
            commutative: false,
            in_place: gives && missing.is_empty(),
            ..Call::barrier(self.number, self.ranks.size)
        }
    }

    /// The offset of the input in `into`, in place.
    pub const fn in_place(&self) -> u64 {
        match self.collective {
            Collective::Gather | Collective::Allgather => self.number as u64 * self.count,
            _ => 0,
        }
    }
}
