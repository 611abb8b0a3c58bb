//! Scatter: the root sends each rank an equal part of its bytes. Each repetition has the next rank as its root.

use super::pattern::{self, Piece};
use super::{Info, Sample, roots};
use crate::buffers::{Room, Turn};
use crate::{Buffers, Comm};

pub(super) const INFO: Info = Info {
    rooted: true,
    ..Info::collective(
        "Scatter",
        "a part of the bytes of one rank in turn, to each rank",
        |bytes, ranks| Room {
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
pub(super) fn fill(sample: Sample, turn: Turn<'_>) {
    pattern::fill(sample, turn.out);
    let piece = part(sample, 0, turn.into.len());
    pattern::spoil(sample, piece, turn.into);
    turn.counts.fill(turn.into.len());
}

pub(super) fn call<C: Comm>(comm: &mut C, turn: Turn<'_>, root: usize) -> Result<(), C::Error> {
    let all = (comm.rank() == root).then_some(&*turn.out);
    comm.scatter(all, turn.into, root)
}

/// The largest difference between a byte that the last scatter received and the expected byte; 0 if all are right.
pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    let root = roots::last(sample.ranks, buffers.turns());
    let into = buffers.last().into;
    pattern::differ(sample, part(sample, root, into.len()), into)
}
