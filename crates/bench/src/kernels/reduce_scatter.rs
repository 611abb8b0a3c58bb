//! Reduce_scatter: the sum of all ranks' vectors of single-precision numbers, scattered to the ranks as
//! evenly as possible: of L items rank i gets L div np, and one more where i < L mod np.

use super::{Info, Sample, pattern};
use crate::Buffers;
use crate::buffers::{BufferSizes, RepetitionBuffers};
use crate::comm::Collective;

pub(super) const INFO: Info = Info::reduction(
    "Reduce_scatter",
    "the sum of all ranks' vectors, a part to each rank",
    |bytes, ranks| BufferSizes {
        out: bytes,
        into: items(bytes, ranks, 0) * size_of::<f32>(),
        counts: ranks,
    },
);

/// The number of items that `rank` gets of `bytes`.
fn items(bytes: usize, ranks: usize, rank: usize) -> usize {
    let all = bytes / size_of::<f32>();
    all / ranks + usize::from(rank < all % ranks)
}

pub(super) fn fill(sample: Sample, buffers: RepetitionBuffers<'_>) {
    for (rank, count) in buffers.counts.iter_mut().enumerate() {
        *count = items(buffers.out.len(), sample.ranks, rank);
    }
    let (out, into) = buffers.floats();
    pattern::fill_numbers(sample, out, into);
}

pub(super) fn call(rank: usize, buffers: RepetitionBuffers<'_>, _root: usize) -> Collective<'_> {
    let (out, into, counts) = buffers.counted_floats();
    let own = counts[rank];
    Collective::ReduceScatterSum(out, counts, &mut into[..own])
}

pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    let (_, into, counts) = buffers.last().counted_floats();
    let first = counts[..sample.rank].iter().sum();
    pattern::max_sum_error(sample, first, &into[..counts[sample.rank]])
}
