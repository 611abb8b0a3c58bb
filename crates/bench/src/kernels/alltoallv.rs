//! Alltoallv: Alltoall with a length for each pair of ranks; they are equal.

use super::{Info, alltoall};
use crate::buffers::{Room, Turn};
use crate::{Blocks, Comm};

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

pub(super) fn call<C: Comm>(comm: &mut C, turn: Turn<'_>, _: usize) -> Result<(), C::Error> {
    let Turn { out, into, counts } = turn;
    comm.alltoallv(Blocks::new(&*out, counts), Blocks::new(into, counts))
}
