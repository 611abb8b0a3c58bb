//! Allgather: every rank gets every rank's block (MPI 5.0, section 6.7). Elements are packed bytes.
//!
//! Every rank gives a block in `In`; in place, it is already where it belongs. Every rank gets the
//! blocks in `Out`, in the order of the ranks. The plans but [`RecursiveDoubling`] and
//! [`NeighborExchange`] serve allgatherv as well, where the blocks have different lengths and every
//! rank knows all of them.

mod bruck;
mod circulant;
mod linear;
mod neighbor_exchange;
mod recursive_doubling;
mod ring;

pub use bruck::Bruck;
pub(crate) use bruck::Exchange;
pub use circulant::Circulant;
pub use linear::Linear;
pub use neighbor_exchange::NeighborExchange;
pub use recursive_doubling::RecursiveDoubling;
pub use ring::Ring;

use crate::blocks::Blocks;
use crate::catalog::Call;
use crate::circle::Circle;
use crate::circular::{Around, CircularActs, Spot};
use crate::plan::{Acts, Buf, Known, Part};
use crate::window::copy;

/// What all ranks start from: where the blocks lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Board {
    blocks: Blocks,
    in_place: bool,
}

impl Board {
    const fn of(call: &Call) -> Self {
        Board {
            blocks: Blocks::of(call),
            in_place: call.in_place,
        }
    }

    /// The steps of an algorithm that takes so many for more than one rank.
    const fn steps(&self, size: u32, exchanges: u32) -> u32 {
        match size {
            _ if self.blocks.are_empty() => 0,
            1 => !self.in_place as u32,
            _ => exchanges,
        }
    }

    /// Where the block of the rank so far above belongs.
    fn block(&self, around: &Around<'_>, above: u32) -> Spot {
        around.output(self.blocks, above)
    }

    /// Where the own block lies at the start.
    fn own(&self, around: &Around<'_>) -> Spot {
        let belongs = self.block(around, 0);
        match self.in_place {
            true => belongs,
            false => Spot::fixed(Buf::In, 0, belongs.len()),
        }
    }

    /// Brings the own block where it belongs, if it is not there.
    fn take_own(&self, around: &Around<'_>, acts: &mut CircularActs<'_>) {
        if !self.in_place {
            acts.copy(self.own(around), self.block(around, 0));
        }
    }
}

/// The same, and where one rank stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Blackboard {
    place: Circle,
    board: Board,
}

impl Blackboard {
    const fn of(call: &Call) -> Self {
        Blackboard {
            place: Circle::of(call),
            board: Board::of(call),
        }
    }

    /// See [`Board::steps`].
    const fn steps(&self, exchanges: u32) -> u32 {
        self.board.steps(self.place.size(), exchanges)
    }

    /// Where block `rank` belongs.
    fn block(&self, known: &Known<'_>, rank: u32) -> Part {
        self.board.blocks.output(known, rank)
    }

    /// Where `n` blocks from block `first` on belong, around the circle.
    fn run(&self, known: &Known<'_>, first: u32, n: u32) -> Part {
        (self.board.blocks).outputs(known, first, n, self.place.size())
    }

    /// Where this rank's own block lies at the start.
    fn own(&self, known: &Known<'_>) -> Part {
        let belongs = self.block(known, self.place.rank());
        if self.board.in_place {
            belongs
        } else {
            Part::new(Buf::In, 0, belongs.len())
        }
    }

    /// Brings this rank's own block where it belongs, if it is not there.
    fn take_own(&self, known: &Known<'_>, acts: &mut Acts) {
        if !self.board.in_place {
            copy(acts, self.own(known), self.block(known, self.place.rank()));
        }
    }
}
