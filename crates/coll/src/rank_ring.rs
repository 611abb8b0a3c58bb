//! The ranks of a group as a ring: rank 0 follows the highest rank.

use crate::call::Call;

/// One rank's position in the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RankRing {
    rank: u32,
    size: u32,
}

impl RankRing {
    /// The place of `rank`, which is below `size`.
    pub(crate) const fn new(rank: u32, size: u32) -> Self {
        RankRing { rank, size }
    }

    /// The caller's place.
    pub(crate) const fn of(call: &Call) -> Self {
        RankRing::new(call.rank, call.size)
    }

    /// The rank itself.
    pub(crate) const fn rank(&self) -> u32 {
        self.rank
    }

    /// The number of ranks.
    pub(crate) const fn size(&self) -> u32 {
        self.size
    }

    /// The rank `distance` above; `distance` is at most the size.
    pub(crate) const fn above(&self, distance: u32) -> u32 {
        let to_end = self.size - self.rank;
        if distance < to_end {
            self.rank + distance
        } else {
            distance - to_end
        }
    }

    /// The position of the rank `distance` above.
    pub(crate) const fn rotated(&self, distance: u32) -> RankRing {
        RankRing::new(self.above(distance), self.size)
    }

    /// The rank `distance` below; `distance` is at most the size.
    pub(crate) const fn below(&self, distance: u32) -> u32 {
        self.above(self.size - distance)
    }
}

#[cfg(test)]
mod tests {
    use super::RankRing;

    #[test]
    fn below_undoes_above() {
        for size in 1..=9 {
            for (rank, distance) in (0..size).flat_map(|r| (0..=size).map(move |d| (r, d))) {
                let above = RankRing::new(rank, size).above(distance);
                assert_eq!(above, (rank + distance) % size);
                assert_eq!(RankRing::new(above, size).below(distance), rank);
            }
        }
        let last = RankRing::new(u32::MAX - 1, u32::MAX);
        assert_eq!((last.above(1), last.below(u32::MAX - 1)), (0, 0));
    }
}
