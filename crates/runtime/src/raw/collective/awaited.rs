//! A receive that looks on the direct road as long as it can.

use oxmpi_os::RawBytes;
use oxmpi_wire::engine::{Outcome, Source, Tag};
use oxmpi_wire::{Envelope, Peer};

use super::super::communicator::OpenRequest;
use super::super::lane::Lane;

/// A receive that looks on the direct road as long as it can. There is one at a time: the next one
/// posts it before itself, so that receives keep their order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awaited {
    pub(super) peer: Peer,
    pub(super) envelope: Envelope,
    pub(super) body: RawBytes,
    pub(super) posted: Option<OpenRequest>,
}

impl Awaited {
    pub(super) fn post(&mut self, lane: &mut Lane) -> OpenRequest {
        *self.posted.get_or_insert_with(|| {
            let Envelope { context, tag } = self.envelope;
            lane.irecv(Source::Peer(self.peer), context, Tag::Exact(tag), self.body)
        })
    }

    /// Looks on the direct road, so many times, or for the posted receive's end.
    pub(super) fn look(&mut self, looks: u32, lane: &mut Lane) -> Option<Outcome> {
        let source = Source::Peer(self.peer);
        if self.posted.is_none() {
            let tag = Tag::Exact(self.envelope.tag);
            let status = lane.recv_short(looks, source, self.envelope.context, tag, &self.body);
            if status.is_some() || lane.is_direct(source) {
                return status.map(Ok);
            }
        }
        let request = self.post(lane);
        lane.test(request)
    }
}
