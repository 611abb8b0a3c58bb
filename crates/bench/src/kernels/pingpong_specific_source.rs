//! PingPongSpecificSource: PingPong with receives that name their source.

use super::{Info, pingpong};
use crate::comm::Done;
use crate::{Buffers, Comm, Source};

pub(super) use super::pingpong::{check, fill};

pub(super) const INFO: Info = Info {
    name: "PingPongSpecificSource",
    about: "PingPong with receives that name their source",
    by_default: false,
    ..pingpong::INFO
};

pub(super) fn repeat<C: Comm>(comm: &mut C, times: u32, buffers: &mut Buffers<'_>) -> Done<C> {
    let peer = Source::Rank(1 - comm.rank());
    pingpong::to_and_fro(comm, peer, times, buffers)
}
