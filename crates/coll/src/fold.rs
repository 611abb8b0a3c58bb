//! Folding of ranks onto fewer places, as many as an algorithm can use.
//!
//! Consecutive ranks share a place. One of them, the leader, first reduces the contributions of the
//! others, so that the places hold contributions in rank order.

use core::ops::Range;

use crate::accumulate::Accumulator;
use crate::partition::piece;
use crate::plan::Acts;

/// The tag of folding and unfolding; rounds use lower ones.
const TAG: u32 = 64;

/// One rank's position among the places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fold {
    rank: u32,
    size: u32,
    places: u32,
    /// A rank that leads its place; the lowest rank leads each other place.
    root: u32,
}

impl Fold {
    /// `places` is at least 1 and at most `size`; `rank` and `root` are below `size`.
    pub(crate) const fn new(rank: u32, size: u32, places: u32, root: u32) -> Self {
        Fold {
            rank,
            size,
            places,
            root,
        }
    }

    /// The largest power of the radix that is at most `size`: the exponent and the power.
    pub(crate) const fn power(size: u32, radix: u32) -> (u32, u32) {
        let exponent = size.ilog(radix);
        (exponent, radix.pow(exponent))
    }

    /// The most ranks that share a place.
    pub(crate) const fn most(size: u32, places: u32) -> u32 {
        size.div_ceil(places)
    }

    /// The place of a rank.
    fn place_of(&self, rank: u32) -> u32 {
        let (length, longer) = (self.size / self.places, self.size % self.places);
        let among_longer = longer * (length + 1);
        if rank < among_longer {
            rank / (length + 1)
        } else {
            longer + (rank - among_longer) / length
        }
    }

    /// The place of this rank.
    pub(crate) fn place(&self) -> u32 {
        self.place_of(self.rank)
    }

    /// The place of the root.
    pub(crate) fn root_place(&self) -> u32 {
        self.place_of(self.root)
    }

    /// The ranks that share a place.
    fn sharers(&self, place: u32) -> Range<u32> {
        let (first, count) = piece(0, self.size.into(), self.places, place);
        first as u32..(first + count) as u32
    }

    /// The rank that leads a place.
    pub(crate) fn leader(&self, place: u32) -> u32 {
        let sharers = self.sharers(place);
        if sharers.contains(&self.root) {
            self.root
        } else {
            sharers.start
        }
    }

    /// Whether this rank leads its place.
    pub(crate) fn leads(&self) -> bool {
        self.leader(self.place()) == self.rank
    }

    /// The number of ranks that this rank leads, besides itself.
    pub(crate) fn followers(&self) -> u32 {
        if self.leads() {
            self.sharers(self.place()).len() as u32 - 1
        } else {
            0
        }
    }

    /// Follower `n` of this leader: first those below it, from high to low, then those above it.
    fn follower(&self, n: u32) -> u32 {
        let below = self.rank - self.sharers(self.place()).start;
        if n < below {
            self.rank - 1 - n
        } else {
            self.rank + 1 + (n - below)
        }
    }

    /// Step `i` of a leader's fold, two for each follower: receive its contribution, then merge it.
    pub(crate) fn gather_step(&self, i: u32, sum: &Accumulator, acts: &mut Acts) {
        let (follower, merged) = (self.follower(i / 2), i >= 2);
        if i.is_multiple_of(2) {
            acts.recv(follower, TAG, sum.room(merged));
        } else {
            sum.merge(merged, follower < self.rank, acts);
        }
    }

    /// A follower sends its contribution to its leader.
    pub(crate) fn send_contribution(&self, sum: &Accumulator, acts: &mut Acts) {
        acts.send(self.leader(self.place()), TAG, sum.value(false));
    }

    /// A leader sends the result to follower `n`.
    pub(crate) fn send_result(&self, n: u32, sum: &Accumulator, acts: &mut Acts) {
        acts.send(self.follower(n), TAG, sum.value(true));
    }

    /// A follower receives the result.
    pub(crate) fn recv_result(&self, sum: &Accumulator, acts: &mut Acts) {
        acts.recv(self.leader(self.place()), TAG, sum.value(true));
    }
}

#[cfg(test)]
mod tests {
    use super::Fold;

    #[test]
    fn every_rank_leads_or_follows_once() {
        for (size, radix) in (1..=70).flat_map(|size| [2, 3, 5, 8].map(|radix| (size, radix))) {
            let (_, places) = Fold::power(size, radix);
            for root in [0, size / 2, size - 1] {
                let fold = |rank| Fold::new(rank, size, places, root);
                assert!(fold(root).leads());
                let leaders = (0..size).filter(|&rank| fold(rank).leads());
                assert!(leaders.clone().map(|rank| fold(rank).place()).eq(0..places));
                let mut all = 0;
                for leader in leaders {
                    let followers = fold(leader).followers();
                    assert!(followers < Fold::most(size, places));
                    for n in 0..followers {
                        let follower = fold(leader).follower(n);
                        assert_eq!(fold(follower).place(), fold(leader).place());
                        assert!(!fold(follower).leads());
                    }
                    all += 1 + followers;
                }
                assert_eq!(all, size);
            }
        }
    }
}
