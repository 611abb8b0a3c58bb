//! Allgather: every rank gets every rank's block (MPI 5.0, section 6.7). Elements are packed bytes.
//!
//! Every rank gives a block in `In`; in place, it is already where it belongs. Every rank gets the
//! blocks in `Out`, in the order of the ranks. The plans but [`AllgatherDoubling`] and
//! [`NeighborExchange`] serve allgatherv as well, where the blocks have different lengths and every
//! rank knows all of them.

mod bruck;
mod circulant;
mod linear;
mod neighbor_exchange;
mod recursive_doubling;
mod ring;

pub(crate) use bruck::AllgatherBruck;
pub(crate) use bruck::BruckExchange;
pub(crate) use circulant::AllgatherCirculant;
pub(crate) use linear::AllgatherLinear;
pub(crate) use neighbor_exchange::NeighborExchange;
pub(crate) use recursive_doubling::AllgatherDoubling;
pub(crate) use ring::AllgatherRing;

use crate::blocks::Blocks;
use crate::call::Call;
use crate::eager::copy;
use crate::plan::{Acts, Buf, Part, PlanInputs};
use crate::rank_ring::RankRing;
use crate::symmetric::{RelativeActs, RelativePart, RelativeView};

/// The blocks of an allgather by distance, and where a rank's own block lies at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BlockLayout {
    blocks: Blocks,
    in_place: bool,
}

impl BlockLayout {
    const fn of(call: &Call) -> Self {
        BlockLayout {
            blocks: Blocks::of(call),
            in_place: call.in_place,
        }
    }

    /// The steps of an algorithm with `exchanges` steps for more than one rank.
    const fn steps(&self, size: u32, exchanges: u32) -> u32 {
        match size {
            _ if self.blocks.are_empty() => 0,
            1 => !self.in_place as u32,
            _ => exchanges,
        }
    }

    /// The place of the block of the rank `above` above.
    fn block(&self, around: &RelativeView<'_>, above: u32) -> RelativePart {
        around.output(self.blocks, above)
    }

    /// The place of the own block at the start.
    fn own(&self, around: &RelativeView<'_>) -> RelativePart {
        let belongs = self.block(around, 0);
        match self.in_place {
            true => belongs,
            false => RelativePart::fixed(Buf::In, 0, belongs.len()),
        }
    }

    /// Copies the own block to its place, unless it is there.
    fn take_own(&self, around: &RelativeView<'_>, acts: &mut RelativeActs<'_>) {
        if !self.in_place {
            acts.copy(self.own(around), self.block(around, 0));
        }
    }
}

/// [`BlockLayout`] seen from one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RankBlocks {
    place: RankRing,
    layout: BlockLayout,
}

impl RankBlocks {
    const fn of(call: &Call) -> Self {
        RankBlocks {
            place: RankRing::of(call),
            layout: BlockLayout::of(call),
        }
    }

    /// See [`BlockLayout::steps`].
    const fn steps(&self, exchanges: u32) -> u32 {
        self.layout.steps(self.place.size(), exchanges)
    }

    /// The place of block `rank`.
    fn block(&self, inputs: &PlanInputs<'_>, rank: u32) -> Part {
        self.layout.blocks.output(inputs, rank)
    }

    /// The place of `n` blocks from block `first` on, around the ring.
    fn run(&self, inputs: &PlanInputs<'_>, first: u32, n: u32) -> Part {
        (self.layout.blocks).outputs(inputs, first, n, self.place.size())
    }

    /// The place of this rank's own block at the start.
    fn own(&self, inputs: &PlanInputs<'_>) -> Part {
        let belongs = self.block(inputs, self.place.rank());
        if self.layout.in_place {
            belongs
        } else {
            Part::new(Buf::In, 0, belongs.len())
        }
    }

    /// Copies this rank's own block to its place, unless it is there.
    fn take_own(&self, inputs: &PlanInputs<'_>, acts: &mut Acts) {
        if !self.layout.in_place {
            copy(
                acts,
                self.own(inputs),
                self.block(inputs, self.place.rank()),
            );
        }
    }
}
