//! Long reductions to all where ranks share processors: first among those of a processor, then between
//! processors.
//!
//! What the ranks of one processor give each other stays in its caches; only a sum of theirs goes to the other
//! processors, a part by each rank, and comes back. Reduced flat, each rank's vector crosses.
//!
//! Source: S. Li, T. Hoefler, M. Snir, "NUMA-aware shared-memory collective communication for MPI", HPDC 2013.

use std::boxed::Box;
use std::ops::Range;
use std::sync::Arc;
use std::vec::Vec;

use oxmpi_os::RawBytes;

use super::group::{CollectiveDriver, NodeGroup, ROOM};
use super::pieces::{PayloadPath, Pieces, share_of};
use super::reduce::{Operands, contiguous};
use super::run::{CallKind, CollectiveRun};

/// Who shares a processor with a rank, and who else has its part in what goes between processors.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProcessorGroups {
    /// The ranks of this one's processor.
    mates: RankSet,
    /// The ranks of each processor that have this one's number among its ranks.
    peers: RankSet,
    /// Whether the ranks of a processor follow one another.
    are_in_order: bool,
}

/// Some ranks of a team, this one among them.
#[derive(Debug, PartialEq, Eq)]
struct RankSet {
    ranks: Box<[usize]>,
    /// Which of them is this one.
    mine: usize,
}

impl RankSet {
    fn others(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let all = self.ranks.iter().copied().enumerate();
        all.filter(move |&(number, _)| number != self.mine)
    }
}

impl ProcessorGroups {
    /// Where rank `me` is, if several processors have equally many ranks of those whose processors these are, and
    /// each more than one.
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
        let mine = each[own].1.iter().position(|&rank| rank == me)?;
        let peers = each.iter().map(|(_, ranks)| ranks[mine]).collect();
        let are_in_order = each.iter().flat_map(|(_, ranks)| ranks).is_sorted();
        let ranks = each.swap_remove(own).1.into();
        Some(Self {
            mates: RankSet { ranks, mine },
            peers: RankSet {
                ranks: peers,
                mine: own,
            },
            are_in_order,
        })
    }
}

/// Pieces in a row that go through each phase: so a rank that shares its processor gives way once for that many.
const ROW: u64 = 4;

/// Phases of a piece: to the mates, to the peers, and back.
const PHASES: u64 = 4;

impl NodeGroup {
    /// Says on which processor each rank of the team runs, or nothing. All say the same.
    ///
    /// # Panics
    /// If these are those of another number of ranks.
    pub fn set_processors(&mut self, processors: &[u32]) {
        let ranks = processors.len();
        assert!(ranks == 0 || ranks == self.size(), "a processor each");
        self.mates = beside(self.me, processors);
        self.domains = ProcessorGroups::new(self.me, processors).map(Arc::new);
    }

    /// Whether an allreduce of so many bytes goes by processors.
    pub(super) fn goes_by_domains(&self, operands: Operands<'_>) -> bool {
        let domains = self.domains.as_ref();
        let fits = operands.element <= self.dialogues.cell.min(ROOM);
        operands.len >= LONG
            && fits
            && domains.is_some_and(|all| operands.commutes || all.are_in_order)
    }

    /// As [`NodeGroup::allreduce`], where [domains](NodeGroup::goes_by_domains) are known.
    ///
    /// # Errors
    /// When a rank never comes.
    pub(super) fn allreduce_by_domains<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        operands: Operands<'_>,
    ) -> Result<(), D::Error> {
        let domains = self.domains.clone().expect("they are known");
        let call = (CallKind::Allreduce, BY_DOMAINS, operands.len);
        let mut run = CollectiveRun::new(self, driver, call, PayloadPath::PingPong);
        run.allreduce_by_domains(&domains, operands)
    }
}

/// The other ranks on the processor of rank `me`, bit by bit.
fn beside(me: usize, processors: &[u32]) -> u64 {
    let others = processors.iter().enumerate();
    let mates = others.filter(|&(rank, processor)| rank != me && *processor == processors[me]);
    mates.fold(0, |mates, (rank, _)| mates | 1 << rank)
}

/// From so many bytes on it is worth it.
const LONG: u64 = 128 << 10;

/// Stands for the root in the mark of such a call.
const BY_DOMAINS: usize = 1;

