//! Alltoallv: Alltoall with a length for each pair of ranks; they are equal.

use super::{Info, alltoall};
use crate::buffers::Room;
use crate::buffers::Turn;
use crate::{Blocks, Buffers, Comm};

pub(super) use super::alltoall::{check, fill};

pub(super) const INFO: Info = Info {
    name: "Alltoallv",
    about: "Alltoall with a length for each pair of ranks",
    room: |bytes, ranks| Room {
        counts: ranks,
        ..(alltoall::INFO.room)(bytes, ranks)
    },
    ..alltoall::INFO
};

pub(super) fn repeat<C: Comm>(
    comm: &mut C,
    times: u32,
    buffers: &mut Buffers<'_>,
) -> Result<(), C::Error> {
    for _ in 0..times {
        let Turn { out, into, counts } = buffers.turn();
        comm.alltoallv(Blocks::new(&*out, counts), Blocks::new(into, counts))?;
    }
    Ok(())
}
