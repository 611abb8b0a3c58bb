//! Circulant broadcast and reduction of a vector in blocks: the messages of each round.

use super::{Schedule, Skips};
use crate::call::{Call, Parameters};
use crate::eager::EagerLimit;
use crate::partition::Partition;
use crate::plan::{Acts, Buf, Part};
use crate::rank_ring::RankRing;

/// The most blocks of a vector, so that 32 bits count the rounds.
const MAX_BLOCKS: u64 = 1 << 24;

/// A message of one round: the peer, and the block that it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    pub(crate) peer: u32,
    pub(crate) block: u32,
}

/// One rank's messages in a broadcast of a vector in blocks: `blocks - 1 + ceil(log2 p)` rounds.
///
/// Each rank but the root gets every block exactly once; what it sends in a round it got in an
/// earlier one. With time reversed, and sender and receiver exchanged, this is a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pipeline {
    schedule: Schedule,
    ring: RankRing,
    root: u32,
    count: u64,
    blocks: u32,
    cut: Partition,
    /// Rounds by which the first phase is cut short at the front, so that the last one is whole and
    /// each rank meets only one block beyond the last.
    skipped: u32,
    short: EagerLimit,
}

impl Pipeline {
    /// One rank's plan for a call.
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let whole = Pipeline {
            schedule: Schedule::new(call.from_root(), call.size),
            ring: RankRing::of(call),
            root: call.root,
            count: call.count,
            blocks: Pipeline::blocks_of(call, parameters),
            cut: Partition::new(0, 1),
            skipped: 0,
            short: EagerLimit::of(call),
        };
        whole.shortened(call.count)
    }

    /// The same for a vector of at most `count` elements.
    pub(crate) fn shortened(&self, count: u64) -> Self {
        let blocks = u64::from(self.blocks).min(count).max(1) as u32;
        // A single rank has no rounds.
        let rounds = Skips::new(self.ring.size()).rounds().max(1);
        Pipeline {
            count,
            blocks,
            cut: Partition::new(count, blocks),
            skipped: skipped(rounds, blocks),
            ..*self
        }
    }

    /// The blocks of a call: as many as asked for, but no empty ones.
    pub(crate) fn blocks_of(call: &Call, parameters: &Parameters) -> u32 {
        let blocks = u64::from(parameters.blocks).min(call.count);
        blocks.clamp(1, MAX_BLOCKS) as u32
    }

    /// The number of rounds of a call.
    pub(crate) fn rounds_of(call: &Call, parameters: &Parameters) -> u64 {
        Pipeline::of(call, parameters).rounds().into()
    }

    pub(crate) const fn is_root(&self) -> bool {
        self.ring.rank() == self.root
    }

    /// Elements of the vector.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// The number of rounds; 0 for an empty vector or a single rank.
    pub(crate) fn rounds(&self) -> u32 {
        if self.count == 0 || self.ring.size() == 1 {
            0
        } else {
            self.blocks - 1 + self.skips().rounds()
        }
    }

    /// The message received in the round.
    pub(crate) fn received(&self, round: u32) -> Option<Hop> {
        let (k, _) = self.phase(round);
        let block = self.block(self.schedule.received(), round)?;
        let peer = self.ring.below(self.skips().skip(k));
        (!self.is_root()).then_some(Hop { peer, block })
    }

    /// The message sent in the round.
    pub(crate) fn sent(&self, round: u32) -> Option<Hop> {
        let (k, _) = self.phase(round);
        let block = self.block(self.schedule.sent(), round)?;
        let peer = self.ring.above(self.skips().skip(k));
        (peer != self.root).then_some(Hop { peer, block })
    }

    /// Whether the block is sent after the round.
    ///
    /// Distance `k` carries the blocks one phase after another, and no two distances are more than
    /// three phases apart: a block that has not arrived by then does not arrive.
    pub(crate) fn goes_after(&self, round: u32, block: u32) -> bool {
        let window = 3 * self.skips().rounds();
        let end = self.rounds().min(round + 1 + window);
        (round + 1..end).any(|later| self.sent(later).is_some_and(|hop| hop.block == block))
    }

    /// A block of the vector in a buffer.
    pub(crate) fn part(&self, buf: Buf, block: u32) -> Part {
        let (first, count) = self.cut.piece(block);
        Part::new(buf, first, count)
    }

    /// Receives a block and sends one, where there are such.
    pub(crate) fn exchange(
        &self,
        acts: &mut Acts,
        tag: u32,
        recv: Option<(u32, Part)>,
        send: Option<(u32, Part)>,
    ) {
        let nothing = (0, Part::EMPTY);
        let (recv, send) = (recv.unwrap_or(nothing), send.unwrap_or(nothing));
        self.short.exchange(acts, tag, recv, send);
    }

    /// The length of the longest block.
    pub(crate) fn longest(&self) -> u64 {
        self.cut.longest()
    }

    fn skips(&self) -> Skips {
        Skips::new(self.ring.size())
    }

    /// The place of a round in its phase, and the number that its phase adds to the blocks of the
    /// schedule.
    fn phase(&self, round: u32) -> (u32, i64) {
        let rounds = self.skips().rounds();
        let at = round + self.skipped;
        let k = at % rounds;
        (k, i64::from(at - k) - i64::from(self.skipped))
    }

    /// The block that the list of a schedule names in the round: a block beyond the last is the
    /// last.
    fn block(&self, list: &[i8], round: u32) -> Option<u32> {
        let (k, shift) = self.phase(round);
        let block = u32::try_from(i64::from(list[k as usize]) + shift).ok()?;
        Some(block.min(self.blocks - 1))
    }
}

/// Rounds by which the first of phases of so many rounds is cut short, for so many blocks.
pub(super) const fn skipped(rounds: u32, blocks: u32) -> u32 {
    (rounds - (blocks - 1) % rounds) % rounds
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec;

    use super::Pipeline;
    use crate::call::{Call, Parameters};

    /// The window of [`Pipeline::goes_after`] against a look at all rounds.
    #[test]
    fn a_block_that_has_not_gone_for_three_phases_does_not_go_again() {
        for size in (2..=70).chain([127, 128, 129, 1000]) {
            for blocks in [1, 2, 3, 8, 40] {
                for rank in 0..size {
                    let call = Call::bcast(rank, size, 0, 1000);
                    let parameters = Parameters::NONE.with_blocks(blocks);
                    let pipeline = Pipeline::of(&call, &parameters);
                    let mut last = vec![None; blocks as usize];
                    for round in 0..pipeline.rounds() {
                        if let Some(hop) = pipeline.sent(round) {
                            last[hop.block as usize] = Some(round);
                        }
                    }
                    for round in 0..pipeline.rounds() {
                        for block in 0..blocks {
                            let goes = last[block as usize].is_some_and(|last| last > round);
                            let began = pipeline
                                .received(round)
                                .is_some_and(|hop| hop.block == block)
                                || pipeline.sent(round).is_some_and(|hop| hop.block == block);
                            if began {
                                assert_eq!(pipeline.goes_after(round, block), goes);
                            }
                        }
                    }
                }
            }
        }
    }
}
