//! Finds waits that cannot end: a message that no rank is left to send.
//!
//! A blocking wait polls a few times first. Then, where the endpoint belongs to the waiting thread alone, it
//! checks whether only this rank itself could send the message, or whether all other ranks have left.

use oxmpi_wire::engine;
use oxmpi_wire::{Envelope, Peer};

use super::super::endpoint::Endpoint;
use super::super::request::OpenRequest;
use super::super::threading::Threading;
use super::Communicator;
use crate::error::{Error, Result};

/// Polls at the start of a wait before checking that the sender still exists.
const POLLS_BEFORE_CHECK: u32 = 8;

impl<A: Threading> Communicator<A> {
    /// Waits for a send of this rank to itself, on an endpoint that only this thread uses. Only this thread could
    /// post the receive, and it waits here: without a posted receive the wait would never end.
    #[cold]
    pub(super) fn wait_for_self(
        &self,
        request: OpenRequest,
        peer: Peer,
        envelope: Envelope,
    ) -> Result<()> {
        let source = engine::Source::Peer(peer);
        let tag = engine::Tag::Exact(envelope.tag);
        let outcome = self.access.until(|endpoint| match endpoint.test(request) {
            Some(outcome) => Some(Some(outcome)),
            None => endpoint.probe(source, envelope.context, tag).map(|_| None),
        })?;
        match outcome {
            Some(outcome) => self.status(outcome).map(drop),
            None => {
                self.take_back(request)?;
                Err(Error::SelfSend {
                    rank: self.group.rank() as usize,
                    tag: envelope.tag,
                })
            }
        }
    }

    /// Waits until `ready` gives something. `None`: `hopeless` says that it never will. That is checked only where
    /// the endpoint belongs to this thread alone, which waits here.
    pub(super) fn until_or_hopeless<R>(
        &self,
        hopeless: impl Fn(&Endpoint) -> bool,
        mut ready: impl FnMut(&mut Endpoint) -> Option<R>,
    ) -> Result<Option<R>> {
        // Most waits end before such a check would.
        let mut polls = 0;
        self.access.until(|endpoint| match ready(endpoint) {
            Some(result) => Some(Some(result)),
            None if polls < POLLS_BEFORE_CHECK => {
                polls += 1;
                None
            }
            // Messages that this rank has sent to itself come first.
            None if self.access.is_single()
                && hopeless(endpoint)
                && endpoint.progress() == 0
                && !endpoint.has_waiting() =>
            {
                Some(ready(endpoint))
            }
            None => None,
        })
    }

    /// Whether no rank can send a message from `source` while this thread waits: the source is this rank, or any
    /// rank where all others have left.
    pub(super) fn has_no_sender(&self, endpoint: &Endpoint, source: engine::Source) -> bool {
        match source {
            engine::Source::Peer(peer) => endpoint.is_own(peer),
            engine::Source::Any => endpoint.all_others_gone(&self.group),
        }
    }

    /// Whether the operation is a receive for which no rank can send a message.
    pub(super) fn has_no_answer(&self, endpoint: &Endpoint, request: OpenRequest) -> bool {
        endpoint
            .awaited_source(request)
            .is_some_and(|source| self.has_no_sender(endpoint, source))
    }

    pub(super) fn no_sender(&self) -> Error {
        Error::NoSender {
            rank: self.group.rank() as usize,
        }
    }
}
