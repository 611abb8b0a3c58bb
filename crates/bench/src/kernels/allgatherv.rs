//! Allgatherv: Allgather with a length for each rank; they are equal.

use super::{Info, allgather};
use crate::buffers::Room;
use crate::buffers::Turn;
use crate::{Blocks, Buffers, Comm};

pub(super) use super::allgather::{check, fill};

pub(super) const INFO: Info = Info {
    name: "Allgatherv",
    about: "Allgather with a length for each rank",
    room: |bytes, ranks| Room {
        counts: ranks,
        ..(allgather::INFO.room)(bytes, ranks)
    },
    ..allgather::INFO
};

pub(super) fn repeat<C: Comm>(
    comm: &mut C,
    times: u32,
    buffers: &mut Buffers<'_>,
) -> Result<(), C::Error> {
    for _ in 0..times {
        let Turn { out, into, counts } = buffers.turn();
        comm.allgatherv(out, Blocks::new(into, counts))?;
    }
    Ok(())
}
