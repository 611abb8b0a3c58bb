//! Allgather: every rank gets the bytes of all ranks.

use super::pattern::{self, Piece};
use super::{Info, Sample};
use crate::buffers::{Room, Turn};
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
    pattern::spoil_blocks(sample, Piece::all, turn.into);
    turn.counts.fill(turn.out.len());
}

pub(super) fn call<C: Comm>(comm: &mut C, turn: Turn<'_>, _: usize) -> Result<(), C::Error> {
    comm.allgather(turn.out, turn.into)
}

pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    pattern::differ_blocks(sample, Piece::all, buffers.last().into)
}
