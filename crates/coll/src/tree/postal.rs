//! Postal trees: every rank that has the message keeps sending it to further ranks, without waiting for any
//! level of the tree.
//!
//! To radix `k` a message takes as long as sending `k - 1` messages does, its delay. In `t` sending times a
//! root reaches as many ranks as in `t - 1` and in `t - delay` together: those it reaches in the remaining
//! time, and those that the rank it sends to now reaches. No tree reaches more. A delay of 1 gives the
//! binomial tree, 2 a Fibonacci tree; a k-nomial tree waits in each level for the last of its messages. A
//! reduction is the broadcast with time reversed.
//!
//! Ranks are counted from the root. Each child's range of ranks begins where those of its parent and the
//! nearer children end; the range of the farthest child may be cut short.
//!
//! Bar-Noy and Kipnis, "Designing broadcasting algorithms in the postal model for message-passing systems",
//! 1994; Karp, Sahay, Santos and Schauser, "Optimal broadcast and summation in the LogP model", 1993.

use super::{TreeEdge, TreePlace};
use crate::call::{Call, Parameters};
use crate::rank_ring::RankRing;

/// The largest radix: with a larger one a rank would have too many messages under way.
pub(crate) const MAX_RADIX: u32 = 16;

/// Room for the children of a rank: among at most 2^32 ranks, to a radix of at most [`MAX_RADIX`], a root has
/// 156.
pub(crate) const MOST_CHILDREN: usize = 160;

/// The delay of a message, in sending times.
pub(crate) fn delay(radix: u32) -> usize {
    radix.clamp(2, MAX_RADIX) as usize - 1
}

/// Entry `n` is the number of ranks of the root's part without its children from number `n` on, until the
/// entries reach `size`. The ranks of child `n` begin there.
pub(crate) fn rooms(size: u32, radix: u32) -> heapless::Vec<u32, MOST_CHILDREN> {
    let delay = delay(radix);
    let mut rooms = heapless::Vec::new();
    let mut room = 1_u32;
    while room < size && rooms.push(room).is_ok() {
        // Child `n` has as many ranks as a root with `delay` fewer children.
        let below = rooms.len().checked_sub(delay).map_or(1, |n| rooms[n]);
        room = room.saturating_add(below);
    }
    rooms
}

/// The number of children of a rank whose subtree has `ranks` ranks.
pub(crate) fn children(rooms: &[u32], ranks: u32) -> usize {
    rooms.iter().take_while(|&&room| room < ranks).count()
}

/// One rank's position in a postal tree. It is small, because a plan may hold several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PostalPlace {
    root: RankRing,
    /// Counted from the root.
    rank: u32,
    /// The parent, counted from the root; at the root, the root.
    parent: u32,
    /// Ranks of its subtree.
    ranks: u32,
    radix: u8,
    children: u8,
}

impl PostalPlace {
    /// The position of the rank `from_root` above the root.
    fn new(from_root: u32, root: RankRing, radix: u32) -> Self {
        let rooms = rooms(root.size(), radix);
        let (mut first, mut ranks, mut parent) = (0, root.size(), 0);
        while first < from_root {
            let farthest = rooms[children(&rooms, ranks) - 1];
            if from_root - first < farthest {
                ranks = farthest;
            } else {
                parent = first;
                (first, ranks) = (first + farthest, ranks - farthest);
            }
        }
        PostalPlace {
            root,
            rank: from_root,
            parent,
            ranks,
            radix: radix.min(MAX_RADIX) as u8,
            children: children(&rooms, ranks) as u8,
        }
    }

    fn edge(&self, from_root: u32) -> TreeEdge {
        let peer = self.root.above(from_root);
        TreeEdge { peer, tag: 0 }
    }
}

