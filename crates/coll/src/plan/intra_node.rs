//! Operations of the ranks of a node over the memory that they share.

use super::Part;
use crate::call::{Call, Collective};
use crate::placement::Placement;

/// All ranks of the group on one node, numbered in rank order at equal distances; the same value in the plan
/// of each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeRanks {
    /// The rank with local number 0.
    pub first: u32,
    /// The distance between consecutive local numbers.
    pub stride: u32,
    /// The number of ranks.
    pub size: u32,
}

impl NodeRanks {
    /// The first `size` ranks of a group.
    pub const fn of(size: u32) -> Self {
        NodeRanks {
            first: 0,
            stride: 1,
            size,
        }
    }

    /// The ranks of a node of the placement.
    pub const fn on(place: Placement, node: u32) -> Self {
        let (first, size) = (place.rank(node, 0), place.ranks_on(node));
        NodeRanks {
            first,
            stride: place.rank(node, 1) - first,
            size,
        }
    }

    /// The rank with this local number.
    pub const fn rank(&self, number: u32) -> u32 {
        self.first + number * self.stride
    }

    /// The local number of a rank; `None` for ranks elsewhere.
    pub fn number(&self, rank: u32) -> Option<u32> {
        let above = rank.checked_sub(self.first)?;
        let number = above.checked_div(self.stride)?;
        (above.is_multiple_of(self.stride) && number < self.size).then_some(number)
    }

    /// The same ranks under other peer numbers, which are at equal distances, too.
    pub(crate) fn with_peers(self, peer: impl Fn(u32) -> u32) -> Self {
        let first = peer(self.first);
        let stride = match self.size {
            0 | 1 => 1,
            _ => peer(self.rank(1)) - first,
        };
        NodeRanks {
            first,
            stride,
            ..self
        }
    }
}

/// A collective among the ranks of one node, over shared memory and without messages; the same act on each
/// of them. Reductions go in the order of local numbers.
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

    /// The local number of a rank in a well-formed operation; `None` if the operation is malformed or the
    /// rank is on another node.
    pub fn number(&self, rank: u32) -> Option<u32> {
        let NodeRanks { size, .. } = self.ranks;
        let is_one = IntraNodeOp::is_supported(self.collective)
            && size > 1
            && self.root < size
            && self.count > 0;
        self.ranks.number(rank).filter(|_| is_one)
    }

    /// The elements of input and output of the rank with this local number, if not in place.
    pub const fn lengths(&self, number: u32) -> [u64; 2] {
        let (one, all) = (self.count, self.count * self.ranks.size as u64);
        let is_root = number == self.root;
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

    /// The equivalent call of the rank with this local number, with the node's ranks as the group. The
    /// operation counts as not commutative.
    pub const fn call(&self, number: u32, element_bytes: u64) -> Call {
        let at_root = matches!(self.collective, Collective::Scatter);
        let missing = if at_root { &self.into } else { &self.from };
        let gives = self.lengths(number)[at_root as usize] > 0;
        Call {
            collective: self.collective,
            root: self.root,
            count: self.count,
            element_bytes,
            commutative: false,
            in_place: gives && missing.is_empty(),
            ..Call::barrier(number, self.ranks.size)
        }
    }

    /// The offset of the input in `into` for the rank with this local number, in place.
    pub const fn in_place(&self, number: u32) -> u64 {
        match self.collective {
            Collective::Gather | Collective::Allgather => number as u64 * self.count,
            _ => 0,
        }
    }
}
