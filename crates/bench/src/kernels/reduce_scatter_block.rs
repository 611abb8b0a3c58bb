//! Reduce_scatter_block: the sum of all ranks' vectors of single-precision numbers; each rank gets a part
//! as long as the message.
//!
//! The guide lacks this kernel; it is as in the Intel MPI Benchmarks 2021.

use super::{Info, Sample, pattern};
use crate::Buffers;
use crate::buffers::{BufferSizes, RepetitionBuffers};
use crate::comm::Collective;

pub(super) use super::allreduce::fill;

/// Each rank's part has as many whole numbers as fit into the length.
pub(super) const INFO: Info = Info::reduction(
    "Reduce_scatter_block",
    "the sum of all ranks' vectors, an equal part to each rank",
    |bytes, ranks| {
        let part = bytes / size_of::<f32>() * size_of::<f32>();
        BufferSizes {
            out: part * ranks,
            into: part,
            counts: 0,
        }
    },
);

pub(super) fn call(_rank: usize, buffers: RepetitionBuffers<'_>, _root: usize) -> Collective<'_> {
    let (out, into) = buffers.floats();
    Collective::ReduceScatterBlockSum(out, into)
}

pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    let (_, into) = buffers.last().floats();
    pattern::max_sum_error(sample, sample.rank * into.len(), into)
}
