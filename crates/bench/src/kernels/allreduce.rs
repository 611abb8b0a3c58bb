//! Allreduce: every rank gets the sum of all ranks' vectors of single-precision numbers.

use super::{Active, Class, Info, Room, Sample, pattern};
use crate::{Buffers, Comm};

pub(super) const INFO: Info = Info {
    name: "Allreduce",
    about: "the sum of all ranks' vectors, on every rank",
    class: Class::Collective,
    active: Active::All,
    item: size_of::<f32>(),
    trips: 1,
    messages: 0,
    room: |bytes, _| Room {
        out: bytes,
        into: bytes,
    },
};

pub(super) fn fill(sample: Sample, buffers: &mut Buffers<'_>) {
    let (out, into) = buffers.floats();
    for (at, slot) in out.iter_mut().enumerate() {
        *slot = pattern::number(sample.seed, sample.rank, at);
    }
    into.fill(f32::NAN);
}

pub(super) fn repeat<C: Comm>(
    comm: &mut C,
    times: u32,
    buffers: &mut Buffers<'_>,
) -> Result<(), C::Error> {
    let (out, into) = buffers.floats();
    for _ in 0..times {
        comm.allreduce_sum(out, into)?;
    }
    Ok(())
}

pub(super) fn check(sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
    let (_, into) = buffers.floats();
    into.iter().enumerate().fold(0.0, |worst, (at, &got)| {
        pattern::farther(worst, got, pattern::sum(sample.seed, sample.ranks, at))
    })
}
