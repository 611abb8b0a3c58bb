//! Scatterv: Scatter with a length for each rank; they are equal.

use super::{Info, scatter};
use crate::Blocks;
use crate::buffers::{BufferSizes, RepetitionBuffers};
use crate::comm::Collective;

pub(super) use super::scatter::{check, fill};

pub(super) const INFO: Info = Info {
    name: "Scatterv",
    about: "Scatter with a length for each rank",
    buffer_sizes: |bytes, ranks| BufferSizes {
        counts: ranks,
        ..(scatter::INFO.buffer_sizes)(bytes, ranks)
    },
    ..scatter::INFO
};

pub(super) fn call(rank: usize, buffers: RepetitionBuffers<'_>, root: usize) -> Collective<'_> {
    let RepetitionBuffers { out, into, counts } = buffers;
    let all = (rank == root).then_some(Blocks::new(&*out, &*counts));
    Collective::Scatterv(all, into, root)
}
