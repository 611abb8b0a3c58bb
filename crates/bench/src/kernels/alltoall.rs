//! Alltoall: every rank sends a different message to every rank.

use super::pattern::{self, Piece};
use super::{Info, Sample};
use crate::Buffers;
use crate::buffers::{BufferSizes, RepetitionBuffers};
use crate::comm::Collective;

pub(super) const INFO: Info = Info::collective(
    "Alltoall",
    "from every rank a message to every rank",
    |bytes, ranks| BufferSizes::both(bytes * ranks),
);

/// The block that this rank must receive from rank `from`; `all` is the length of the whole receive buffer.
fn block(sample: Sample, from: usize, all: usize) -> Piece {
    let first = sample.rank * (all / sample.ranks);
    Piece { from, first }
}

/// Writes this rank's pattern into the send buffer, and into the receive buffer the complement of the expected bytes,
/// so that a block that does not arrive is noticed.
pub(super) fn fill(sample: Sample, buffers: RepetitionBuffers<'_>) {
    let all = buffers.into.len();
    pattern::fill(sample, buffers.out);
    pattern::fill_blocks_wrong(sample, |from| block(sample, from, all), buffers.into);
    buffers.counts.fill(all / sample.ranks);
}

pub(super) fn call(_rank: usize, buffers: RepetitionBuffers<'_>, _root: usize) -> Collective<'_> {
    Collective::Alltoall(buffers.out, buffers.into)
}

/// The largest difference between a byte that the last alltoall received and the expected byte; 0 if all are right.
pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    let into = buffers.last().into;
    pattern::max_block_error(sample, |from| block(sample, from, into.len()), into)
}
