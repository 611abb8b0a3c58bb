//! Allgatherv: Allgather with a length for each rank; they are equal.

use super::{Info, allgather};
use crate::buffers::{Room, Turn};
use crate::{Blocks, Comm};

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

pub(super) fn call<C: Comm>(comm: &mut C, turn: Turn<'_>, _: usize) -> Result<(), C::Error> {
    comm.allgatherv(turn.out, Blocks::new(turn.into, turn.counts))
}
