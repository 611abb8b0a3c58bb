//! A receive of a plan that polls the fast path as long as it is open, and is posted then.

use oxmpi_wire::Envelope;
use oxmpi_wire::engine::{Outcome, Source, Tag};

use super::super::collective_state::FastReceive;
use super::super::endpoint::Endpoint;
use super::super::request::OpenRequest;

impl FastReceive {
    pub(super) fn post(&mut self, endpoint: &mut Endpoint) -> OpenRequest {
        *self.posted.get_or_insert_with(|| {
            let Envelope { context, tag } = self.envelope;
            endpoint.irecv(Source::Peer(self.peer), context, Tag::Exact(tag), self.body)
        })
    }

    /// Polls the fast path at most `polls` times, or tests the posted receive.
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