impl<D: CollectiveDriver> CollectiveRun<'_, D> {
    fn allreduce_by_domains(
        &mut self,
        ProcessorGroups { mates, peers, .. }: &ProcessorGroups,
        operands: Operands<'_>,
    ) -> Result<(), D::Error> {
        let Operands {
            input,
            output,
            len,
            element,
            ..
        } = operands;
        let cell = self.team.dialogues.cell.min(ROOM);
        let pieces = Pieces::in_shares(len, mates.ranks.len(), (cell, usize::MAX), element);
        let mut first = 0;
        while first < pieces.steps() {
            let row = ROW.min(pieces.steps() - first);
            let step = |phase: u64, i: u64| PHASES * first + phase * row + i;
            // Of a piece: this rank's share among its mates, and its part of that among its peers.
            let share = |of: usize, i: u64| {
                let (at, len) = pieces.part(first + i);
                moved(share_of(of, mates.ranks.len(), len, element), at)
            };
            let part = |of: usize, i: u64| {
                let share = share(mates.mine, i);
                let len = (share.end - share.start) as usize;
                moved(share_of(of, peers.ranks.len(), len, element), share.start)
            };
            self.begin_exchange_with(mates, 2 * row);
            self.begin_exchange_with(peers, 2 * row);
            for i in 0..row {
                self.give(mates, step(0, i), input, |mate| share(mate, i))?;
            }
            for i in 0..row {
                let mine = share(mates.mine, i);
                self.combine_in(mates, step(0, i), (input, output), mine)?;
                self.give(peers, step(1, i), output, |peer| part(peer, i))?;
            }
            for i in 0..row {
                let mine = part(peers.mine, i);
                self.combine_in(peers, step(1, i), (output, output), mine.clone())?;
                self.give(peers, step(2, i), output, |_| mine.clone())?;
            }
            for i in 0..row {
                self.take(peers, step(2, i), output, |peer| part(peer, i))?;
                let mine = share(mates.mine, i);
                self.give(mates, step(3, i), output, |_| mine.clone())?;
            }
            for i in 0..row {
                self.take(mates, step(3, i), output, |mate| share(mate, i))?;
            }
            self.end_exchange_with(mates);
            self.end_exchange_with(peers);
            first += row;
        }
        Ok(())
    }

    fn begin_exchange_with(&mut self, circle: &RankSet, steps: u64) {
        for (_, rank) in circle.others() {
            self.team.dialogues.begin_exchange_with(rank, steps);
        }
    }

    fn end_exchange_with(&mut self, circle: &RankSet) {
        for (_, rank) in circle.others() {
            self.team.dialogues.end_exchange_with(rank);
        }
    }

    /// Gives the others of a circle what of `bytes` is for each, in `step`.
    fn give(
        &mut self,
        circle: &RankSet,
        step: u64,
        bytes: &RawBytes,
        range: impl Fn(usize) -> Range<u64>,
    ) -> Result<(), D::Error> {
        self.room(step)?;
        let mut ranks = 0;
        for (number, rank) in circle.others() {
            let at = range(number);
            let part = (at.start, (at.end - at.start) as usize);
            self.both_write_more(step, rank);
            self.write_to((rank, 0), step, bytes, part);
            ranks |= 1 << self.team.members[rank].rank;
        }
        self.publish(step);
        self.driver.wake(ranks);
        Ok(())
    }

    /// Waits for what the others of a circle give in `step`.
    fn wait_for_circle(&mut self, circle: &RankSet, step: u64) -> Result<(), D::Error> {
        circle
            .others()
            .try_for_each(|(_, rank)| self.wait_for(rank, step))
    }

    /// Takes what the others of a circle give in `step`.
    fn take(
        &mut self,
        circle: &RankSet,
        step: u64,
        output: &RawBytes,
        range: impl Fn(usize) -> Range<u64>,
    ) -> Result<(), D::Error> {
        self.wait_for_circle(circle, step)?;
        for (number, rank) in circle.others() {
            let at = range(number);
            let part = (at.start, (at.end - at.start) as usize);
            self.read((rank, step, 0), output, part);
        }
        self.finish(step);
        Ok(())
    }

    /// Combines `mine` of what this rank has with what the others of a circle give in `step`.
    fn combine_in(
        &mut self,
        circle: &RankSet,
        step: u64,
        (input, output): (&RawBytes, &RawBytes),
        mine: Range<u64>,
    ) -> Result<(), D::Error> {
        self.wait_for_circle(circle, step)?;
        let len = (mine.end - mine.start) as usize;
        let [own, into] = [input, output].map(|bytes| contiguous(bytes, mine.start, len));
        let group = (circle.mine, circle.ranks.len());
        self.combine_what_is_there(group, own, into, |run, number, to| {
            run.read((circle.ranks[number], step, 0), to, (0, len));
        });
        self.finish(step);
        Ok(())
    }
}

/// These bytes of what begins at byte `at`.
const fn moved(range: Range<usize>, at: u64) -> Range<u64> {
    at + range.start as u64..at + range.end as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_know_who_is_beside() {
        let processors = [3, 1, 3, 2, 3];
        let all = [0, 1, 2, 3, 4].map(|me| beside(me, &processors));
        assert_eq!(all, [0b1_0100, 0, 0b1_0001, 0, 0b0_0101]);
        assert_eq!(beside(1, &[]), 0);
    }

    #[test]
    fn ranks_know_their_mates_and_their_peers() {
        let domains = |me, processors| {
            let all = ProcessorGroups::new(me, processors)?;
            let ranks = [all.mates, all.peers].map(|circle| (circle.ranks.to_vec(), circle.mine));
            Some((ranks, all.are_in_order))
        };
        let in_turn = &[4, 9, 4, 9, 4, 9];
        let found = ([(std::vec![1, 3, 5], 1), (std::vec![2, 3], 1)], false);
        assert_eq!(domains(3, in_turn), Some(found));
        let in_blocks = &[7, 7, 0, 0];
        let found = ([(std::vec![2, 3], 1), (std::vec![1, 3], 1)], true);
        assert_eq!(domains(3, in_blocks), Some(found));
        for uneven in [&[0, 0, 1][..], &[0, 1, 2, 3], &[5, 5, 5], &[]] {
            assert_eq!(domains(0, uneven), None, "{uneven:?}");
        }
    }
}
