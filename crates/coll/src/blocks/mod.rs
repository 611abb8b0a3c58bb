//! The blocks of a rank's input or output, one for each rank: all of one length, or of the lengths
//! that the caller gives.

mod division;

pub(crate) use division::{Division, RotatedBlocks};

use crate::call::{Call, Collective};
use crate::partition::{longest, piece, run};
use crate::plan::{Buf, Part, PlanInputs};
use crate::rank_ring::RankRing;
use core::ops::Range;

/// How long the blocks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blocks {
    /// Blocks of this many elements.
    Even(u64),
    /// A vector of the first number of elements, cut into almost equal blocks for the second number of ranks.
    Partition(u64, u32),
    /// Blocks of the lengths in the caller's arrays; missing ones are empty.
    Given,
}

impl Blocks {
    /// The blocks of the call.
    pub(crate) const fn of(call: &Call) -> Self {
        match call.collective {
            Collective::Gatherv
            | Collective::Scatterv
            | Collective::Allgatherv
            | Collective::Alltoallv
            | Collective::ReduceScatter
            | Collective::NeighborAllgatherv
            | Collective::NeighborAlltoallv => Blocks::Given,
            _ => Blocks::Even(call.count),
        }
    }

    /// Whether it is certain that no block has an element.
    pub(crate) const fn are_empty(&self) -> bool {
        matches!(self, Blocks::Even(0) | Blocks::Partition(0, _))
    }

    /// Block `n` of the input.
    pub(crate) fn input(&self, inputs: &PlanInputs<'_>, n: u32) -> Part {
        match *self {
            Blocks::Even(count) => Part::new(Buf::In, u64::from(n) * count, count),
            Blocks::Partition(count, ranks) => cut(Buf::In, count, ranks, n),
            Blocks::Given => Part::new(Buf::InBlock(n), 0, length(inputs.arrays.sends, n)),
        }
    }

    /// Block `n` of the output.
    pub(crate) fn output(&self, inputs: &PlanInputs<'_>, n: u32) -> Part {
        match *self {
            Blocks::Even(count) => Part::new(Buf::Out, u64::from(n) * count, count),
            Blocks::Partition(count, ranks) => cut(Buf::Out, count, ranks, n),
            Blocks::Given => Part::new(Buf::OutBlock(n), 0, length(inputs.arrays.recvs, n)),
        }
    }

    /// `n` blocks of the output from block `first` on; after the last of `size` blocks comes the
    /// first.
    ///
    /// # Cost
    ///
    /// Reads `n` of the caller's lengths, if there are any.
    pub(crate) fn outputs(&self, inputs: &PlanInputs<'_>, first: u32, n: u32, size: u32) -> Part {
        match *self {
            Blocks::Even(count) => {
                Part::new(Buf::Out, u64::from(first) * count, u64::from(n) * count)
                    .around(u64::from(size) * count)
            }
            Blocks::Partition(count, ranks) => {
                let to_end = n.min(ranks - first);
                let (at, len) = run(count, ranks, first, first + to_end);
                let around = run(count, ranks, 0, n - to_end).1;
                Part::new(Buf::Out, at, len + around).around(count)
            }
            Blocks::Given => {
                let to_end = n.min(size - first);
                let given = inputs.arrays.recvs;
                let count = sum(given, first, first + to_end) + sum(given, 0, n - to_end);
                Part::new(Buf::OutBlock(first), 0, count)
            }
        }
    }

    /// A range of elements of the output blocks from block `first` on around the ring. `elements` computes
    /// the range, counted from there, given a function that counts the elements of some blocks, likewise
    /// counted from there.
    ///
    /// # Cost
    ///
    /// Reads the lengths of all blocks that are asked about, if the caller gives them.
    pub(crate) fn within_outputs(
        &self,
        inputs: &PlanInputs<'_>,
        first: u32,
        size: u32,
        elements: impl FnOnce(&dyn Fn(Range<u32>) -> u64) -> Range<u64>,
    ) -> Part {
        let ring = RankRing::new(first, size);
        let of = |blocks: Range<u32>| {
            let first = ring.above(blocks.start);
            self.outputs(inputs, first, blocks.end - blocks.start, size)
                .count
        };
        let elements = elements(&of);
        let (mut block, mut at) = (first, elements.start);
        if *self == Blocks::Given {
            // What lies within one block is one range.
            while at > 0 && at >= self.output(inputs, block).len() {
                at -= self.output(inputs, block).len();
                block = RankRing::new(block, size).above(1);
            }
        }
        let count = elements.end - elements.start;
        self.outputs(inputs, block, 0, size).further(at, count)
    }

    /// The longest block of the output.
    ///
    /// # Cost
    ///
    /// Reads all of the caller's lengths, if there are any.
    pub(crate) fn longest_output(&self, inputs: &PlanInputs<'_>) -> u64 {
        match *self {
            Blocks::Even(count) => count,
            Blocks::Partition(count, ranks) => longest(count, ranks),
            Blocks::Given => inputs.arrays.recvs.iter().copied().max().unwrap_or(0),
        }
    }
}

/// Block `n` of a vector that is cut.
fn cut(buf: Buf, count: u64, ranks: u32, n: u32) -> Part {
    let (first, count) = piece(0, count, ranks, n);
    Part::new(buf, first, count)
}

/// The elements of blocks `from` to `to`.
pub(crate) fn sum(lengths: &[u64], from: u32, to: u32) -> u64 {
    let end = lengths.len().min(to as usize);
    let lengths = lengths.get(from as usize..end);
    lengths.unwrap_or_default().iter().sum()
}

fn length(lengths: &[u64], n: u32) -> u64 {
    lengths.get(n as usize).copied().unwrap_or(0)
}
