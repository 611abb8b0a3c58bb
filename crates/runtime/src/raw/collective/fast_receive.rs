//! A receive that polls on the fast path as long as it can.

use oxmpi_os::RawBytes;
use oxmpi_wire::engine::{Outcome, Source, Tag};
use oxmpi_wire::{Envelope, Peer};

use super::super::communicator::OpenRequest;
use super::super::endpoint::Endpoint;

/// A receive that polls on the fast path as long as it can. There is one at a time: the next one
/// posts it before itself, so that receives keep their order.
#[derive(Clone, Copy, Debug)]
pub(super) struct FastReceive {
    pub(super) peer: Peer,
    pub(super) envelope: Envelope,
    pub(super) body: RawBytes,
    pub(super) posted: Option<OpenRequest>,
}

impl FastReceive {
    pub(super) fn post(&mut self, endpoint: &mut Endpoint) -> OpenRequest {
        *self.posted.get_or_insert_with(|| {
            let Envelope { context, tag } = self.envelope;
            endpoint.irecv(Source::Peer(self.peer), context, Tag::Exact(tag), self.body)
        })
    }

    /// Looks on the fast path, so many times, or for the posted receive's end.
    pub(super) fn poll(&mut self, polls: u32, endpoint: &mut Endpoint) -> Option<Outcome> {
        let source = Source::Peer(self.peer);
        if self.posted.is_none() {
            let tag = Tag::Exact(self.envelope.tag);
            let status = endpoint.recv_short(polls, source, self.envelope.context, tag, &self.body);
            if status.is_some() || endpoint.is_on_fast_path(source) {
                return status.map(Ok);
            }
        }
        let request = self.post(endpoint);
        endpoint.test(request)
    }
}
