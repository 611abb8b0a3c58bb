//! Allreduce: every rank gets the sum of all ranks' vectors of single-precision numbers.

use super::{Info, Sample, pattern};
use crate::Buffers;
use crate::buffers::{BufferSizes, RepetitionBuffers};
use crate::comm::Collective;

pub(super) const INFO: Info = Info::reduction(
    "Allreduce",
    "the sum of all ranks' vectors, on every rank",
    |bytes, _| BufferSizes::both(bytes),
);

pub(super) fn fill(sample: Sample, buffers: RepetitionBuffers<'_>) {
    let (out, into) = buffers.floats();
    pattern::fill_numbers(sample, out, into);
}

pub(super) fn call(_rank: usize, buffers: RepetitionBuffers<'_>, _root: usize) -> Collective<'_> {
    let (out, into) = buffers.floats();
    Collective::AllreduceSum(out, into)
}

pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    let (_, into) = buffers.last().floats();
    pattern::max_sum_error(sample, 0, into)
}
