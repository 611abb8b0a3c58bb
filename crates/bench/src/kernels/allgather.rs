//! Allgather: every rank gets the bytes of all ranks.

use super::pattern::{self, Piece};
use super::{Info, Sample};
use crate::buffers::Room;
use crate::buffers::Turn;
use crate::{Buffers, Comm};

pub(super) const INFO: Info = Info::collective(
    "Allgather",
    "the bytes of all ranks, on every rank",
    |bytes, ranks| Room {
        out: bytes,
        into: bytes * ranks,
        counts: 0,
    },
);

pub(super) fn fill(sample: Sample, turn: Turn<'_>) {
    pattern::fill(sample, turn.out);
    pattern::fill_blocks_wrong(sample, Piece::all, turn.into);
    turn.counts.fill(turn.out.len());
}

pub(super) fn repeat<C: Comm>(
    comm: &mut C,
    times: u32,
    buffers: &mut Buffers<'_>,
) -> Result<(), C::Error> {
    for _ in 0..times {
        let Turn { out, into, .. } = buffers.turn();
        comm.allgather(out, into)?;
    }
    Ok(())
}

pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    pattern::max_block_error(sample, Piece::all, buffers.last().into)
}
