//! A vector of one block for each rank, seen from one rank: block 0 is its own, and the others
//! follow around the ring.

use crate::blocks::sum;
use crate::partition::run;
use crate::plan::{Buf, Part, PlanInputs};
use crate::rank_ring::RankRing;

/// How a vector is divided into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    /// A vector of so many elements, cut into almost equal blocks.
    Partition(u64),
    /// So many elements each.
    Equal(u64),
    /// As [`CallArrays::sends`](crate::plan::CallArrays::sends) says, so many elements in all.
    Sends(u64),
    /// As [`CallArrays::recvs`](crate::plan::CallArrays::recvs) says, so many elements in all.
    Recvs(u64),
}

/// Blocks as one rank counts them.
///
/// # Cost
///
/// Where the caller gives the lengths, a sum over those of the blocks asked for; [`RotatedBlocks::natural`]
/// adds those before the first of them. Else constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RotatedBlocks {
    pub(crate) ring: RankRing,
    pub(crate) blocks: Division,
}

impl RotatedBlocks {
    /// The elements of all blocks.
    pub(crate) fn total(&self) -> u64 {
        match self.blocks {
            Division::Partition(count) | Division::Sends(count) | Division::Recvs(count) => count,
            Division::Equal(count) => u64::from(self.ring.size()) * count,
        }
    }

    /// The elements of blocks `from` to `to`, at most the number of ranks.
    pub(crate) fn len(&self, from: u32, to: u32, inputs: &PlanInputs<'_>) -> u64 {
        let (start, count) = (self.ring.above(from), to - from);
        let to_end = self.ring.size() - start;
        match count <= to_end {
            true => self.between(start, start + count, inputs),
            false => {
                let around = self.between(0, count - to_end, inputs);
                self.between(start, self.ring.size(), inputs) + around
            }
        }
    }

    /// Blocks `from` to `to` in a buffer that begins with this rank's block.
    pub(crate) fn rotated(&self, buf: Buf, from: u32, to: u32, inputs: &PlanInputs<'_>) -> Part {
        let first = self.len(0, from, inputs);
        Part::new(buf, first, self.len(from, to, inputs))
    }

    /// Blocks `from` to `to` in a buffer that begins with rank 0's block; they may go around.
    pub(crate) fn natural(&self, buf: Buf, from: u32, to: u32, inputs: &PlanInputs<'_>) -> Part {
        let (start, size) = (self.ring.above(from), self.ring.size());
        // Fewer lengths are summed from the nearer end.
        let first = match start <= size / 2 {
            true => self.between(0, start, inputs),
            false => (self.total()).saturating_sub(self.between(start, size, inputs)),
        };
        Part::new(buf, first, self.len(from, to, inputs)).around(self.total())
    }

    /// The elements of the blocks of ranks `from` to `to`.
    fn between(&self, from: u32, to: u32, inputs: &PlanInputs<'_>) -> u64 {
        match self.blocks {
            Division::Partition(count) => run(count, self.ring.size(), from, to).1,
            Division::Equal(count) => u64::from(to - from) * count,
            Division::Sends(_) => sum(inputs.arrays.sends, from, to),
            Division::Recvs(_) => sum(inputs.arrays.recvs, from, to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Division, RankRing, RotatedBlocks};
    use crate::plan::{Buf, CallArrays, LearnedLengths, PlanInputs};

    #[test]
    fn blocks_follow_around_the_circle() {
        let lengths = [3, 0, 5, 1, 7];
        let given = CallArrays {
            sends: &lengths,
            ..CallArrays::NOTHING
        };
        let learned = LearnedLengths::new();
        let inputs = PlanInputs::new(given, &learned);
        for rank in 0..5_u32 {
            let ring = RankRing::new(rank, 5);
            let view = RotatedBlocks {
                ring,
                blocks: Division::Sends(16),
            };
            assert_eq!(view.total(), 16);
            for from in 0..=5 {
                let mut len = 0;
                for to in from..=5 {
                    assert_eq!(view.len(from, to, &inputs), len);
                    let part = view.natural(Buf::Out, from, to, &inputs);
                    let first: u64 = lengths[..ring.above(from) as usize].iter().sum();
                    assert_eq!((part.first, part.count, part.wrap), (first, len, 16));
                    len += lengths[ring.above(to) as usize];
                }
            }
        }
    }
}
