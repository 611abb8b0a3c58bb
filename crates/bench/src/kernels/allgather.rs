//! Allgather: every rank gets the bytes of all ranks.

use super::pattern::{self, Piece};
use super::{Info, Sample};
use crate::Buffers;
use crate::buffers::{BufferSizes, RepetitionBuffers};
use crate::comm::Collective;

pub(super) const INFO: Info = Info::collective(
    "Allgather",
    "the bytes of all ranks, on every rank",
    |bytes, ranks| BufferSizes {
        out: bytes,
        into: bytes * ranks,
        counts: 0,
    },
);

pub(super) fn fill(sample: Sample, buffers: RepetitionBuffers<'_>) {
    pattern::fill(sample, buffers.out);
    pattern::fill_blocks_wrong(sample, Piece::all, buffers.into);
    buffers.counts.fill(buffers.out.len());
}

pub(super) fn call(_rank: usize, buffers: RepetitionBuffers<'_>, _root: usize) -> Collective<'_> {
    Collective::Allgather(buffers.out, buffers.into)
}

pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    pattern::max_block_error(sample, Piece::all, buffers.last().into)
}
