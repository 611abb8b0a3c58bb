//! Reduce: the root gets the sum of all ranks' vectors of single-precision numbers; the root rotates.

use super::{Info, Sample, allreduce, pattern, roots};
use crate::Buffers;
use crate::buffers::RepetitionBuffers;
use crate::comm::Collective;

pub(super) use super::allreduce::fill;

pub(super) const INFO: Info = Info {
    name: "Reduce",
    about: "the sum of all ranks' vectors, on one rank in turn",
    rooted: true,
    ..allreduce::INFO
};

pub(super) fn call(rank: usize, buffers: RepetitionBuffers<'_>, root: usize) -> Collective<'_> {
    let (out, into) = buffers.floats();
    let sums = (rank == root).then_some(into);
    Collective::ReduceSum(out, sums, root)
}

pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    roots::last_of(sample.rank, sample.ranks, buffers.repetitions()).map_or(0.0, |repetition| {
        let (_, into) = buffers.of(repetition).floats();
        pattern::max_sum_error(sample, 0, into)
    })
}
