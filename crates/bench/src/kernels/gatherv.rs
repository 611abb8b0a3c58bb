//! Gatherv: Gather with a length for each rank; they are equal.

use super::{Info, allgatherv, gather};
use crate::Blocks;
use crate::buffers::RepetitionBuffers;
use crate::comm::Collective;

pub(super) use super::gather::{check, fill};

pub(super) const INFO: Info = Info {
    name: "Gatherv",
    about: "Gather with a length for each rank",
    buffer_sizes: allgatherv::INFO.buffer_sizes,
    ..gather::INFO
};

pub(super) fn call(rank: usize, buffers: RepetitionBuffers<'_>, root: usize) -> Collective<'_> {
    let RepetitionBuffers { out, into, counts } = buffers;
    let all = (rank == root).then_some(Blocks::new(into, &*counts));
    Collective::Gatherv(out, all, root)
}