impl TreePlace for PostalPlace {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        let root = RankRing::new(call.root, call.size);
        PostalPlace::new(call.from_root(), root, parameters.radix)
    }

    fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        PostalPlace::most_rounds(call.size, parameters)
    }

    fn most_rounds(size: u32, parameters: &Parameters) -> u64 {
        // Below each child there are fewer children than the root has turned to before.
        rooms(size, parameters.radix).len() as u64
    }

    fn rank(&self) -> u32 {
        self.root.above(self.rank)
    }

    fn up(&self) -> Option<TreeEdge> {
        (self.rank > 0).then(|| self.edge(self.parent))
    }

    fn places(&self) -> u32 {
        self.children.into()
    }

    fn down(&self, at: u32) -> Option<TreeEdge> {
        let rooms = rooms(self.ranks, self.radix.into());
        let room = rooms.get(at as usize);
        room.map(|room| self.edge(self.rank + room))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::{MAX_RADIX, PostalPlace, TreePlace, rooms};
    use crate::call::{Call, Parameters};
    use crate::rank_ring::RankRing;

    #[test]
    fn every_child_knows_its_parent_and_brings_what_lies_next_to_its_parent_s_ranks() {
        for (size, radix) in (1..=70).flat_map(|size| [2, 3, 4, 8].map(|radix| (size, radix))) {
            let place = |rank| PostalPlace::new(rank, RankRing::new(0, size), radix);
            let mut children = 0;
            for rank in 0..size {
                let mut end = rank + 1;
                for at in 0..place(rank).places() {
                    let child = place(rank).down(at).expect("all places have one").peer;
                    assert_eq!(place(child).up().expect("a parent").peer, rank);
                    assert_eq!(child, end);
                    end += place(child).ranks;
                    children += 1;
                }
                assert_eq!(end, rank + place(rank).ranks);
                assert_eq!(place(rank).down(place(rank).places()), None);
            }
            assert_eq!(children, size - 1);
            assert_eq!(place(0).up(), None);
        }
    }

    /// When the last rank has the message, if it takes `delay` from when its sender turns to it.
    fn last(size: u32, radix: u32, delay: u32) -> u32 {
        let mut times: Vec<u32> = (0..size).map(|_| 0).collect();
        // A parent comes before its children.
        for rank in 0..size {
            let place = PostalPlace::new(rank, RankRing::new(0, size), radix);
            let farthest_first = (0..place.places()).rev().filter_map(|at| place.down(at));
            for (sent, child) in (0..).zip(farthest_first) {
                times[child.peer as usize] = times[rank as usize] + sent + delay;
            }
        }
        times.into_iter().max().expect("a rank")
    }

    /// Bar-Noy and Kipnis: so many ranks are reached at most.
    #[test]
    fn no_tree_is_faster() {
        for delay in 1..MAX_RADIX {
            let mut reached: Vec<u32> = Vec::new();
            for time in 0..40 + delay as usize {
                let one = reached.last().copied().unwrap_or(1);
                let other = time
                    .checked_sub(delay as usize)
                    .map_or(0, |then| reached[then]);
                reached.push(one.saturating_add(other));
            }
            for size in 1..=100 {
                let least = reached.iter().position(|&ranks| ranks >= size);
                let time = last(size, delay + 1, delay);
                assert_eq!(Some(time as usize), least, "{size} ranks, delay {delay}");
            }
        }
    }

    #[test]
    fn rounds_are_those_of_one_message_at_a_time() {
        for (size, radix) in (1..=200).flat_map(|size| [2, 3, 5, 16].map(|radix| (size, radix))) {
            let parameters = Parameters::NONE.with_radix(radix);
            let rounds = PostalPlace::rounds(&Call::bcast(0, size, 0, 1), &parameters);
            assert_eq!(
                rounds,
                u64::from(last(size, radix, 1)),
                "{size}, radix {radix}"
            );
        }
    }

    #[test]
    fn the_largest_group_has_room() {
        for radix in 2..=MAX_RADIX {
            let rooms = rooms(u32::MAX, radix);
            let last = PostalPlace::new(u32::MAX - 1, RankRing::new(5, u32::MAX), radix);
            assert!(rooms.len() < super::MOST_CHILDREN);
            let parent = RankRing::new(5, u32::MAX).below(last.up().expect("a parent").peer);
            let above = PostalPlace::new(u32::MAX - parent, RankRing::new(5, u32::MAX), radix);
            let mut children = (0..above.places()).filter_map(|at| above.down(at));
            assert!(children.any(|child| child.peer == last.rank()));
        }
    }
}
