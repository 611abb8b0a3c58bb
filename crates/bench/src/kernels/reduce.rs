//! Reduce: the root gets the sum of all ranks' vectors of single-precision numbers; the root rotates.

use super::{Info, Sample, allreduce, pattern, roots};
use crate::{Buffers, Comm};

pub(super) use super::allreduce::fill;

pub(super) const INFO: Info = Info {
    name: "Reduce",
    about: "the sum of all ranks' vectors, on one rank in turn",
    rooted: true,
    ..allreduce::INFO
};

pub(super) fn repeat<C: Comm>(
    comm: &mut C,
    times: u32,
    buffers: &mut Buffers<'_>,
) -> Result<(), C::Error> {
    let rank = comm.rank();
    for root in roots::from(buffers.turns(), comm.size()).take(times as usize) {
        let (out, into) = buffers.turn().floats();
        comm.reduce_sum(out, (rank == root).then_some(into), root)?;
    }
    Ok(())
}

pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    roots::last_of(sample.rank, sample.ranks, buffers.turns()).map_or(0.0, |turn| {
        let (_, into) = buffers.of(turn).floats();
        pattern::max_sum_error(sample, 0, into)
    })
}
