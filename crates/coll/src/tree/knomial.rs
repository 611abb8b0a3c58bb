//! The trees over aligned blocks of ranks.
//!
//! At level `l` of the tree to radix `k` the ranks are cut into blocks of `k^l`. One rank holds
//! each block: the root where the block contains it, else the block's lowest rank. `k` neighbouring
//! blocks make one block of the next level, and the holders that do not hold the larger block are
//! the children of the one that does. So every child brings a range of ranks that is adjacent to
//! its parent's, whatever the root: a reduction keeps the order of the ranks without an extra
//! message, its result does not depend on the root, and what a rank gathers from its subtree is
//! consecutive.

use core::ops::Range;

use super::{Edge, Place, levels_of};
use crate::catalog::{Call, Parameters};

/// The rounds that a tree to a radix takes at most.
pub(crate) fn most_rounds(size: u32, radix: u32) -> u64 {
    u64::from(radix - 1) * u64::from(levels_of(size, radix))
}

/// One rank's place in the tree to a radix of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knomial {
    rank: u32,
    size: u32,
    root: u32,
    radix: u32,
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
        let held = |level: &u32| place.holder(level + 1, place.block(rank, level + 1)) != rank;
        if let Some(top) = (0..place.top).find(held) {
            place.top = top;
        }
        place
    }

    /// Another rank's place in the same tree.
    pub(crate) fn at(&self, rank: u32) -> Self {
        Knomial::new(rank, self.size, self.root, self.radix)
    }

    /// The levels below this one may bring children; this one leads to the parent. At the root, the
    /// number of levels.
    pub(crate) const fn top(&self) -> u32 {
        self.top
    }

    /// The parent; none at the root.
    pub(crate) fn parent(&self) -> Option<u32> {
        let above = self.top + 1;
        (self.rank != self.root).then(|| self.holder(above, self.block(self.rank, above)))
    }

    /// The most children that a level may bring; they are numbered from 0.
    pub(crate) const fn siblings(&self) -> u32 {
        self.radix - 1
    }

    /// Child `n` that hands its block over at `level`, below [`Knomial::top`]; none where its block
    /// is empty.
    ///
    /// First come the blocks below this rank's own, from high to low, then those above it, from low
    /// to high: each is adjacent to what came before it.
    pub(crate) fn child(&self, level: u32, n: u32) -> Option<u32> {
        let sibling = self.sibling(level, n);
        let exists = sibling * self.weight(level) < u64::from(self.size);
        exists.then(|| self.holder(level, sibling))
    }

    /// The ranks that child `n` of `level` holds at that level, itself among them; empty where there
    /// is no such child.
    pub(crate) fn brought(&self, level: u32, n: u32) -> Range<u32> {
        self.ranks(level, self.sibling(level, n))
    }

    /// The ranks that this rank holds in the end: its subtree.
    pub(crate) fn subtree(&self) -> Range<u32> {
        self.ranks(self.top, self.block(self.rank, self.top))
    }

    /// The rounds from when this rank has a message to when its whole subtree has it. Of the children's subtrees of one
    /// level all but one are whole, and take as many rounds as each other.
    fn rounds_below(&self) -> u32 {
        let (mut sent, mut rounds) = (0, 0);
        for level in (0..self.top()).rev() {
            for n in (0..self.siblings()).rev() {
                let Some(child) = self.child(level, n) else {
                    continue;
                };
                sent += 1;
                let below = if self.brought(level, n).len() as u64 == self.weight(level) {
                    level * self.siblings()
                } else {
                    self.at(child).rounds_below()
                };
                rounds = rounds.max(sent + below);
            }
        }
        rounds
    }

    /// The block that stands beside this rank's own at `level` as number `n`.
    fn sibling(&self, level: u32, n: u32) -> u64 {
        let radix = u64::from(self.radix);
        let own = self.block(self.rank, level);
        let (family, place) = (own - own % radix, own % radix);
        let n = u64::from(n);
        family + if n < place { place - 1 - n } else { n + 1 }
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

impl Place for Knomial {
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

    fn up(&self) -> Option<Edge> {
        let tag = self.top;
        self.parent().map(|peer| Edge { peer, tag })
    }

    fn places(&self) -> u32 {
        self.top * self.siblings()
    }

    fn down(&self, at: u32) -> Option<Edge> {
        let (tag, n) = (at / self.siblings(), at % self.siblings());
        self.child(tag, n).map(|peer| Edge { peer, tag })
    }
}

/// One rank's place in the tree to radix 2: each level brings one child at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Binomial(Knomial);

impl Binomial {
    /// The place of `rank` among `size` ranks under `root`; both are below `size`.
    pub(crate) fn new(rank: u32, size: u32, root: u32) -> Self {
        Binomial(Knomial::new(rank, size, root, 2))
    }

    /// As [`Knomial::top`].
    pub(crate) const fn top(&self) -> u32 {
        self.0.top()
    }

    /// The parent; none at the root.
    pub(crate) fn parent(&self) -> Option<u32> {
        self.0.parent()
    }

    /// The child that hands its block over at `level`, below [`Binomial::top`]; none where the
    /// sibling block is empty.
    pub(crate) fn child(&self, level: u32) -> Option<u32> {
        self.0.child(level, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Binomial, Knomial};

    #[test]
    fn every_child_knows_its_parent_and_brings_what_lies_next_to_its_parent_s_ranks() {
        for (size, radix) in (1..=70).flat_map(|size| [2, 3, 4, 8].map(|radix| (size, radix))) {
            for root in 0..size {
                let place = |rank| Knomial::new(rank, size, root, radix);
                let mut children = 0;
                for rank in 0..size {
                    let mut held = rank..rank + 1;
                    let slots = (0..place(rank).top())
                        .flat_map(|level| (0..radix - 1).map(move |n| (level, n)));
                    for (level, n) in slots {
                        let brought = place(rank).brought(level, n);
                        let Some(child) = place(rank).child(level, n) else {
                            assert!(brought.is_empty());
                            continue;
                        };
                        assert_eq!(place(child).parent(), Some(rank));
                        assert_eq!(place(child).top(), level);
                        assert_eq!(place(child).subtree(), brought);
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
        let place = Binomial::new(u32::MAX - 1, u32::MAX, 0);
        assert_eq!(place.top(), 1);
        assert_eq!(place.child(0), None);
        assert_eq!(place.parent(), Some(u32::MAX - 3));
        let place = Knomial::new(0, u32::MAX, 0, u32::MAX);
        assert_eq!((place.top(), place.child(0, 0)), (1, Some(1)));
    }
}
