//! How ranks differ from the few that stand for all of them: by a rotation.

use super::message::{ElementRun, Message};
use super::ranks::Ranks;
use super::sums::{Sum, Sums};

/// How ranks differ from the first ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rotation {
    /// Ranks.
    pub(super) size: u32,
    /// The first ranks, which stand for all: a divisor of their number.
    pub(super) period: u32,
    /// Elements of one block.
    pub(super) block: u64,
    /// Elements of one block for each rank.
    pub(super) around: u64,
    /// Whether `In` has one block for each rank. In place, whether the input has.
    pub(super) input: bool,
    /// Whether `Out` has one block for each rank.
    pub(super) output: bool,
}

impl Rotation {
    /// The rank among the first that stands for `rank`, and by how much it is turned.
    pub(super) const fn class(&self, rank: u32) -> (u32, u32) {
        let class = rank % self.period;
        (class, rank - class)
    }

    /// `by` ranks above `rank`; neither is beyond the number of ranks.
    pub(super) const fn above(&self, rank: u32, by: u32) -> u32 {
        let above = rank as u64 + by as u64;
        let size = self.size as u64;
        (if above < size { above } else { above - size }) as u32
    }

    /// The ranks, turned.
    pub(super) fn ranks(&self, ranks: &Ranks, by: u32) -> Ranks {
        ranks.rotated(by, self.size)
    }

    /// What a message holds, turned.
    pub(super) fn runs(&self, runs: Message, by: u32, sums: &mut Sums) -> Message {
        if by == 0 {
            return runs;
        }
        let mut turned = Message::default();
        turned.reserve(runs.len());
        for &run in runs.iter() {
            let held = sums.get(run.sum);
            let ranks = self.ranks(&held.ranks, by);
            let sum = Sum { ranks, ..*held };
            let sum = sums.name(sum);
            if !self.input {
                turned.push(ElementRun { sum, ..run });
                continue;
            }
            let around = self.around;
            let source = (run.source + u64::from(by) * self.block) % around;
            let before = run.count.min(around - source);
            let pieces = [(0, before, source), (before, run.count - before, 0)];
            for (at, count, source) in pieces.into_iter().filter(|piece| piece.1 > 0) {
                let first = run.first + at;
                turned.push(ElementRun {
                    first,
                    count,
                    source,
                    sum,
                });
            }
        }
        turned
    }
}
