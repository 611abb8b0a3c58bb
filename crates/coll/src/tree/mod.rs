//! Trees that broadcast and scatter go down and reduction and gather go up.

mod knomial;
pub(crate) mod postal;
mod subtree_blocks;

pub(crate) use knomial::{Knomial, most_rounds};
pub(crate) use postal::Postal;
pub(crate) use subtree_blocks::SubtreeBlocks;

use core::ops::Range;

use crate::call::{Call, Parameters};

/// The number of levels below the root of a binomial tree: the rounds that any algorithm needs to
/// reach `size` ranks, `ceil(log2 size)`.
pub(crate) const fn levels(size: u32) -> u32 {
    if size <= 1 {
        0
    } else {
        32 - (size - 1).leading_zeros()
    }
}

/// The number of levels below the root of a tree to `radix`, `ceil(log size)` to that radix, which
/// is at least 2.
pub(crate) const fn levels_of(size: u32, radix: u32) -> u32 {
    if size <= 1 {
        0
    } else {
        1 + (size - 1).ilog(radix)
    }
}

/// A rank's message to or from a parent or a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeEdge {
    /// The other end.
    pub peer: u32,
    /// The message's tag.
    pub tag: u32,
}

/// One rank's place in a tree.
pub trait TreePlace: Copy {
    /// The place of the caller of a collective with a root.
    fn of(call: &Call, parameters: &Parameters) -> Self;

    /// The rounds in which all get one message from the root, or it gets one of each.
    fn rounds(call: &Call, parameters: &Parameters) -> u64;

    /// The most of them, whatever rank the root is.
    fn most_rounds(size: u32, parameters: &Parameters) -> u64;

    /// The rank.
    fn rank(&self) -> u32;

    /// The way to the parent; none at the root.
    fn up(&self) -> Option<TreeEdge>;

    /// The places where children may be.
    fn places(&self) -> u32;

    /// The way to the child in such a place, if there is one. A reduction goes through the places in order, a bcast from
    /// the last to the first: the last ones have room for the most ranks below them.
    fn down(&self, at: u32) -> Option<TreeEdge>;
}

/// A rank's place in a tree in which each child brings ranks that follow one another and are adjacent to those that its
/// parent holds when it has served the places before. But the root, a rank is the first of those that it holds in the end.
pub trait Subtrees: TreePlace {
    /// The ranks that this rank holds in the end: its subtree.
    fn subtree(&self) -> Range<u32>;

    /// The ranks that the child in a place holds when it hands its block over, itself among them; empty where there is
    /// no child.
    fn brought(&self, at: u32) -> Range<u32>;

    /// Whether this rank is not the root, and has no rank below it.
    fn is_leaf(&self) -> bool {
        self.up().is_some() && self.subtree().len() == 1
    }
}

#[cfg(test)]
mod tests {
    use super::{levels, levels_of};

    #[test]
    fn levels_are_the_logarithm_rounded_up() {
        let expected = [
            (1, 0),
            (2, 1),
            (3, 2),
            (4, 2),
            (5, 3),
            (8, 3),
            (9, 4),
            (u32::MAX, 32),
        ];
        for (size, rounds) in expected {
            assert_eq!(levels(size), rounds, "{size} ranks");
            assert_eq!(levels_of(size, 2), rounds, "{size} ranks");
        }
        assert_eq!([9, 10, 27, 28].map(|size| levels_of(size, 3)), [2, 3, 3, 4]);
    }
}
