//! Gatherv: Gather with a length for each rank; they are equal.

use super::{Info, allgatherv, gather};
use crate::buffers::RepetitionBuffers;
use crate::comm::Done;
use crate::{Blocks, Comm};

pub(super) use super::gather::{check, fill};

pub(super) const INFO: Info = Info {
    name: "Gatherv",
    about: "Gather with a length for each rank",
    buffer_sizes: allgatherv::INFO.buffer_sizes,
    ..gather::INFO
};

pub(super) fn call<C: Comm>(comm: &mut C, buffers: RepetitionBuffers<'_>, root: usize) -> Done<C> {
    let RepetitionBuffers { out, into, counts } = buffers;
    let all = (comm.rank() == root).then_some(Blocks::new(into, counts));
    comm.gatherv(out, all, root)
}
