//! Path R1 of the longest messages: the sender puts them in chunks.
//!
//! ```text
//!  sender                                         receiver
//!  register, RequestToSend{len, id, key, PUT} ->  match: register
//!                                             <-  ClearToSend{id, its id, room, key}
//!  put, put, put, put ...     (bytes move)
//!  Finished{its id}, release                  ->  release
//! ```
//!
//! At most [`DEPTH`] puts of a message are under way: enough to keep a transport busy, and few enough that
//! one message does not take all of its operations.

use super::request::{Push, State, faulted};
use super::{Accepted, Engine, ID_LEN, take_id};
use crate::fault::Fault;
use crate::header::{Envelope, Flags, Header, Kind};
use crate::transport::{Busy, Key, Local, Peer, Put, Remote, Rma, Slot, Take, Token, Tx};

/// Most puts of one message that are under way.
const DEPTH: u32 = 4;

/// Length of a clear-to-send's body: the sender's id, the receiver's id, the length of the buffer, its key.
const CLEAR_LEN: usize = 2 * ID_LEN + 8 + Key::LEN;

/// Sends a clear-to-send for the send `id`: its sender may put `room` bytes to the memory of `key`.
pub(super) fn clear_to_send<T: Tx>(
    tx: &mut T,
    to: Peer,
    envelope: Envelope,
    id: u64,
    own: u64,
    room: u64,
    key: &Key,
) -> Result<(), Busy> {
    let head = Header::new(
        Kind::ClearToSend,
        Flags::empty(),
        CLEAR_LEN as u32,
        envelope,
    );
    let mut slot = tx.frame(to, &head, CLEAR_LEN)?;
    slot.put(&id.to_le_bytes());
    slot.put(&own.to_le_bytes());
    slot.put(&room.to_le_bytes());
    slot.put(&key.0);
    slot.send();
    Ok(())
}

impl<R> Push<R> {
    /// Starts as many puts as may be under way. Then the send waits for their ends, not for room.
    pub(super) fn start<T>(
        &mut self,
        tx: &mut T,
        to: Peer,
        chunk: u64,
        token: Token,
    ) -> Result<(), Busy>
    where
        T: Rma<Region = R>,
    {
        while self.next < self.room && self.in_flight < DEPTH {
            let (at, len) = (self.next, chunk.min(self.room - self.next));
            let from = Local {
                region: &self.region,
                at,
                len,
            };
            let there = Remote {
                key: &self.key,
                at,
                len,
            };
            tx.put(to, from, there, token)?;
            self.next += len;
            self.in_flight += 1;
        }
        self.listed = false;
        Ok(())
    }
}

impl<T: Tx + Rma> Engine<T> {
    /// A clear-to-send arrived.
    pub(super) fn on_clear_to_send(
        &mut self,
        tx: &mut T,
        from: Peer,
        head: &Header,
        body: &mut impl Take,
    ) -> Accepted {
        if body.left() != CLEAR_LEN || !head.flags.is_empty() {
            return Err("a clear-to-send has 56 bytes and no flags");
        }
        let index = self.find_own(from, take_id(body)?)?;
        let (id, room) = (take_id(body)?, take_id(body)?);
        let mut key = Key([0; Key::LEN]);
        body.take(&mut key.0);
        let get = self.peers[from.0 as usize].get;
        match self.requests[index].take() {
            State::Offered {
                region: Some(region),
                len,
            } if len > get && (1..=len).contains(&room) => {
                self.give_up_cancel(index);
                self.requests[index].state = State::Pushing(Push {
                    region,
                    len,
                    room,
                    key,
                    id,
                    next: 0,
                    in_flight: 0,
                    listed: true,
                    fault: None,
                });
                self.begin_bulk(tx, index);
                Ok(())
            }
            state => {
                self.requests[index].state = state;
                Err("a clear-to-send without a request, or of another length")
            }
        }
    }

    /// A put of the send at `index` ended.
    pub(super) fn on_put(&mut self, tx: &mut T, index: u32, result: Result<(), Fault>) {
        let record = &mut self.requests[index];
        let State::Pushing(push) = &mut record.state else {
            unreachable!("only puts end here");
        };
        push.in_flight -= 1;
        if let Err(fault) = result {
            push.fault.get_or_insert(fault);
            push.next = push.room;
        }
        if push.next < push.room {
            if !push.listed {
                push.listed = true;
                self.begin_bulk(tx, index);
            }
        } else if push.in_flight == 0 {
            self.pushed(tx, index);
        }
    }

    /// Ends a send all of whose puts have ended.
    fn pushed(&mut self, tx: &mut T, index: u32) {
        let record = &mut self.requests[index];
        let State::Pushing(push) = record.take() else {
            unreachable!("only puts end here");
        };
        let (peer, envelope) = (record.peer, record.envelope);
        let (flags, outcome) = match push.fault {
            None => (Flags::YES, Ok(record.status(push.len))),
            Some(fault) => (Flags::empty(), Err(faulted(peer, fault))),
        };
        if push.listed {
            self.peers[peer as usize]
                .bulk
                .remove(&mut self.requests, 0, index);
        }
        self.answer(tx, peer, envelope, Kind::Finished, flags, push.id);
        self.end_send(tx, index, Some(push.region), outcome);
    }
}
