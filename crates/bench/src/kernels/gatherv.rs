//! Gatherv: Gather with a length for each rank; they are equal.

use super::{Info, allgatherv, gather};
use crate::buffers::Turn;
use crate::{Blocks, Comm};

pub(super) use super::gather::{check, fill};

pub(super) const INFO: Info = Info {
    name: "Gatherv",
    about: "Gather with a length for each rank",
    room: allgatherv::INFO.room,
    ..gather::INFO
};

pub(super) fn call<C: Comm>(comm: &mut C, turn: Turn<'_>, root: usize) -> Result<(), C::Error> {
    let Turn { out, into, counts } = turn;
    let all = (comm.rank() == root).then_some(Blocks::new(into, counts));
    comm.gatherv(out, all, root)
}
