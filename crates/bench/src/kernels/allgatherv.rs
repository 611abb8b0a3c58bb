//! Allgatherv: Allgather with a length for each rank; they are equal.

use super::{Info, allgather};
use crate::Blocks;
use crate::buffers::{BufferSizes, RepetitionBuffers};
use crate::comm::Collective;

pub(super) use super::allgather::{check, fill};

pub(super) const INFO: Info = Info {
    name: "Allgatherv",
    about: "Allgather with a length for each rank",
    buffer_sizes: |bytes, ranks| BufferSizes {
        counts: ranks,
        ..(allgather::INFO.buffer_sizes)(bytes, ranks)
    },
    ..allgather::INFO
};

pub(super) fn call(_rank: usize, buffers: RepetitionBuffers<'_>, _root: usize) -> Collective<'_> {
    Collective::Allgatherv(buffers.out, Blocks::new(buffers.into, buffers.counts))
}
