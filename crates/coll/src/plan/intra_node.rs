//! What the ranks of a node do together, by memory that they share.

use super::Part;
use crate::call::{Call, Collective};
use crate::placement::Placement;

/// Ranks that share the memory of a node: all those of the group there, numbered in their order. They
/// lie at equal distances, and each of them has the same team in its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeRanks {
    /// The rank with number 0.
    pub first: u32,
    /// Ranks from one number to the next.
    pub stride: u32,
    /// How many ranks there are.
    pub size: u32,
}

impl NodeRanks {
    /// The first ranks of a group.
    pub const fn of(size: u32) -> Self {
        NodeRanks {
            first: 0,
            stride: 1,
            size,
        }
    }

    /// The ranks of a node.
    pub const fn on(place: Placement, node: u32) -> Self {
        let (first, size) = (place.rank(node, 0), place.ranks_on(node));
        NodeRanks {
            first,
            stride: place.rank(node, 1) - first,
            size,
        }
    }

    /// The rank with this number.
    pub const fn rank(&self, number: u32) -> u32 {
        self.first + number * self.stride
    }

    /// The number of a rank; `None` where it does not belong to the team.
    pub fn number(&self, rank: u32) -> Option<u32> {
        let above = rank.checked_sub(self.first)?;
        let number = above.checked_div(self.stride)?;
        (above.is_multiple_of(self.stride) && number < self.size).then_some(number)
    }

    /// The same team among other peers, which lie at equal distances, too.
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

/// A collective of the ranks of a ranks: each of them does the same, and none of it is a message. What
/// is reduced is reduced in the order of their numbers.
///
/// A rank gives `from` and gets `into`; where it gives or gets nothing the part is [`Part::EMPTY`]. So
/// are, in place, what it would give and, in a scatter, what it would get; then `into` holds at the
/// start what it gives, where `from` would lie in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IntraNodeOp {
    /// Which one: see [`IntraNodeOp::is_supported`].
    pub collective: Collective,
    /// Who.
    pub ranks: NodeRanks,
    /// The root's number, where there is a root, else 0.
    pub root: u32,
    /// Elements of the vector, or of one block. Some.
    pub count: u64,
    /// Read.
    pub from: Part,
    /// Written.
    pub into: Part,
}

impl IntraNodeOp {
    /// Whether ranks of a node do such a collective together.
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

    /// Whether another rank of the team does the same.
    pub fn agrees(&self, other: &IntraNodeOp) -> bool {
        let says = |act: &IntraNodeOp| (act.collective, act.ranks, act.root, act.count);
        says(self) == says(other)
    }

    /// The number of a rank in what a team can do; `None` where it cannot, or the rank is not of the team.
    pub fn number(&self, rank: u32) -> Option<u32> {
        let NodeRanks { size, .. } = self.ranks;
        let is_one = IntraNodeOp::is_supported(self.collective)
            && size > 1
            && self.root < size
            && self.count > 0;
        self.ranks.number(rank).filter(|_| is_one)
    }

    /// The elements that the rank with this number gives, and those that it gets, if not in place.
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

    /// What the rank with this number calls, as if the team were a group: of elements of so many bytes,
    /// and by an operation whose order is kept.
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

    /// Where what the rank with this number gives begins in `into`, in place.
    pub const fn in_place(&self, number: u32) -> u64 {
        match self.collective {
            Collective::Gather | Collective::Allgather => number as u64 * self.count,
            _ => 0,
        }
    }
}
