//! Gather: the root gets the bytes of all ranks; the root rotates.

use super::pattern::{self, Piece};
use super::{Info, Sample, allgather, roots};
use crate::buffers::Turn;
use crate::{Buffers, Comm};

pub(super) use super::allgather::fill;

pub(super) const INFO: Info = Info {
    name: "Gather",
    about: "the bytes of all ranks, on one rank in turn",
    rooted: true,
    ..allgather::INFO
};

pub(super) fn repeat<C: Comm>(
    comm: &mut C,
    times: u32,
    buffers: &mut Buffers<'_>,
) -> Result<(), C::Error> {
    let rank = comm.rank();
    for root in roots::from(buffers.turns(), comm.size()).take(times as usize) {
        let Turn { out, into, .. } = buffers.turn();
        comm.gather(out, (rank == root).then_some(into), root)?;
    }
    Ok(())
}

pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    roots::last_of(sample.rank, sample.ranks, buffers.turns()).map_or(0.0, |turn| {
        pattern::max_block_error(sample, Piece::all, buffers.of(turn).into)
    })
}
