//! A receive of a plan that polls the fast path as long as it is open, and is posted then.

use oxmpi_wire::Envelope;
use oxmpi_wire::engine::{Outcome, Source, Tag};

use super::super::collective_state::FastReceive;
use super::super::endpoint::{Endpoint, FastOutcome};
use super::super::request::OpenRequest;

impl FastReceive {
    pub(super) fn post(&mut self, endpoint: &mut Endpoint) -> OpenRequest {
        *self.posted.get_or_insert_with(|| {
            let Envelope { context, tag } = self.envelope;
            endpoint.irecv(Source::Peer(self.peer), context, Tag::Exact(tag), self.body)
        })
    }

    /// Polls the fast path at most `polls` times, or tests the posted receive. `None` too where the endpoint is not
    /// usable.
    pub(super) fn poll(&mut self, polls: u32, endpoint: &mut Endpoint) -> Option<Outcome> {
        if self.posted.is_none() {
            let (source, Envelope { context, tag }) = (Source::Peer(self.peer), self.envelope);
            let tag = Tag::Exact(tag);
            match endpoint.recv_or_post(polls, source, context, tag, self.body) {
                Ok(Some(FastOutcome::Posted(request))) => self.posted = Some(request),
                Ok(Some(FastOutcome::Received(status))) => return Some(Ok(status)),
                Ok(None) | Err(_) => return None,
            }
        }
        self.posted.and_then(|request| endpoint.test(request))
    }
}
