//! Scatterv: Scatter with a length for each rank; they are equal.

use super::{Info, scatter};
use crate::buffers::{BufferSizes, RepetitionBuffers};
use crate::comm::Done;
use crate::{Blocks, Comm};

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

pub(super) fn call<C: Comm>(comm: &mut C, buffers: RepetitionBuffers<'_>, root: usize) -> Done<C> {
    let RepetitionBuffers { out, into, counts } = buffers;
    let all = (comm.rank() == root).then_some(Blocks::new(&*out, counts));
    comm.scatterv(all, into, root)
}
