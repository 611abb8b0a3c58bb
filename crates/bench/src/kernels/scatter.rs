//! Scatter: the root sends each rank an equal part of its bytes. Each repetition has the next rank as its root.

use super::pattern::{self, Piece};
use super::{Info, Sample, roots};
use crate::Buffers;
use crate::buffers::{BufferSizes, RepetitionBuffers};
use crate::comm::Collective;

pub(super) const INFO: Info = Info {
    rooted: true,
    ..Info::collective(
        "Scatter",
        "a part of the bytes of one rank in turn, to each rank",
        |bytes, ranks| BufferSizes {
            out: bytes * ranks,
            into: bytes,
            counts: 0,
        },
    )
};

/// The part that this rank must receive from `root`; `length` is the length of a part.
fn part(sample: Sample, root: usize, length: usize) -> Piece {
    Piece {
        from: root,
        first: sample.rank * length,
    }
}

/// Writes this rank's pattern into the send buffer, and into the receive buffer the complement of the expected bytes,
/// so that a part that does not arrive is noticed.
pub(super) fn fill(sample: Sample, buffers: RepetitionBuffers<'_>) {
    pattern::fill(sample, buffers.out);
    let piece = part(sample, 0, buffers.into.len());
    pattern::fill_wrong(sample, piece, buffers.into);
    buffers.counts.fill(buffers.into.len());
}

pub(super) fn call(rank: usize, buffers: RepetitionBuffers<'_>, root: usize) -> Collective<'_> {
    let all = (rank == root).then_some(&*buffers.out);
    Collective::Scatter(all, buffers.into, root)
}

/// The largest difference between a byte that the last scatter received and the expected byte; 0 if all are right.
pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    let root = roots::last(sample.ranks, buffers.repetitions());
    let into = buffers.last().into;
    pattern::max_error(sample, part(sample, root, into.len()), into)
}
