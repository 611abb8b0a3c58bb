//! k-nomial trees over aligned blocks of ranks.
//!
//! At level `l` of a tree with radix `k` the ranks are cut into blocks of `k^l`. One rank holds
//! each block: the root where the block contains it, else the block's lowest rank. `k` neighbouring
//! blocks form one block of the next level, and the holders that do not hold the larger block are
//! the children of the one that does. So every child's subtree is a range of ranks adjacent to
//! its parent's, whatever the root: a reduction keeps the rank order without an extra
//! message, its result does not depend on the root, and a gathered subtree is consecutive.

use core::ops::Range;

use super::{Subtrees, TreeEdge, TreePlace, levels_of};
use crate::call::{Call, Parameters};

/// An upper bound of the rounds that a tree of `size` ranks with this radix takes.
pub(crate) fn most_rounds(size: u32, radix: u32) -> u64 {
    u64::from(radix - 1) * u64::from(levels_of(size, radix))
}

/// One rank's place in a k-nomial tree: its parent, its children and their subtrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knomial {
    rank: u32,
    size: u32,
    root: u32,
    radix: u32,
    /// The level of the largest block that the rank holds; this block is the rank's subtree.
    top: u32,
}

impl Knomial {
    /// The place of `rank` among `size` ranks under `root`; both are below `size`. A radix below 2
    /// counts as 2.
    pub(crate) fn new(rank: u32, size: u32, root: u32, radix: u32) -> Self {
        let radix = radix.max(2);
        let mut place = Knomial {
            rank,
            size,
            root,
            radix,
            top: levels_of(size, radix),
        };
        let has_other_holder_above =
            |level: &u32| place.holder(level + 1, place.block(rank, level + 1)) != rank;
        if let Some(top) = (0..place.top).find(has_other_holder_above) {
            place.top = top;
        }
        place
    }

    /// Another rank's place in the same tree.
    pub(crate) fn at(&self, rank: u32) -> Self {
        Knomial::new(rank, self.size, self.root, self.radix)
    }

    /// The parent; none at the root.
    pub(crate) fn parent(&self) -> Option<u32> {
        let above = self.top + 1;
        (self.rank != self.root).then(|| self.holder(above, self.block(self.rank, above)))
    }

    /// The slot of the child that a scatter sends to as its `n`-th: the highest level first, and within a level the
    /// last block, which may be partial, last.
    pub(crate) const fn scatter_slot(&self, n: u32) -> u32 {
        let (levels, sibling) = (n / self.siblings(), n % self.siblings());
        (self.top - 1 - levels) * self.siblings() + sibling
    }

    /// The rounds that a message takes from this rank to its whole subtree, with one send a round. Of the children's
    /// subtrees of one level, all but one are full and take the same number of rounds.
    fn rounds_below(&self) -> u32 {
        let (mut sent, mut rounds) = (0, 0);
        for at in (0..self.places()).rev() {
            let Some(TreeEdge { peer, tag: level }) = self.down(at) else {
                continue;
            };
            sent += 1;
            let below = if self.child_subtree(at).len() as u64 == self.weight(level) {
                level * self.siblings()
            } else {
                self.at(peer).rounds_below()
            };
            rounds = rounds.max(sent + below);
        }
        rounds
    }

    /// The most children that a rank has at one level.
    const fn siblings(&self) -> u32 {
        self.radix - 1
    }

    /// The level of a slot, and the block there that the child in that slot holds.
    ///
    /// Within a level, the blocks below this rank's own come first, from high to low, then those above it,
    /// from low to high: each is adjacent to the ones before it.
    fn sibling(&self, at: u32) -> (u32, u64) {
        let (level, n) = (at / self.siblings(), u64::from(at % self.siblings()));
        let radix = u64::from(self.radix);
        let own = self.block(self.rank, level);
        let (family, place) = (own - own % radix, own % radix);
        (
            level,
            family + if n < place { place - 1 - n } else { n + 1 },
        )
    }

