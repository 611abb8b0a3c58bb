//! Hierarchical allreduce of long vectors where ranks share processors: first among the ranks of a processor,
//! then between processors.
//!
//! What the ranks of one processor exchange stays in its caches; only their sum goes to the other processors,
//! a part by each rank, and comes back. In a flat allreduce each rank's vector would cross.
//!
//! Source: S. Li, T. Hoefler, M. Snir, "NUMA-aware shared-memory collective communication for MPI", HPDC
//! 2013.

use std::ops::Range;

use oxmpi_os::RawBytes;
use oxmpi_resumable::resumable;

use super::call_kind::CallKind;
use super::driver::CollectiveDriver;
use super::group::NodeGroup;
use super::operands::{Operands, contiguous};
use super::pieces::{PayloadPath, Pieces, share_of};
use super::processors::{ProcessorGroups, RankSet};
use super::run::CollectiveRun;
use super::scratch::SCRATCH_LEN;

/// Pieces that go through a phase together: a rank that shares its processor yields once for all of them.
const PIECES_IN_A_RUN: u64 = 4;

/// Phases of a piece: to the co-located ranks, to the peers, and back.
const PHASES: u64 = 4;

#[resumable]
impl NodeGroup {
    /// [`NodeGroup::allreduce`] of a group whose [processors](ProcessorGroups) are known.
    ///
    /// # Errors
    /// When a rank never arrives.
    pub(super) async fn hierarchical_allreduce<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        operands: Operands<'_>,
    ) -> Result<(), D::Error> {
        #[cfg(test)]
        super::record::note(super::catalog::NodeProtocol::Hierarchical.name());
        let processors = self.processors.clone().expect("they are known");
        let call = (CallKind::Allreduce, HIERARCHICAL, operands.len);
        let mut run = CollectiveRun::new(self, driver, call, PayloadPath::PingPong);
        run.hierarchical_allreduce(&processors, operands).await
    }
}

/// In the mark of a call without a root: hierarchical.
const HIERARCHICAL: usize = 1;

#[resumable]
impl<D: CollectiveDriver> CollectiveRun<'_, D> {
    async fn hierarchical_allreduce(
        &mut self,
        ProcessorGroups {
            co_located, peers, ..
        }: &ProcessorGroups,
        operands: Operands<'_>,
    ) -> Result<(), D::Error> {
        let Operands {
            input,
            output,
            len,
            element,
            ..
        } = operands;
        let buffer_len = self.group.pair_buffers.buffer_len.min(SCRATCH_LEN);
        let pieces = Pieces::in_shares(
            len,
            co_located.ranks.len(),
            (buffer_len, usize::MAX),
            element,
        );
        let mut first = 0;
        while first < pieces.steps() {
            let run_len = PIECES_IN_A_RUN.min(pieces.steps() - first);
            let step = |phase: u64, i: u64| PHASES * first + phase * run_len + i;
            // Of a piece: this rank's share among its co-located ranks, and its part of that among its peers.
            let share = |of: usize, i: u64| {
                let (at, len) = pieces.part(first + i);
                shifted(share_of(of, co_located.ranks.len(), len, element), at)
            };
            let part = |of: usize, i: u64| {
                let share = share(co_located.own_index, i);
                let len = (share.end - share.start) as usize;
                shifted(share_of(of, peers.ranks.len(), len, element), share.start)
            };
            self.begin_exchange_with(co_located, 2 * run_len);
            self.begin_exchange_with(peers, 2 * run_len);
            for i in 0..run_len {
                self.send(co_located, step(0, i), input, |rank| share(rank, i))
                    .await?;
            }
            for i in 0..run_len {
                let mine = share(co_located.own_index, i);
                self.combine_in(co_located, step(0, i), (input, output), mine)
                    .await?;
                self.send(peers, step(1, i), output, |peer| part(peer, i))
                    .await?;
            }
            for i in 0..run_len {
                let mine = part(peers.own_index, i);
                self.combine_in(peers, step(1, i), (output, output), mine.clone())
                    .await?;
                self.send(peers, step(2, i), output, |_| mine.clone())
                    .await?;
            }
            for i in 0..run_len {
                self.receive(peers, step(2, i), output, |peer| part(peer, i))
                    .await?;
                let mine = share(co_located.own_index, i);
                self.send(co_located, step(3, i), output, |_| mine.clone())
                    .await?;
            }
            for i in 0..run_len {
                self.receive(co_located, step(3, i), output, |rank| share(rank, i))
                    .await?;
            }
            self.end_exchange_with(co_located);
            self.end_exchange_with(peers);
            first += run_len;
        }
        Ok(())
    }

    fn begin_exchange_with(&mut self, set: &RankSet, steps: u64) {
        for (_, rank) in set.others() {
            self.group.pair_buffers.begin_exchange_with(rank, steps);
        }
    }

    fn end_exchange_with(&mut self, set: &RankSet) {
        for (_, rank) in set.others() {
            self.group.pair_buffers.end_exchange_with(rank);
        }
    }

    /// Sends each other rank of a set its part of `bytes`, in `step`.
    async fn send(
        &mut self,
        set: &RankSet,
        step: u64,
        bytes: &RawBytes,
        range: impl Fn(usize) -> Range<u64>,
    ) -> Result<(), D::Error> {
        self.wait_until_free(step).await?;
        for (number, rank) in set.others() {
            let at = range(number);
            let part = (at.start, (at.end - at.start) as usize);
            self.both_write_in_exchange(step, rank);
            self.write_to((rank, 0), step, bytes, part);
        }
        self.publish(step);
        for (_, rank) in set.others() {
            self.wake(rank);
        }
        Ok(())
    }

    /// Waits until the other ranks of a set have published `step`.
    async fn wait_for_set(&mut self, set: &RankSet, step: u64) -> Result<(), D::Error> {
        for (_, rank) in set.others() {
            self.wait_for(rank, step).await?;
        }
        Ok(())
    }

    /// Receives the parts that the other ranks of a set send in `step`.
    async fn receive(
        &mut self,
        set: &RankSet,
        step: u64,
        output: &RawBytes,
        range: impl Fn(usize) -> Range<u64>,
    ) -> Result<(), D::Error> {
        self.wait_for_set(set, step).await?;
        for (number, rank) in set.others() {
            let at = range(number);
            let part = (at.start, (at.end - at.start) as usize);
            self.read((rank, step, 0), output, part);
        }
        self.finish(step);
        Ok(())
    }

    /// Combines part `mine` of this rank's vector with the parts that the other ranks of a set send in
    /// `step`.
    async fn combine_in(
        &mut self,
        set: &RankSet,
        step: u64,
        (input, output): (&RawBytes, &RawBytes),
        mine: Range<u64>,
    ) -> Result<(), D::Error> {
        self.wait_for_set(set, step).await?;
        let len = (mine.end - mine.start) as usize;
        let [own, into] = [input, output].map(|bytes| contiguous(bytes, mine.start, len));
        let among = (set.own_index, set.ranks.len());
        self.combine_available(among, own, into, |run, number, to| {
            run.read((set.ranks[number], step, 0), to, (0, len));
        });
        self.finish(step);
        Ok(())
    }
}

/// The range `range` of what begins at byte `at`.
const fn shifted(range: Range<usize>, at: u64) -> Range<u64> {
    at + range.start as u64..at + range.end as u64
}
