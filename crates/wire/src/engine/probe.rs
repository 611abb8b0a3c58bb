//! Probes and matched probes of unexpected messages, as MPI_Iprobe, MPI_Improbe and MPI_Imrecv.

use super::pattern::Pattern;
use super::pattern::{Source, Tag};
use super::request::{Failure, Record, Request, Status, faulted};
use super::unexpected::{Arrival, Content};
use super::{Engine, Outcome};
use crate::slab::{Handle, NONE};
use crate::transport::{Peer, Rma, Tx};

/// Handle of a message that a matched probe has removed from matching: only this handle receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Message(Handle);

impl<T: Tx + Rma> Engine<T> {
    /// The status of the message that a receive of this source, context and tag would match now. `None`:
    /// there is none yet. An error: there is none, and none can arrive any more.
    #[must_use]
    pub fn probe(&self, source: Source, context: u32, tag: Tag) -> Option<Outcome> {
        let found = self.unexpected.find(&Pattern::new(source, context, tag));
        if found == NONE {
            return self.cannot_come(source).map(Err);
        }
        Some(Ok(status(self.unexpected.get(found))))
    }

    /// As [`Engine::probe`], and removes the message from matching: no other receive matches it, and its
    /// sender cannot cancel it.
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

    /// Starts the receive of a message of [`Engine::matched_probe`] into `body`.
    ///
    /// # Errors
    /// [`Failure::Stale`] if the message was received before.
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
                self.release_unexpected(tx, peer.0, arrival.content);
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