    /// The ranks of a block; none where it lies beyond the group.
    fn ranks(&self, level: u32, block: u64) -> Range<u32> {
        let (weight, size) = (self.weight(level), u64::from(self.size));
        let first = (block * weight).min(size);
        first as u32..(first + weight).min(size) as u32
    }

    /// The ranks in a block of `level`.
    fn weight(&self, level: u32) -> u64 {
        u64::from(self.radix).pow(level)
    }

    /// The block of `level` that contains `rank`.
    fn block(&self, rank: u32, level: u32) -> u64 {
        u64::from(rank) / self.weight(level)
    }

    /// The rank that holds the block. It is below the group's size when the block is not empty.
    fn holder(&self, level: u32, block: u64) -> u32 {
        if self.block(self.root, level) == block {
            self.root
        } else {
            (block * self.weight(level)) as u32
        }
    }
}

impl TreePlace for Knomial {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        Knomial::new(call.rank, call.size, call.root, parameters.radix)
    }

    fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let root = Knomial::new(call.root, call.size, call.root, parameters.radix);
        root.rounds_below().into()
    }

    fn most_rounds(size: u32, parameters: &Parameters) -> u64 {
        most_rounds(size, parameters.radix)
    }

    fn rank(&self) -> u32 {
        self.rank
    }

    fn up(&self) -> Option<TreeEdge> {
        let tag = self.top;
        self.parent().map(|peer| TreeEdge { peer, tag })
    }

    fn places(&self) -> u32 {
        self.top * self.siblings()
    }

    fn down(&self, at: u32) -> Option<TreeEdge> {
        let (tag, sibling) = self.sibling(at);
        let exists = sibling * self.weight(tag) < u64::from(self.size);
        exists.then(|| TreeEdge {
            peer: self.holder(tag, sibling),
            tag,
        })
    }
}

impl Subtrees for Knomial {
    fn subtree(&self) -> Range<u32> {
        self.ranks(self.top, self.block(self.rank, self.top))
    }

    fn child_subtree(&self, at: u32) -> Range<u32> {
        let (level, sibling) = self.sibling(at);
        self.ranks(level, sibling)
    }
}

#[cfg(test)]
mod tests {
    use super::Knomial;
    use crate::tree::{Subtrees, TreePlace};

    #[test]
    fn every_child_knows_its_parent_and_brings_what_lies_next_to_its_parent_s_ranks() {
        for (size, radix) in (1..=70).flat_map(|size| [2, 3, 4, 8].map(|radix| (size, radix))) {
            for root in 0..size {
                let place = |rank| Knomial::new(rank, size, root, radix);
                let mut children = 0;
                for rank in 0..size {
                    let mut held = rank..rank + 1;
                    for at in 0..place(rank).places() {
                        let brought = place(rank).child_subtree(at);
                        let Some(edge) = place(rank).down(at) else {
                            assert!(brought.is_empty());
                            continue;
                        };
                        let child = place(edge.peer);
                        let up = child.up().expect("a parent");
                        assert_eq!((up.peer, up.tag), (rank, edge.tag));
                        assert_eq!(child.subtree(), brought);
                        assert!(brought.start == held.end || brought.end == held.start);
                        held = held.start.min(brought.start)..held.end.max(brought.end);
                        children += 1;
                    }
                    assert_eq!(held, place(rank).subtree());
                }
                assert_eq!(children, size - 1);
                assert_eq!(place(root).parent(), None);
            }
        }
    }

    #[test]
    fn the_largest_group_does_not_overflow() {
        let place = Knomial::new(u32::MAX - 1, u32::MAX, 0, 2);
        assert_eq!(place.places(), 1);
        assert_eq!(place.down(0), None);
        assert_eq!(place.parent(), Some(u32::MAX - 3));
        let place = Knomial::new(0, u32::MAX, 0, u32::MAX);
        assert_eq!(place.places(), u32::MAX - 1);
        assert_eq!(place.down(0).map(|edge| edge.peer), Some(1));
    }
}
