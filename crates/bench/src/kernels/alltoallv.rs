//! Alltoallv: Alltoall with a length for each pair of ranks; they are equal.

use super::{Info, alltoall};
use crate::buffers::{BufferSizes, RepetitionBuffers};
use crate::comm::Done;
use crate::{Blocks, Comm};

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

pub(super) fn call<C: Comm>(comm: &mut C, buffers: RepetitionBuffers<'_>, _root: usize) -> Done<C> {
    let RepetitionBuffers { out, into, counts } = buffers;
    comm.alltoallv(Blocks::new(&*out, counts), Blocks::new(into, counts))
}
