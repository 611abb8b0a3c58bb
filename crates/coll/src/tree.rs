//! The binomial tree over aligned blocks of ranks, which broadcast goes down and reduction goes up.
//!
//! At level `k` the ranks are cut into blocks of `2^k`. One rank holds each block: the root where
//! the block contains it, else the block's lowest rank. Two neighbouring blocks make one block of
//! the next level, and the holder that does not hold the larger block is the child of the one that
//! does. So every child brings a range of ranks that is adjacent to its parent's, whatever the
//! root: a reduction keeps the order of the ranks without an extra message, and its result does not
//! depend on the root.

/// The number of levels below the root: the rounds that any algorithm needs to reach `size` ranks,
/// `ceil(log2 size)`.
pub(crate) const fn levels(size: u32) -> u32 {
    if size <= 1 {
        0
    } else {
        32 - (size - 1).leading_zeros()
    }
}

/// One rank's place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Binomial {
    rank: u32,
    size: u32,
    root: u32,
    top: u32,
}

impl Binomial {
    /// The place of `rank` among `size` ranks under `root`; both are below `size`.
    pub(crate) fn new(rank: u32, size: u32, root: u32) -> Self {
        let levels = levels(size);
        let top = (0..levels).find(|level| holder(level + 1, block(rank, level + 1), root) != rank);
        Binomial {
            rank,
            size,
            root,
            top: top.unwrap_or(levels),
        }
    }

    /// The levels below this one may bring a child; this one leads to the parent. At the root, the
    /// number of levels.
    pub(crate) const fn top(&self) -> u32 {
        self.top
    }

    /// The parent; none at the root.
    pub(crate) fn parent(&self) -> Option<u32> {
        let above = self.top + 1;
        (self.rank != self.root).then(|| holder(above, block(self.rank, above), self.root))
    }

    /// The child that hands its block over at `level`, below [`Binomial::top`]; none where the
    /// sibling block is empty.
    pub(crate) fn child(&self, level: u32) -> Option<u32> {
        let sibling = block(self.rank, level) ^ 1;
        let exists = sibling << level < u64::from(self.size);
        exists.then(|| holder(level, sibling, self.root))
    }
}

/// The block of level `level` that contains `rank`.
fn block(rank: u32, level: u32) -> u64 {
    u64::from(rank) >> level
}

/// The rank that holds the block. It is below the group's size when the block is not empty.
fn holder(level: u32, block: u64, root: u32) -> u32 {
    if self::block(root, level) == block {
        root
    } else {
        (block << level) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::{Binomial, levels};

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
        }
    }

    #[test]
    fn every_child_knows_its_parent_and_every_rank_but_the_root_has_one() {
        for size in 1..=70 {
            for root in 0..size {
                let place = |rank| Binomial::new(rank, size, root);
                let mut children = 0;
                for rank in 0..size {
                    for level in 0..place(rank).top() {
                        if let Some(child) = place(rank).child(level) {
                            assert_eq!(place(child).parent(), Some(rank));
                            assert_eq!(place(child).top(), level);
                            children += 1;
                        }
                    }
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
    }
}
