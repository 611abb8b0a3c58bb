//! Alltoallv: Alltoall with a length for each pair of ranks; they are equal.

use super::{Info, alltoall};
use crate::Blocks;
use crate::buffers::{BufferSizes, RepetitionBuffers};
use crate::comm::Collective;

pub(super) use super::alltoall::{check, fill};

pub(super) const INFO: Info = Info {
    name: "Alltoallv",
    about: "Alltoall with a length for each pair of ranks",
    buffer_sizes: |bytes, ranks| BufferSizes {
        counts: ranks,
        ..(alltoall::INFO.buffer_sizes)(bytes, ranks)
    },
    ..alltoall::INFO
};

pub(super) fn call(_rank: usize, buffers: RepetitionBuffers<'_>, _root: usize) -> Collective<'_> {
    let RepetitionBuffers { out, into, counts } = buffers;
    Collective::Alltoallv(Blocks::new(&*out, &*counts), Blocks::new(into, &*counts))
}
