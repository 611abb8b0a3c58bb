//! Gatherv: Gather with a length for each rank; they are equal.

use super::{Info, allgatherv, gather, roots};
use crate::buffers::Turn;
use crate::{Blocks, Buffers, Comm};

pub(super) use super::gather::{check, fill};

pub(super) const INFO: Info = Info {
    name: "Gatherv",
    about: "Gather with a length for each rank",
    room: allgatherv::INFO.room,
    ..gather::INFO
};

pub(super) fn repeat<C: Comm>(
    comm: &mut C,
    times: u32,
    buffers: &mut Buffers<'_>,
) -> Result<(), C::Error> {
    let rank = comm.rank();
    for root in roots::from(buffers.turns(), comm.size()).take(times as usize) {
        let Turn { out, into, counts } = buffers.turn();
        let all = (rank == root).then_some(Blocks::new(into, counts));
        comm.gatherv(out, all, root)?;
    }
    Ok(())
}
