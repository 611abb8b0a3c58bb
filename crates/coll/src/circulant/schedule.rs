//! Which block of a broadcast travels in which round, for one rank, in a logarithm of the number of
//! ranks.
//!
//! Ranks are counted from the root here. With `q` distances, rounds come in phases of `q`, and in
//! round `k` of a phase a rank sends over distance `k` upwards and receives over it from below. A
//! schedule names blocks relative to the phase: the root sends block `k` in round `k`; a later phase
//! adds `q` to every block. A negative block belongs to an earlier phase.
//!
//! The algorithm is that of Traeff, "(Poly)logarithmic time construction of round-optimal n-block
//! broadcast schedules for broadcast and irregular allgather in MPI", arXiv 2205.10072, 2022, and
//! "Optimal broadcast schedules in logarithmic time with applications to broadcast, all-broadcast,
//! reduction and all-reduction", arXiv 2312.11236 and 2407.18004.

use super::Skips;
use crate::rank_ring::RankRing;

/// The most rounds of a phase: there are at most 2^32 ranks.
pub(super) const ROUNDS: usize = 32;

/// One rank's schedule: what it receives and sends in each round of a phase.
///
/// What a rank receives from below is what that one sends, and whatever it sends it has received in
/// an earlier round; in the `q` rounds of a phase it receives `q` different blocks.
///
/// The value takes 65 bytes: two lists of at most 32 entries, for up to 2^32 ranks. A plan that
/// follows a schedule holds it, so that nothing is computed while messages wait.
///
/// ```
/// use oxmpi_coll::circulant::Schedule;
///
/// // The root of eight ranks sends its blocks in order; rank 1 gets block 0 in round 0.
/// assert_eq!(Schedule::new(0, 8).sent(), [0, 1, 2]);
/// assert_eq!(Schedule::new(1, 8).received(), [0, -2, -1]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    received: [i8; ROUNDS],
    sent: [i8; ROUNDS],
    rounds: u8,
}

impl Schedule {
    /// The schedule of the rank `rank` places above the root among `size` ranks.
    ///
    /// # Panics
    ///
    /// When `rank` is not below `size`.
    ///
    /// # Cost
    ///
    /// A logarithm of `size`; nothing is allocated.
    pub fn new(rank: u32, size: u32) -> Self {
        assert!(rank < size, "rank {rank} is not among {size} ranks");
        let skips = Skips::new(size);
        Schedule {
            received: receive_schedule(rank, size),
            sent: send_schedule(rank, size),
            rounds: skips.rounds() as u8,
        }
    }

    /// The block that comes in each round of a phase. The root's list is not used: it receives
    /// nothing.
    pub fn received(&self) -> &[i8] {
        &self.received[..usize::from(self.rounds)]
    }

    /// The block that goes in each round of a phase. What would go to the root is not sent.
    pub fn sent(&self) -> &[i8] {
        &self.sent[..usize::from(self.rounds)]
    }
}

/// The round in which the first block of all reaches the rank: the lowest of the distances that the
/// greedy way from the root consists of; at the root, the number of distances.
fn base_block(rank: u32, skips: Skips) -> u32 {
    let mut left = rank;
    for k in (0..skips.rounds()).rev() {
        if skips.skip(k) == left {
            return k;
        }
        if skips.skip(k) < left {
            left -= skips.skip(k);
        }
    }
    skips.rounds()
}

/// What the rank receives in each round of a phase.
pub(super) fn receive_schedule(rank: u32, size: u32) -> [i8; ROUNDS] {
    let skips = Skips::new(size);
    let rounds = skips.rounds();
    let base = base_block(rank, skips);
    let mut search = Search {
        skips,
        target: u64::from(size) + u64::from(rank),
        last: 2 * u64::from(size),
        unused: Unused::new(rounds),
        found: [0; ROUNDS],
    };
    search.unused.remove(base);
    search.extend(0, Some(rounds), 0);
    search.found.map(|distance| {
        if distance == rounds as i8 {
            base as i8
        } else {
            distance - rounds as i8
        }
    })
}

/// What the rank sends in each round of a phase: what its neighbour above receives.
///
/// Mostly that follows from where the neighbour lies within a shrinking range around the root; in
/// the few rounds in which it does not, at most four, the neighbour's own schedule is computed.
fn send_schedule(rank: u32, size: u32) -> [i8; ROUNDS] {
    let skips = Skips::new(size);
    let rounds = skips.rounds();
    let mut sent = [0; ROUNDS];
    if rank == 0 {
        for (k, block) in (0..rounds as i8).zip(&mut sent) {
            *block = k;
        }
        return sent;
    }
    let base = base_block(rank, skips);
    // The rank lies at `place` in a range of `end` ranks; all below distance `k` of them miss
    // `block`.
    let (mut place, mut end, mut block) = (rank, size, base as i8);
    for k in (1..rounds).rev() {
        let (skip, half) = (skips.skip(k), skips.skip(k - 1));
        let inputs = if place < skip {
            let inside = u64::from(place) + u64::from(skip) < u64::from(end);
            let inputs = inside || end < half || (k == 1 && base > 0);
            end = end.min(skip);
            inputs
        } else {
            block = k as i8 - rounds as i8;
            let inputs = k == 1 || place > skip || end - skip < half;
            place -= skip;
            end -= skip;
            inputs
        };
        sent[k as usize] = if inputs {
            block
        } else {
            receive_schedule(RankRing::new(rank, size).above(skip), size)[k as usize]
        };
    }
    sent[0] = base as i8 - rounds as i8;
    sent
}

