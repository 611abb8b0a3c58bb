//! Receives: posting, matching of arrivals, and delivery into the user's buffer.

use super::pattern::Pattern;
use super::pattern::{Source, Tag};
use super::request::{Failure, Offer, Outcome, Record, Request, State, faulted};
use super::unexpected::{Arrival, Content};
use super::{Accepted, Engine, take_id};
use crate::header::{Envelope, Flags, Header, Kind};
use crate::slab::{Handle, NONE};
use crate::transport::{Bytes, Peer, Rma, Take, Tx};

impl<T: Tx + Rma> Engine<T> {
    /// Starts a receive of the first message of `source` in `context` with `tag` into `body`: an unexpected
    /// message, or the next one to arrive.
    ///
    /// # Panics
    /// If the source is not one of the engine's peers, or 2^30 operations are open.
    ///
    /// # Cost
    /// Constant, for any number of posted receives and unexpected messages.
    #[inline(always)]
    pub fn recv(
        &mut self,
        tx: &mut T,
        source: Source,
        context: u32,
        tag: Tag,
        body: T::Bytes,
    ) -> Request {
        let pattern = Pattern::new(source, context, tag);
        if !self.unexpected.is_empty() || self.is_lost(source) {
            // A clone, since a body passed by reference would have to be in memory here as well.
            return self.recv_late(tx, source, pattern, body.clone());
        }
        Request(self.post(&pattern, body))
    }

    /// As [`Engine::recv`], if the message may have arrived before or the source may be lost.
    #[inline(never)]
    fn recv_late(
        &mut self,
        tx: &mut T,
        source: Source,
        pattern: Pattern,
        body: T::Bytes,
    ) -> Request {
        let found = self.unexpected.find(&pattern);
        if found == NONE && self.cannot_come(source).is_none() {
            return Request(self.post(&pattern, body));
        }
        let handle = self.requests.insert(Record::matched(body, &pattern));
        if found != NONE {
            let arrival = self.take_arrival(found);
            self.deliver(tx, handle.index, arrival);
        } else if let Some(failure) = self.cannot_come(source) {
            self.complete(handle.index, Err(failure));
        }
        Request(handle)
    }

    /// Takes in a whole message without flags, if it matches the last receive from its sender, or one with
    /// the same envelope, and no wildcard receive is posted. Returns false if it did nothing.
    ///
    /// # Cost
    /// Moving the bytes, two compares and a few stores into the request.
    #[inline(always)]
    pub(super) fn on_expected(
        &mut self,
        from: Peer,
        envelope: Envelope,
        body: &mut impl Take,
    ) -> bool {
        let guess = self.peers[from.0 as usize].chain;
        let index = (self.posted).take_guessed(&self.requests, guess, from.0, envelope);
        if index == NONE {
            return false;
        }
        self.pending[from.0 as usize] -= 1;
        self.fill(index, body);
        true
    }

    /// An eager message arrived.
    #[inline]
    pub(super) fn on_eager(
        &mut self,
        tx: &mut T,
        from: Peer,
        head: &Header,
        body: &mut impl Take,
    ) -> Accepted {
        let sync = match head.flags {
            Flags::SYNC => Some(take_id(body)?),
            flags if flags.is_empty() => None,
            _ => return Err("an eager message with flags of an answer"),
        };
        let index = self.posted.find(&self.requests, from.0, head.envelope);
        if index == NONE {
            let bytes = self.unexpected.store(body);
            self.keep(tx, from, head.envelope, Content::Whole { bytes, sync })
        } else {
            self.unpost(index);
            self.receive_whole(tx, index, from.0, head.envelope, body, sync);
            Ok(())
        }
    }

    /// Keeps an unexpected message until its receive is posted.
    pub(super) fn keep(
        &mut self,
        tx: &mut T,
        from: Peer,
        envelope: Envelope,
        content: Content,
    ) -> Accepted {
        self.counters.unexpected += 1;
        self.pending[from.0 as usize] += 1;
        let bytes = content.kept();
        self.unexpected.push(from.0, envelope, content);
        self.charge(tx, from.0, bytes)
    }

    /// Removes an unexpected message, to be delivered or cancelled.
    pub(super) fn take_arrival(&mut self, found: u32) -> Arrival {
        let arrival = self.unexpected.remove(found);
        if !arrival.claimed {
            self.pending[arrival.from as usize] -= 1;
        }
        arrival
    }

