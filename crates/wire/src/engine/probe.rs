//! Probes: looking at messages before there is a buffer for them.

use super::pattern::Pattern;
use super::pattern::{Source, Tag};
use super::request::{Failure, Record, Request, Status, faulted};
use super::unexpected::{Arrival, Content};
use super::{Engine, Outcome};
use crate::slab::{Handle, NONE};
use crate::transport::{Peer, Rma, Tx};

/// A message that a matched probe took out: only this handle receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Message(Handle);

impl<T: Tx + Rma> Engine<T> {
    /// The first message that a receive of the same source, context and tag would get now.
    /// `Some(Err(..))`: none came, and none can come any more.
    #[must_use]
    pub fn probe(&self, source: Source, context: u32, tag: Tag) -> Option<Outcome> {
        let found = self.unexpected.find(&Pattern::new(source, context, tag));
        if found == NONE {
            return self.cannot_come(source).map(Err);
        }
        Some(Ok(status(self.unexpected.get(found))))
    }

    /// As [`Engine::probe`], and takes the message out of matching: no other receive and no recall
    /// gets it.
    pub fn matched_probe(
        &mut self,
        source: Source,
        context: u32,
        tag: Tag,
    ) -> Option<Result<(Message, Status), Failure>> {
        let found = self.unexpected.find(&Pattern::new(source, context, tag));
        if found == NONE {
            return self.cannot_come(source).map(Err);
        }
        let status = status(self.unexpected.get(found));
        self.pending[status.source.0 as usize] -= 1;
        Some(Ok((Message(self.unexpected.claim(found)), status)))
    }

    /// Receives a claimed message into `body`.
    ///
    /// # Errors
    /// [`Failure::Stale`] when the message was received before.
    ///
    /// # Panics
    /// If 2^30 operations are open.
    pub fn matched_recv(
        &mut self,
        tx: &mut T,
        message: Message,
        body: T::Bytes,
    ) -> Result<Request, Failure> {
        let found = self.unexpected.claimed(message.0).ok_or(Failure::Stale)?;
        let arrival = self.take_arrival(found);
        let peer = Peer(arrival.from);
        let pattern = Pattern::new(
            Source::Peer(peer),
            arrival.envelope.context,
            Tag::Exact(arrival.envelope.tag),
        );
        let handle = self.requests.insert(Record::matched(body, &pattern));
        match (&arrival.content, self.fault(peer)) {
            (Content::Offered(_), Some(fault)) => {
                self.complete(handle.index, Err(faulted(peer.0, fault)));
                self.discharge(tx, peer.0, arrival.content);
            }
            _ => self.deliver(tx, handle.index, arrival),
        }
        Ok(Request(handle))
    }
}

fn status(arrival: &Arrival) -> Status {
    Status {
        source: Peer(arrival.from),
        tag: arrival.envelope.tag,
        len: arrival.content.len(),
        cancelled: false,
    }
}
