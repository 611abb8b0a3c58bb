//! PingPingSpecificSource: PingPing with receives that name their source.

use super::{Info, pingping};
use crate::comm::Done;
use crate::{Buffers, Comm, Source};

pub(super) use super::pingpong::{check, fill};

pub(super) const INFO: Info = Info {
    name: "PingPingSpecificSource",
    about: "PingPing with receives that name their source",
    by_default: false,
    ..pingping::INFO
};

pub(super) fn repeat<C: Comm>(comm: &mut C, times: u32, buffers: &mut Buffers<'_>) -> Done<C> {
    let peer = Source::Rank(1 - comm.rank());
    pingping::head_on(comm, peer, times, buffers)
}
