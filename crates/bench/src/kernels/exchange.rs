//! Exchange: a periodic chain; each rank sends to both neighbours and receives from both, as grid codes
//! exchange borders.

use super::info::{Active, Class};
use super::pattern::{self, Piece};
use super::{Info, Sample, TAG};
use crate::buffers::{BufferSizes, RepetitionBuffers};
use crate::comm::Done;
use crate::{Buffers, Comm, Source};

/// Two messages leave a rank and two enter it, each with a buffer of its own.
pub(super) const INFO: Info = Info {
    class: Class::ParallelTransfer,
    active: Active::All,
    buffer_sizes: |bytes, _| BufferSizes::both(2 * bytes),
    ..Info::transfer(
        "Exchange",
        "each rank exchanges with both neighbours of a ring",
        4,
    )
};

/// The two messages received, in order: from the left neighbour its message to the right, and from the
/// right neighbour its message to the left. If both neighbours are one rank, its messages arrive in the
/// order in which it sends them.
fn pieces(sample: Sample, each: usize) -> [Piece; 2] {
    let (rank, ranks) = (sample.rank, sample.ranks);
    let firsts = if ranks > 2 { [each, 0] } else { [0, each] };
    let (left, right) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
    let piece = |from, first| Piece { from, first };
    [piece(left, firsts[0]), piece(right, firsts[1])]
}

pub(super) fn fill(sample: Sample, buffers: RepetitionBuffers<'_>) {
    pattern::fill(sample, buffers.out);
    let each = buffers.into.len() / 2;
    let [first, second] = pieces(sample, each);
    let (from_left, from_right) = buffers.into.split_at_mut(each);
    pattern::fill_wrong(sample, first, from_left);
    pattern::fill_wrong(sample, second, from_right);
}

pub(super) fn repeat<C: Comm>(comm: &mut C, times: u32, buffers: &mut Buffers<'_>) -> Done<C> {
    let (rank, ranks) = (comm.rank(), comm.size());
    let (left, right) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
    for _ in 0..times {
        let RepetitionBuffers { out, into, .. } = buffers.advance();
        let (to_left, to_right) = out.split_at(out.len() / 2);
        let (from_left, from_right) = into.split_at_mut(into.len() / 2);
        comm.exchange(
            [(to_left, left), (to_right, right)],
            [
                (from_left, Source::Rank(left)),
                (from_right, Source::Rank(right)),
            ],
            TAG,
        )?;
    }
    Ok(())
}

pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    let into = buffers.last().into;
    let (from_left, from_right) = into.split_at(into.len() / 2);
    let [first, second] = pieces(sample, from_left.len());
    pattern::max_error(sample, first, from_left).max(pattern::max_error(sample, second, from_right))
}
