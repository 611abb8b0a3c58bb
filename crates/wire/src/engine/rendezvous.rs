//! The rendezvous of long messages: the common part of paths R0 and R1, and the rest of R0, where the
//! receiver gets the bytes. The rest of R1 is in `rendezvous_put.rs`.
//!
//! ```text
//!  sender                                     receiver
//!  register, RequestToSend{len, id, key} ->   match: register, get
//!                        (bytes move)
//!  release                               <-   Finished{id}, release
//! ```

use super::recv::received;
use super::rendezvous_put::clear_to_send;
use super::request::{Offer, Outcome, Record, State, faulted};
use super::unexpected::Content;
use super::{Accepted, Engine, ID_LEN, take_id};
use crate::fault::Fault;
use crate::header::{Flags, Header, Kind};
use crate::slab::{Handle, NONE};
use crate::transport::{
    Access, Busy, Bytes, Key, Local, Peer, Put, Remote, Rma, Slot, Take, Token, Tx,
};

/// Length of a request-to-send's body: message length, id, key.
const OFFER_LEN: usize = 8 + ID_LEN + Key::LEN;

/// The kind of bulk operation that a token names, in its two lowest bits; the fourth value is that of tokens that
/// are not the engine's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bulk {
    Get,
    Release,
    Put,
}

const _: () = assert!((Bulk::Put as u64) < Token::FOREIGN);

pub(super) fn token(handle: Handle, bulk: Bulk) -> Token {
    Token(
        Handle {
            index: handle.index << 2 | bulk as u32,
            ..handle
        }
        .word(),
    )
}

impl<T: Tx + Rma> Engine<T> {
    /// Registers the body of the send at `index` and sends a request-to-send.
    pub(super) fn offer(&mut self, tx: &mut T, index: u32) -> Result<(), Busy> {
        let record = &mut self.requests[index];
        let State::Queued(body) = record.take() else {
            unreachable!("only queued sends are offered");
        };
        let len = body.len();
        let region = if len == 0 {
            None
        } else {
            match tx.register(body, Access::READ, Peer(record.peer)) {
                Ok(region) => Some(region),
                Err(fault) => {
                    let failure = faulted(record.peer, fault);
                    self.complete(index, Err(failure));
                    return Ok(());
                }
            }
        };
        record.state = State::Offering { region, len };
        self.request_to_send(tx, index)
    }

    /// Sends the request-to-send of the send at `index`.
    pub(super) fn request_to_send(&mut self, tx: &mut T, index: u32) -> Result<(), Busy> {
        let id = self.requests.handle(index).word();
        let record = &mut self.requests[index];
        let State::Offering { region, len } = &record.state else {
            unreachable!("only sends with a registered body are offered");
        };
        let (to, len) = (Peer(record.peer), *len);
        let key = region
            .as_ref()
            .map_or(Key([0; Key::LEN]), |region| tx.expose(region, to));
        let flags = match len > self.peers[to.0 as usize].get {
            true => Flags::PUT,
            false => Flags::empty(),
        };
        let (len_of_body, envelope) = (OFFER_LEN as u32, record.envelope);
        let head = Header::new(Kind::RequestToSend, flags, len_of_body, envelope);
        let mut slot = tx.frame(to, &head, OFFER_LEN)?;
        slot.put(&len.to_le_bytes());
        slot.put(&id.to_le_bytes());
        slot.put(&key.0);
        slot.send();
        if let State::Offering { region, len } = record.take() {
            record.state = State::Offered { region, len };
        }
        Ok(())
    }

    /// A request-to-send arrived.
    pub(super) fn on_request_to_send(
        &mut self,
        tx: &mut T,
        from: Peer,
        head: &Header,
        body: &mut impl Take,
    ) -> Accepted {
        if body.left() != OFFER_LEN || !Flags::PUT.contains(head.flags) {
            return Err("a request-to-send has 48 bytes and no flag but PUT");
        }
        let mut len = [0; 8];
        body.take(&mut len);
        let id = take_id(body)?;
        let mut key = Key([0; Key::LEN]);
        body.take(&mut key.0);
        let offer = Offer {
            len: u64::from_le_bytes(len),
            id,
            key,
            put: head.flags == Flags::PUT,
        };
        let index = self.posted.find(&self.requests, from.0, head.envelope);
        if index == NONE {
            self.keep(tx, from, head.envelope, Content::Offered(offer))
        } else {
            self.unpost(index);
            self.accept(tx, index, from.0, head.envelope, offer);
            Ok(())
        }
    }

