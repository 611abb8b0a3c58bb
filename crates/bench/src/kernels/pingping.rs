//! PingPing: two ranks send to each other at once, so that messages meet oncoming ones.
//!
//! Receives accept any source, as the Intel MPI Benchmarks User Guide specifies for PingPing.

use super::{Info, TAG};
use crate::buffers::RepetitionBuffers;
use crate::comm::Done;
use crate::{Buffers, Comm, Source};

pub(super) use super::pingpong::{check, fill};

pub(super) const INFO: Info = Info::transfer("PingPing", "two ranks send to each other at once", 1);

pub(super) fn repeat<C: Comm>(comm: &mut C, times: u32, buffers: &mut Buffers<'_>) -> Done<C> {
    head_on(comm, Source::Any, times, buffers)
}

/// The timed loop, with receives from `source`.
pub(super) fn head_on<C: Comm>(
    comm: &mut C,
    source: Source,
    times: u32,
    buffers: &mut Buffers<'_>,
) -> Done<C> {
    let peer = 1 - comm.rank();
    for _ in 0..times {
        let RepetitionBuffers { out, into, .. } = buffers.advance();
        comm.exchange([(out, peer)], [(into, source)], TAG)?;
    }
    Ok(())
}
