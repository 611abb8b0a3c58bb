//! Scatterv: Scatter with a length for each rank; they are equal.

use super::{Info, roots, scatter};
use crate::buffers::Room;
use crate::buffers::Turn;
use crate::{Blocks, Buffers, Comm};

pub(super) use super::scatter::{check, fill};

pub(super) const INFO: Info = Info {
    name: "Scatterv",
    about: "Scatter with a length for each rank",
    room: |bytes, ranks| Room {
        counts: ranks,
        ..(scatter::INFO.room)(bytes, ranks)
    },
    ..scatter::INFO
};

pub(super) fn repeat<C: Comm>(
    comm: &mut C,
    times: u32,
    buffers: &mut Buffers<'_>,
) -> Result<(), C::Error> {
    let rank = comm.rank();
    for root in roots::from(buffers.turns(), comm.size()).take(times as usize) {
        let Turn { out, into, counts } = buffers.turn();
        let all = (rank == root).then_some(Blocks::new(&*out, counts));
        comm.scatterv(all, into, root)?;
    }
    Ok(())
}
