//! Rotations of ranks and blocks, by which a few ranks represent all.

use super::message::{ElementRun, SymbolMessage};
use super::ranks::Ranks;
use super::sums::{Sum, Sums};

/// How the plans of all ranks follow from those of the first ranks, by rotation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rotation {
    /// The number of ranks.
    pub(super) size: u32,
    /// The number of first ranks that represent all; it divides the number of ranks.
    pub(super) period: u32,
    /// Elements of one block.
    pub(super) block: u64,
    /// Elements of one block for each rank.
    pub(super) wrap: u64,
    /// Whether `In`, or in place the input, has one block for each rank.
    pub(super) input: bool,
    /// Whether `Out` has one block for each rank.
    pub(super) output: bool,
}

impl Rotation {
    /// The representative of `rank`, and the rotation from it to `rank`.
    pub(super) const fn class(&self, rank: u32) -> (u32, u32) {
        let class = rank % self.period;
        (class, rank - class)
    }

    /// The rank `by` above `rank`, modulo the ranks; neither exceeds the number of ranks.
    pub(super) const fn above(&self, rank: u32, by: u32) -> u32 {
        let above = rank as u64 + by as u64;
        let size = self.size as u64;
        (if above < size { above } else { above - size }) as u32
    }

    /// The ranks, rotated.
    pub(super) fn ranks(&self, ranks: &Ranks, by: u32) -> Ranks {
        ranks.rotated(by, self.size)
    }

    /// The contents of a message, rotated.
    pub(super) fn runs(&self, runs: SymbolMessage, by: u32, sums: &mut Sums) -> SymbolMessage {
        if by == 0 {
            return runs;
        }
        let mut rotated = SymbolMessage::default();
        rotated.reserve(runs.len());
        for &run in runs.iter() {
            let held = sums.get(run.sum);
            let ranks = self.ranks(&held.ranks, by);
            let sum = Sum { ranks, ..*held };
            let sum = sums.intern(sum);
            if !self.input {
                rotated.push(ElementRun { sum, ..run });
                continue;
            }
            let wrap = self.wrap;
            let source = (run.source + u64::from(by) * self.block) % wrap;
            let before = run.count.min(wrap - source);
            let pieces = [(0, before, source), (before, run.count - before, 0)];
            for (at, count, source) in pieces.into_iter().filter(|piece| piece.1 > 0) {
                let first = run.first + at;
                rotated.push(ElementRun {
                    first,
                    count,
                    source,
                    sum,
                });
            }
        }
        rotated
    }
}
