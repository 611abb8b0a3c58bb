//! Which ranks of a group share a processor: [`ProcessorGroups`].

use std::boxed::Box;
use std::vec::Vec;

/// The ranks that share a processor with this rank, and its partners on the other processors.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProcessorGroups {
    /// The ranks of this rank's processor.
    pub(super) co_located: RankSet,
    /// The ranks that have this rank's index on each processor.
    pub(super) peers: RankSet,
    /// Whether the ranks of a processor have consecutive numbers.
    pub(super) are_in_order: bool,
}

/// Some ranks of a group, this one among them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RankSet {
    pub(super) ranks: Box<[usize]>,
    /// The index of this rank among them.
    pub(super) own_index: usize,
}

impl RankSet {
    pub(super) fn others(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let all = self.ranks.iter().copied().enumerate();
        all.filter(move |&(number, _)| number != self.own_index)
    }
}

impl ProcessorGroups {
    /// The sets of rank `me`, if there are several processors with equally many ranks, more than one each.
    /// `processors` has the processor of each rank.
    pub(super) fn new(me: usize, processors: &[u32]) -> Option<Self> {
        let mut each: Vec<(u32, Vec<usize>)> = Vec::new();
        for (rank, &processor) in processors.iter().enumerate() {
            match each.iter_mut().find(|one| one.0 == processor) {
                Some((_, ranks)) => ranks.push(rank),
                None => each.push((processor, std::vec![rank])),
            }
        }
        let most = each.first()?.1.len();
        let is_even = each.iter().all(|(_, ranks)| ranks.len() == most);
        if most < 2 || each.len() < 2 || !is_even {
            return None;
        }
        let own = each.iter().position(|(_, ranks)| ranks.contains(&me))?;
        let own_index = each[own].1.iter().position(|&rank| rank == me)?;
        let peers = each.iter().map(|(_, ranks)| ranks[own_index]).collect();
        let are_in_order = each.iter().flat_map(|(_, ranks)| ranks).is_sorted();
        let ranks = each.swap_remove(own).1.into();
        Some(Self {
            co_located: RankSet { ranks, own_index },
            peers: RankSet {
                ranks: peers,
                own_index: own,
            },
            are_in_order,
        })
    }
}

/// The other ranks on the processor of rank `me`, a bit each.
pub(super) fn co_located_with(me: usize, processors: &[u32]) -> u64 {
    let others = processors.iter().enumerate();
    let co_located = others.filter(|&(rank, processor)| rank != me && *processor == processors[me]);
    co_located.fold(0, |co_located, (rank, _)| co_located | 1 << rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_know_who_is_mates_of() {
        let processors = [3, 1, 3, 2, 3];
        let all = [0, 1, 2, 3, 4].map(|me| co_located_with(me, &processors));
        assert_eq!(all, [0b1_0100, 0, 0b1_0001, 0, 0b0_0101]);
        assert_eq!(co_located_with(1, &[]), 0);
    }

    #[test]
    fn mates_and_peers_of_even_processors() {
        let domains = |me, processors| {
            let all = ProcessorGroups::new(me, processors)?;
            let ranks = [all.co_located, all.peers].map(|set| (set.ranks.to_vec(), set.own_index));
            Some((ranks, all.are_in_order))
        };
        let cyclic = &[4, 9, 4, 9, 4, 9];
        let found = ([(std::vec![1, 3, 5], 1), (std::vec![2, 3], 1)], false);
        assert_eq!(domains(3, cyclic), Some(found));
        let blockwise = &[7, 7, 0, 0];
        let found = ([(std::vec![2, 3], 1), (std::vec![1, 3], 1)], true);
        assert_eq!(domains(3, blockwise), Some(found));
        for uneven in [&[0, 0, 1][..], &[0, 1, 2, 3], &[5, 5, 5], &[]] {
            assert_eq!(domains(0, uneven), None, "{uneven:?}");
        }
    }
}
