//! Bcast: every rank gets the bytes of the root; the root rotates.

use super::pattern::{self, Piece};
use super::{Info, Sample};
use crate::Buffers;
use crate::buffers::{BufferSizes, RepetitionBuffers};
use crate::comm::Collective;

pub(super) const INFO: Info = Info {
    rooted: true,
    ..Info::collective(
        "Bcast",
        "the bytes of one rank in turn, on every rank",
        |bytes, _| BufferSizes::both(bytes),
    )
};

pub(super) fn fill(sample: Sample, buffers: RepetitionBuffers<'_>) {
    pattern::fill(sample, buffers.out);
    let first = usize::from(sample.rank == 0) % sample.ranks;
    pattern::fill_wrong(sample, Piece::all(first), buffers.into);
}

/// The root always sends from its send buffer, so that the data it received before stays.
pub(super) fn call(rank: usize, buffers: RepetitionBuffers<'_>, root: usize) -> Collective<'_> {
    let is_root = rank == root;
    Collective::Bcast(if is_root { buffers.out } else { buffers.into }, root)
}

/// The root of the last repetition received its data in the repetition before.
pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    let repetitions = buffers.repetitions();
    let Some(repetition) = (0..repetitions)
        .rev()
        .find(|repetition| repetition % sample.ranks != sample.rank)
    else {
        return 0.0;
    };
    let root = Piece::all(repetition % sample.ranks);
    pattern::max_error(sample, root, buffers.of(repetition).into)
}
