//! Scatterv: Scatter with a length for each rank; they are equal.

use super::{Info, scatter};
use crate::buffers::{Room, Turn};
use crate::{Blocks, Comm};

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

pub(super) fn call<C: Comm>(comm: &mut C, turn: Turn<'_>, root: usize) -> Result<(), C::Error> {
    let Turn { out, into, counts } = turn;
    let all = (comm.rank() == root).then_some(Blocks::new(&*out, counts));
    comm.scatterv(all, into, root)
}
