//! Scatter: the root sends each rank its part of the root's bytes; the root rotates.

use super::pattern::{self, Piece};
use super::{Info, Sample, roots};
use crate::buffers::Room;
use crate::buffers::Turn;
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

/// The part that this rank gets from `root`.
fn part(sample: Sample, root: usize, length: usize) -> Piece {
    Piece {
        from: root,
        first: sample.rank * length,
    }
}

pub(super) fn fill(sample: Sample, turn: Turn<'_>) {
    pattern::fill(sample, turn.out);
    let piece = part(sample, 0, turn.into.len());
    pattern::spoil(sample, piece, turn.into);
    turn.counts.fill(turn.into.len());
}

pub(super) fn repeat<C: Comm>(
    comm: &mut C,
    times: u32,
    buffers: &mut Buffers<'_>,
) -> Result<(), C::Error> {
    let rank = comm.rank();
    for root in roots::from(buffers.turns(), comm.size()).take(times as usize) {
        let Turn { out, into, .. } = buffers.turn();
        comm.scatter((rank == root).then_some(out), into, root)?;
    }
    Ok(())
}

pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    let root = roots::last(sample.ranks, buffers.turns());
    let into = buffers.last().into;
    pattern::differ(sample, part(sample, root, into.len()), into)
}
