//! Alltoall: every rank sends a different message to every rank.

use super::pattern::{self, Piece};
use super::{Info, Sample};
use crate::buffers::Room;
use crate::buffers::Turn;
use crate::{Buffers, Comm};

pub(super) const INFO: Info = Info::collective(
    "Alltoall",
    "from every rank a message to every rank",
    |bytes, ranks| Room::both(bytes * ranks),
);

/// The block that rank `from` sends to this rank.
fn block(sample: Sample, from: usize, all: usize) -> Piece {
    let first = sample.rank * (all / sample.ranks);
    Piece { from, first }
}

pub(super) fn fill(sample: Sample, turn: Turn<'_>) {
    let all = turn.into.len();
    pattern::fill(sample, turn.out);
    pattern::spoil_blocks(sample, |from| block(sample, from, all), turn.into);
    turn.counts.fill(all / sample.ranks);
}

pub(super) fn repeat<C: Comm>(
    comm: &mut C,
    times: u32,
    buffers: &mut Buffers<'_>,
) -> Result<(), C::Error> {
    for _ in 0..times {
        let Turn { out, into, .. } = buffers.turn();
        comm.alltoall(out, into)?;
    }
    Ok(())
}

pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    let into = buffers.last().into;
    pattern::differ_blocks(sample, |from| block(sample, from, into.len()), into)
}
