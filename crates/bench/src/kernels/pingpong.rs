//! PingPong: two ranks send one message back and forth; half the round trip is reported.
//!
//! Receives accept any source, as the Intel MPI Benchmarks User Guide specifies for PingPong.

use super::pattern::{self, Piece};
use super::{Info, Sample, TAG};
use crate::buffers::RepetitionBuffers;
use crate::comm::Done;
use crate::{Buffers, Comm, Source};

pub(super) const INFO: Info = Info {
    trips: 2,
    ..Info::transfer("PingPong", "one message to and fro between two ranks", 1)
};

/// Each rank sends its own pattern, so that a message sent back unread is detected.
pub(super) fn fill(sample: Sample, buffers: RepetitionBuffers<'_>) {
    pattern::fill(sample, buffers.out);
    pattern::fill_wrong(sample, Piece::all(1 - sample.rank), buffers.into);
}

pub(super) fn repeat<C: Comm>(comm: &mut C, times: u32, buffers: &mut Buffers<'_>) -> Done<C> {
    to_and_fro(comm, Source::Any, times, buffers)
}

/// The timed loop, with receives from `source`.
pub(super) fn to_and_fro<C: Comm>(
    comm: &mut C,
    source: Source,
    times: u32,
    buffers: &mut Buffers<'_>,
) -> Done<C> {
    if comm.rank() == 0 {
        for _ in 0..times {
            let RepetitionBuffers { out, into, .. } = buffers.advance();
            comm.send(out, 1, TAG)?;
            comm.recv(into, source, TAG)?;
        }
    } else {
        for _ in 0..times {
            let RepetitionBuffers { out, into, .. } = buffers.advance();
            comm.recv(into, source, TAG)?;
            comm.send(out, 0, TAG)?;
        }
    }
    Ok(())
}

pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    let peer = Piece::all(1 - sample.rank);
    pattern::max_error(sample, peer, buffers.last().into)
}
