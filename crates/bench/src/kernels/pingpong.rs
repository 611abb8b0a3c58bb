//! PingPong: two ranks send one message to and fro; half the round trip is reported.
//!
//! Receives accept any source, as the Intel MPI Benchmarks User Guide says of PingPong.

use super::{Active, Class, Info, Room, Sample, pattern};
use crate::{Buffers, Comm, Source};

const TAG: u32 = 1;

pub(super) const INFO: Info = Info {
    name: "PingPong",
    about: "one message to and fro between two ranks",
    class: Class::SingleTransfer,
    active: Active::Two,
    item: 1,
    trips: 2,
    messages: 1,
    room: |bytes, _| Room {
        out: bytes,
        into: bytes,
    },
};

/// Each rank sends its own pattern, so a message that is sent back unread is seen.
pub(super) fn fill(sample: Sample, buffers: &mut Buffers<'_>) {
    let (out, into) = buffers.bytes();
    pattern::fill_bytes(sample, out);
    pattern::spoil_bytes(sample, 1 - sample.rank, into);
}

pub(super) fn repeat<C: Comm>(
    comm: &mut C,
    times: u32,
    buffers: &mut Buffers<'_>,
) -> Result<(), C::Error> {
    let (out, into) = buffers.bytes();
    if comm.rank() == 0 {
        for _ in 0..times {
            comm.send(out, 1, TAG)?;
            comm.recv(into, Source::Any, TAG)?;
        }
    } else {
        for _ in 0..times {
            comm.recv(into, Source::Any, TAG)?;
            comm.send(out, 0, TAG)?;
        }
    }
    Ok(())
}

pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    let (_, into) = buffers.bytes();
    pattern::differ_bytes(sample, 1 - sample.rank, into)
}
