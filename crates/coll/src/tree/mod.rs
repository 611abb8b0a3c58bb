//! Trees of ranks, for broadcast and scatter (downwards) and reduction and gather (upwards).

mod knomial;
pub(crate) mod postal;
mod subtree_blocks;

pub(crate) use knomial::{KnomialPlace, most_rounds};
pub(crate) use postal::PostalPlace;
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
pub(crate) struct TreeEdge {
    /// The other end.
    pub peer: u32,
    /// The message's tag.
    pub tag: u32,
}

/// One rank's position in a tree.
pub(crate) trait TreePlace: Copy {
    /// The position of the caller of a rooted collective.
    fn of(call: &Call, parameters: &Parameters) -> Self;

    /// The rounds of a broadcast or a gather over the tree.
    fn rounds(call: &Call, parameters: &Parameters) -> u64;

    /// At most these rounds, whichever rank is the root.
    fn most_rounds(size: u32, parameters: &Parameters) -> u64;

    /// The rank.
    fn rank(&self) -> u32;

    /// The edge to the parent; `None` at the root.
    fn up(&self) -> Option<TreeEdge>;

    /// The number of child slots; a slot may be empty.
    fn places(&self) -> u32;

    /// The edge to the child in slot `at`, if any. A reduction serves the slots in order, a broadcast in
    /// reverse: later slots may have more ranks below them.
    fn down(&self, at: u32) -> Option<TreeEdge>;
}

/// A position in a tree in which every subtree is a range of ranks, adjacent to the ranks that the parent
/// holds after the slots before. Except at the root, a rank is the first of its subtree.
pub(crate) trait Subtrees: TreePlace {
    /// The ranks of this rank's subtree.
    fn subtree(&self) -> Range<u32>;

    /// The ranks of the subtree of the child in slot `at`; empty for an empty slot.
    fn child_subtree(&self, at: u32) -> Range<u32>;

    /// Whether this rank is not the root and has no children.
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
