//! The trees over aligned blocks of ranks, which broadcast and scatter go down and reduction and
//! gather go up.
//!
//! At level `l` of the tree to radix `k` the ranks are cut into blocks of `k^l`. One rank holds
//! each block: the root where the block contains it, else the block's lowest rank. `k` neighbouring
//! blocks make one block of the next level, and the holders that do not hold the larger block are
//! the children of the one that does. So every child brings a range of ranks that is adjacent to
//! its parent's, whatever the root: a reduction keeps the order of the ranks without an extra
//! message, its result does not depend on the root, and what a rank gathers from its subtree is
//! consecutive.

use core::ops::Range;

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

/// One rank's place in the tree to a radix of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Knomial {
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
    pub(crate) fn of(&self, rank: u32) -> Self {
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
    use super::{Binomial, Knomial, levels, levels_of};

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