    /// Delivers an unexpected message to the receive at `index`, which is in no list.
    pub(super) fn deliver(&mut self, tx: &mut T, index: u32, arrival: Arrival) {
        let Arrival { from, envelope, .. } = arrival;
        match &arrival.content {
            Content::Whole { bytes, sync } => {
                self.receive_whole(tx, index, from, envelope, &mut bytes.as_slice(), *sync);
            }
            Content::Offered(offer) => self.accept(tx, index, from, envelope, *offer),
        }
        self.release_unexpected(tx, from, arrival.content);
    }

    /// Moves a whole message into the receive at `index` and completes it.
    #[inline]
    fn receive_whole(
        &mut self,
        tx: &mut T,
        index: u32,
        from: u32,
        envelope: Envelope,
        body: &mut impl Take,
        sync: Option<u64>,
    ) {
        let record = &mut self.requests[index];
        record.peer = from;
        record.envelope = envelope;
        self.fill(index, body);
        if let Some(id) = sync {
            self.answer(tx, from, envelope, Kind::Finished, Flags::YES, id);
        }
    }

    /// Moves a message into the receive at `index`, whose sender and envelope are set, and completes it.
    #[inline(always)]
    fn fill(&mut self, index: u32, body: &mut impl Take) {
        let record = &mut self.requests[index];
        let State::Posted(buffer) = &record.state else {
            unreachable!("only posted receives are matched");
        };
        let (sent, room) = (body.left() as u64, buffer.len());
        buffer.fill(0, body);
        if sent > room || record.detached {
            return self.end_receive(index, sent, room);
        }
        record.state = State::Done { len: sent };
        self.counters.completed += 1;
        self.untested += 1;
    }

    /// Completes the receive at `index` of a message of `sent` bytes into `room` bytes.
    #[cold]
    #[inline(never)]
    fn end_receive(&mut self, index: u32, sent: u64, room: u64) {
        let outcome = received(&self.requests[index], sent, room);
        self.complete(index, outcome);
    }

    /// Starts the rendezvous of the receive at `index`, which is in no list.
    pub(super) fn accept(
        &mut self,
        tx: &mut T,
        index: u32,
        from: u32,
        envelope: Envelope,
        offer: Offer,
    ) {
        let record = &mut self.requests[index];
        record.peer = from;
        record.envelope = envelope;
        let State::Posted(body) = record.take() else {
            unreachable!("only posted receives are matched");
        };
        self.pull(tx, index, body, offer);
    }

    /// Posts a receive.
    #[inline(always)]
    fn post(&mut self, pattern: &Pattern, body: T::Bytes) -> Handle {
        if pattern.class.any_source() {
            return (self.posted)
                .push(&mut self.requests, body, pattern, NONE)
                .0;
        }
        let peer = &mut self.peers[pattern.source as usize];
        let (handle, chain) = (self.posted).push(&mut self.requests, body, pattern, peer.chain);
        peer.chain = chain;
        self.pending[pattern.source as usize] += 1;
        handle
    }

    /// Removes the receive at `index` from the posted ones.
    pub(super) fn unpost(&mut self, index: u32) {
        let Record { class, peer, .. } = self.requests[index];
        self.posted.remove(&mut self.requests, index);
        if !class.any_source() {
            self.pending[peer as usize] -= 1;
        }
    }

    /// Whether a lost peer may prevent messages of `source`: then [`Engine::cannot_come`] decides.
    #[inline(always)]
    fn is_lost(&self, source: Source) -> bool {
        match source {
            Source::Peer(peer) => self.peers[peer.0 as usize].fault.is_some(),
            Source::Any => !self.losses.is_empty(),
        }
    }

    /// Why no message can arrive from `source` any more; `None` if one can.
    pub(super) fn cannot_come(&self, source: Source) -> Option<Failure> {
        let peer = match source {
            Source::Peer(peer) => peer.0,
            Source::Any => *self.losses.first()?,
        };
        let fault = self.peers[peer as usize].fault?;
        Some(faulted(peer, fault))
    }
}

/// The outcome of a receive of a message of `sent` bytes into `room` bytes.
#[inline(always)]
pub(super) fn received<B, R>(record: &Record<B, R>, sent: u64, room: u64) -> Outcome {
    let status = record.status(sent);
    if sent <= room {
        Ok(status)
    } else {
        Err(Failure::Truncated {
            peer: status.source,
            tag: status.tag,
            sent,
            room,
        })
    }
}