    /// Starts to move an offered message into `body` for the receive at `index`.
    pub(super) fn pull(&mut self, tx: &mut T, index: u32, body: T::Bytes, offer: Offer) {
        let room = body.len();
        if offer.len.min(room) == 0 {
            let outcome = received(&self.requests[index], offer.len, room);
            self.finish(tx, index, offer.id, Flags::YES, None, outcome);
            return;
        }
        let from = Peer(self.requests[index].peer);
        match tx.register(body, Access::WRITE, from) {
            Ok(region) => {
                self.requests[index].state = State::Pulling {
                    region,
                    offer,
                    room,
                    in_flight: false,
                };
                self.begin_bulk(tx, index);
            }
            Err(fault) => {
                let failure = faulted(self.requests[index].peer, fault);
                self.finish(tx, index, offer.id, Flags::empty(), None, Err(failure));
            }
        }
    }

    /// Starts the next bulk step of the rendezvous at `index`, now or after those that wait for the same
    /// peer.
    pub(super) fn begin_bulk(&mut self, tx: &mut T, index: u32) {
        let peer = self.requests[index].peer;
        let bulk = &mut self.peers[peer as usize].bulk;
        let first = bulk.is_empty();
        bulk.push_back(&mut self.requests, 0, index);
        if !first || self.start_bulk(tx, index).is_err() {
            self.note_busy(peer);
        }
    }

    /// Starts the next bulk step of the rendezvous at `index`, the first in its peer's list `bulk`, and
    /// unlinks it.
    pub(super) fn start_bulk(&mut self, tx: &mut T, index: u32) -> Result<(), Busy> {
        let handle = self.requests.handle(index);
        let Record {
            state,
            peer,
            envelope,
            ..
        } = &mut self.requests[index];
        let peer = Peer(*peer);
        let state_of_peer = &mut self.peers[peer.0 as usize];
        match state {
            State::Pulling {
                region,
                offer,
                room,
                in_flight,
            } => {
                let len = offer.len.min(*room);
                if offer.put {
                    let key = tx.expose(region, peer);
                    clear_to_send(tx, peer, *envelope, offer.id, handle.word(), len, &key)?;
                } else {
                    let from = Remote {
                        key: &offer.key,
                        at: 0,
                        len,
                    };
                    let to = Local { region, at: 0, len };
                    tx.get(peer, from, to, token(handle, Bulk::Get))?;
                }
                *in_flight = true;
            }
            State::Pushing(push) => {
                push.start(tx, peer, state_of_peer.chunk, token(handle, Bulk::Put))?;
            }
            _ => unreachable!("only matched rendezvous have bulk steps"),
        }
        state_of_peer.bulk.remove(&mut self.requests, 0, index);
        Ok(())
    }

    /// A get, a put or a release ended. The token is stale if a loss has ended its operation before.
    pub(super) fn on_done(&mut self, tx: &mut T, token: Token, result: Result<(), Fault>) {
        let handle = Handle::from_word(token.0);
        let bulk = handle.index & 3;
        let Some(index) = self.requests.find(Handle {
            index: handle.index >> 2,
            ..handle
        }) else {
            return;
        };
        let record = &mut self.requests[index];
        match record.take() {
            State::Pulling {
                region,
                offer,
                room,
                in_flight: true,
            } if bulk == Bulk::Get as u32 && !offer.put => {
                let (flags, outcome) = match result {
                    Ok(()) => (Flags::YES, received(record, offer.len, room)),
                    Err(fault) => (Flags::empty(), Err(faulted(record.peer, fault))),
                };
                self.finish(tx, index, offer.id, flags, Some(region), outcome);
            }
            State::Pushing(push) if bulk == Bulk::Put as u32 => {
                record.state = State::Pushing(push);
                self.on_put(tx, index, result);
            }
            State::Releasing(outcome) if bulk == Bulk::Release as u32 => {
                let outcome = match result {
                    Ok(()) => outcome,
                    Err(fault) => outcome.and(Err(faulted(record.peer, fault))),
                };
                self.complete(index, outcome);
            }
            state => record.state = state,
        }
    }

    /// Ends a matched rendezvous on the receiver's side.
    fn finish(
        &mut self,
        tx: &mut T,
        index: u32,
        id: u64,
        flags: Flags,
        region: Option<T::Region>,
        outcome: Outcome,
    ) {
        let Record { peer, envelope, .. } = self.requests[index];
        self.answer(tx, peer, envelope, Kind::Finished, flags, id);
        self.release(tx, index, region, outcome);
    }

    /// Releases the memory of the operation at `index`, if there is any, then completes it.
    pub(super) fn release(
        &mut self,
        tx: &mut T,
        index: u32,
        region: Option<T::Region>,
        outcome: Outcome,
    ) {
        match region {
            Some(region) => {
                let token = token(self.requests.handle(index), Bulk::Release);
                self.requests[index].state = State::Releasing(outcome);
                tx.release(region, token);
            }
            None => self.complete(index, outcome),
        }
    }
}