/// Looks for the ways from the root over which a rank's blocks come, one for each round, greedily
/// and so that each way ends with another distance.
struct Search {
    skips: Skips,
    /// The rank, one turn around the ring further.
    target: u64,
    /// Where the way found last starts; the next one starts below.
    last: u64,
    unused: Unused,
    found: [i8; ROUNDS],
}

impl Search {
    /// Extends the way that has come to `place` by the unused distances from `from` down, finding
    /// blocks from round `round` on. Returns the round that is found next.
    ///
    /// The depth of the recursion is at most the number of distances.
    fn extend(&mut self, place: u64, from: Option<u32>, mut round: u32) -> u32 {
        let mut next = from;
        while let Some(distance) = next {
            if round == self.skips.rounds() {
                return round;
            }
            let reached = place + u64::from(self.skips.skip(distance));
            if reached <= self.target - self.skip(round) && reached < self.last {
                if reached <= self.target - self.skip(round + 1) {
                    round = self.extend(reached, Some(distance), round);
                }
                if round == self.skips.rounds() || place > self.target - self.skip(round + 1) {
                    return round;
                }
                self.last = reached;
                self.found[round as usize] = distance as i8;
                self.unused.remove(distance);
                round += 1;
            }
            next = self.unused.below(distance);
        }
        round
    }

    fn skip(&self, k: u32) -> u64 {
        u64::from(self.skips.skip(k))
    }
}

/// The distances that no way ends with yet, from the longest down, as a doubly linked list: a
/// search that stands at a removed one can still go on from it.
///
/// Entry `k + 1` stands for distance `k`, entry 0 for both ends.
struct Unused {
    below: [u8; ROUNDS + 2],
    above: [u8; ROUNDS + 2],
}

impl Unused {
    /// All distances up to `rounds`.
    fn new(rounds: u32) -> Self {
        let mut list = Unused {
            below: [0; ROUNDS + 2],
            above: [0; ROUNDS + 2],
        };
        let top = rounds as u8 + 1;
        for entry in 1..=top {
            list.below[usize::from(entry)] = entry - 1;
            list.above[usize::from(entry)] = (entry + 1) % (top + 1);
        }
        list.below[0] = top;
        list.above[0] = 1;
        list
    }

    fn remove(&mut self, distance: u32) {
        let entry = distance as usize + 1;
        let (below, above) = (self.below[entry], self.above[entry]);
        self.below[usize::from(above)] = below;
        self.above[usize::from(below)] = above;
    }

    /// The next shorter distance in the list.
    fn below(&self, distance: u32) -> Option<u32> {
        u32::from(self.below[distance as usize + 1]).checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use proptest::prelude::*;
    use std::vec::Vec;

    use super::{ROUNDS, RankRing, Schedule, Skips, base_block, receive_schedule};

    /// Proves what a schedule promises for one rank. `received` gives other ranks' lists.
    fn prove(rank: u32, size: u32, received: impl Fn(u32) -> [i8; ROUNDS]) {
        let skips = Skips::new(size);
        let rounds = skips.rounds() as i8;
        let schedule = Schedule::new(rank, size);
        assert_eq!(schedule.received.as_slice(), received(rank));
        for (k, &block) in (0..).zip(schedule.sent()) {
            let above = RankRing::new(rank, size).above(skips.skip(k));
            if above != 0 {
                assert_eq!(
                    block,
                    received(above)[k as usize],
                    "{rank} of {size} sends in {k}"
                );
            }
        }
        if rank == 0 {
            return;
        }
        // Every round brings another block: each of the phase before, but the rank's first one.
        let base = base_block(rank, skips) as i8;
        let mut blocks: Vec<i8> = schedule.received().to_vec();
        blocks.sort_unstable();
        let expected: Vec<i8> = (-rounds..0)
            .filter(|&block| block != base - rounds)
            .chain([base])
            .collect();
        assert_eq!(blocks, expected, "{rank} of {size}");
        for (k, &block) in schedule.sent().iter().enumerate() {
            let to_root = RankRing::new(rank, size).above(skips.skip(k as u32)) == 0;
            let had = block == base - rounds || schedule.received()[..k].contains(&block);
            assert!(
                to_root || had,
                "{rank} of {size} sends {block} before it has it"
            );
        }
    }

    #[test]
    fn every_rank_of_2_to_1024_has_a_schedule() {
        for size in 1..=1024 {
            let received: Vec<_> = (0..size).map(|rank| receive_schedule(rank, size)).collect();
            for rank in 0..size {
                prove(rank, size, |rank| received[rank as usize]);
            }
        }
    }

    /// Where a well-known implementation is wrong for the first time.
    #[test]
    fn rank_1_of_33() {
        assert_eq!(Schedule::new(1, 33).received(), [0, -3, -4, -2, -5, -1]);
    }

    #[test]
    fn one_rank_has_nothing_to_do() {
        let alone = Schedule::new(0, 1);
        assert!(alone.received().is_empty() && alone.sent().is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn ranks_of_large_groups_have_schedules(
            size in prop_oneof![1025_u32..=1 << 20, Just(1_000_003), Just(u32::MAX), 1 << 20..u32::MAX],
            ranks in prop::collection::vec(any::<prop::sample::Index>(), 20),
        ) {
            for rank in ranks {
                let rank = rank.index(size as usize) as u32;
                prove(rank, size, |rank| receive_schedule(rank, size));
            }
        }
    }
}
