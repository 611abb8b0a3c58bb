//! Sendrecv: a periodic chain; each rank sends to the next and receives from the previous one.

use super::info::{Active, Class};
use super::pattern::{self, Piece};
use super::{Info, Sample, TAG};
use crate::buffers::RepetitionBuffers;
use crate::comm::Done;
use crate::{Buffers, Comm, Source};

/// One message leaves a rank and one enters it.
pub(super) const INFO: Info = Info {
    class: Class::ParallelTransfer,
    active: Active::All,
    ..Info::transfer("Sendrecv", "each rank sends to the next of a ring", 2)
};

/// The expected data: all that the previous rank sends.
fn left(sample: Sample) -> Piece {
    Piece::all((sample.rank + sample.ranks - 1) % sample.ranks)
}

pub(super) fn fill(sample: Sample, buffers: RepetitionBuffers<'_>) {
    pattern::fill(sample, buffers.out);
    pattern::fill_wrong(sample, left(sample), buffers.into);
}

pub(super) fn repeat<C: Comm>(comm: &mut C, times: u32, buffers: &mut Buffers<'_>) -> Done<C> {
    let (rank, ranks) = (comm.rank(), comm.size());
    let (right, left) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    for _ in 0..times {
        let RepetitionBuffers { out, into, .. } = buffers.advance();
        comm.sendrecv(out, right, into, Source::Rank(left), TAG)?;
    }
    Ok(())
}

pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    pattern::max_error(sample, left(sample), buffers.last().into)
}
