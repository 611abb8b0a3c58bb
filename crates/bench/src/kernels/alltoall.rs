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

/// The block that this rank must receive from rank `from`; `all` is the length of the whole receive buffer.
fn block(sample: Sample, from: usize, all: usize) -> Piece {
    let first = sample.rank * (all / sample.ranks);
    Piece { from, first }
}

/// Writes this rank's pattern into the send buffer, and into the receive buffer the complement of the expected bytes,
/// so that a block that does not arrive is noticed.
pub(super) fn fill(sample: Sample, turn: Turn<'_>) {
    let all = turn.into.len();
    pattern::fill(sample, turn.out);
    pattern::fill_blocks_wrong(sample, |from| block(sample, from, all), turn.into);
    turn.counts.fill(all / sample.ranks);
}

/// Calls alltoall `times` times, each with the next set of buffers.
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

/// The largest difference between a byte that the last alltoall received and the expected byte; 0 if all are right.
pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    let into = buffers.last().into;
    pattern::max_block_error(sample, |from| block(sample, from, into.len()), into)
}
