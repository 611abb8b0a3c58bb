//! Gather: the root gets the bytes of all ranks; the root rotates.

use super::pattern::{self, Piece};
use super::{Info, Sample, allgather, roots};
use crate::Buffers;
use crate::buffers::RepetitionBuffers;
use crate::comm::Collective;

pub(super) use super::allgather::fill;

pub(super) const INFO: Info = Info {
    name: "Gather",
    about: "the bytes of all ranks, on one rank in turn",
    rooted: true,
    ..allgather::INFO
};

pub(super) fn call(rank: usize, buffers: RepetitionBuffers<'_>, root: usize) -> Collective<'_> {
    let all = (rank == root).then_some(buffers.into);
    Collective::Gather(buffers.out, all, root)
}

pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    roots::last_of(sample.rank, sample.ranks, buffers.repetitions()).map_or(0.0, |repetition| {
        pattern::max_block_error(sample, Piece::all, buffers.of(repetition).into)
    })
}
