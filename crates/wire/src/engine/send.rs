//! Sends and answers, and the lists of what waits for room.

use super::flow::MAX_UNPOLLED;
use super::peer::{FlowLevel, PeerState};
use super::request::{CancelProgress, Mode, Record, Request, State, faulted};
use super::{Engine, ID_LEN};
use crate::header::{Envelope, Flags, Header, Kind};
use crate::slab::NONE;
use crate::transport::{Busy, Bytes, Peer, Put, Rma, Slot, Tx};

/// The path of one message.
enum SendPath {
    /// E0.
    Short,
    /// E1; a synchronous one starts with its id.
    Frame { sync: bool },
    /// R0 or R1.
    Rendezvous,
}

impl<T: Tx + Rma> Engine<T> {
    /// The inlined part of [`Engine::try_short`]: sends the message if there is room for certain. Returns
    /// false if it did nothing: call [`Engine::try_short`].
    ///
    /// # Cost
    /// As [`Engine::try_short`].
    #[inline(always)]
    pub fn put_short<C: Bytes>(
        &mut self,
        tx: &mut T,
        to: Peer,
        envelope: Envelope,
        body: &C,
    ) -> bool {
        let head = eager(Flags::empty(), body.len() as u32, envelope);
        self.may_go() && tx.put_short(to, &head, body)
    }

    /// As [`Engine::put_short`], for a body of one word, without a call: see [`Tx::put_word`].
    #[inline(always)]
    pub fn put_word(&mut self, tx: &mut T, to: Peer, envelope: Envelope, word: u64) -> bool {
        self.may_go() && tx.put_word(to, envelope, word)
    }

    /// Whether one more message may be sent before the next [`Engine::resume`]; counts it.
    #[inline(always)]
    fn may_go(&mut self) -> bool {
        self.unpolled = self.unpolled.wrapping_sub(1);
        self.unpolled >= 0
    }

    /// Whether sends wait for a call of [`Engine::resume`], after 256 messages without one.
    #[must_use]
    pub const fn needs_resume(&self) -> bool {
        self.unpolled <= 0
    }

    /// Sends a short message in standard mode without a request.
    ///
    /// # Errors
    /// [`Busy`] if there is no room now, or the message has to take another path: it is too long, the peer is
    /// lost or blocks sends, earlier sends wait, or 256 eager messages were sent without a call of
    /// [`Engine::resume`]. Then call [`Engine::send`].
    ///
    /// # Cost
    /// One compare and a count besides the transport's own work; no allocation, no request.
    #[inline]
    pub fn try_short<C: Bytes>(
        &mut self,
        tx: &mut T,
        to: Peer,
        envelope: Envelope,
        body: &C,
    ) -> Result<(), Busy> {
        let len = body.len();
        let below = self.peers.get(to.0 as usize).map_or(0, PeerState::below);
        if len >= u64::from(below) || !self.may_go() {
            return Err(Busy);
        }
        tx.short(to, &eager(Flags::empty(), len as u32, envelope), body)
    }

    /// Sends a message up to the eager limit in standard mode without a request.
    ///
    /// # Errors
    /// [`Busy`], as [`Engine::try_short`].
    ///
    /// # Panics
    /// If `to` is not one of the engine's peers.
    ///
    /// # Cost
    /// That of [`Engine::try_short`] for short messages; longer ones are sent out of line, without allocation
    /// and request.
    #[inline]
    pub fn try_eager<C: Bytes>(
        &mut self,
        tx: &mut T,
        to: Peer,
        envelope: Envelope,
        body: &C,
    ) -> Result<(), Busy> {
        if body.len() <= u64::from(self.peers[to.0 as usize].short) {
            self.try_short(tx, to, envelope, body)
        } else {
            self.try_frame(tx, to, envelope, body)
        }
    }

    #[inline(never)]
    fn try_frame<C: Bytes>(
        &mut self,
        tx: &mut T,
        to: Peer,
        envelope: Envelope,
        body: &C,
    ) -> Result<(), Busy> {
        let peer = &self.peers[to.0 as usize];
        let len = body.len();
        if !peer.is_open() || len > u64::from(peer.eager) || self.unpolled <= 0 {
            return Err(Busy);
        }
        tx.whole(to, &eager(Flags::empty(), len as u32, envelope), body)?;
        self.unpolled -= 1;
        Ok(())
    }

    /// Starts a send of `body` to `to`. A message that the transport cannot accept now waits in order until
    /// there is room.
    ///
    /// # Panics
    /// If `to` is not one of the engine's peers, or 2^30 operations are open.
    pub fn send(
        &mut self,
        tx: &mut T,
        to: Peer,
        envelope: Envelope,
        mode: Mode,
        body: T::Bytes,
    ) -> Request {
        let record = Record::new(State::Queued(body), to, envelope, mode);
        let handle = self.requests.insert(record);
        let index = handle.index;
        let peer = &self.peers[to.0 as usize];
        if let Some(fault) = peer.fault {
            self.complete(index, Err(faulted(to.0, fault)));
        } else if !peer.sends.is_empty() || self.start_send(tx, index).is_err() {
            self.wait_to_send(tx, index);
        }
        Request(handle)
    }

    /// Tries again all that waits for room, for every peer, and returns the number of frames and bulk steps
    /// that went out. Call it between polls, which resume only what the transport reports room for.
    #[inline]
    pub fn resume(&mut self, tx: &mut T) -> u32 {
        self.unpolled = MAX_UNPOLLED;
        if self.busy.is_empty() {
            0
        } else {
            self.resume_busy(tx)
        }
    }

    #[inline(never)]
    fn resume_busy(&mut self, tx: &mut T) -> u32 {
        let (mut at, mut moved) = (0, 0);
        while let Some(&peer) = self.busy.get(at) {
            moved += self.resume_peer(tx, peer);
            if self.peers[peer as usize].is_clear() {
                self.peers[peer as usize].listed = false;
                self.busy.swap_remove(at);
            } else {
                at += 1;
            }
        }
        moved
    }

    /// Whether anything waits for room.
    #[must_use]
    pub fn has_waiting(&self) -> bool {
        self.busy
            .iter()
            .any(|&peer| !self.peers[peer as usize].is_clear())
    }

    /// Tries again all that waits for room to `peer`: answers first, since the peer may need one before it
    /// makes room for sends. Returns the number of frames and bulk steps that went out.
    pub(super) fn resume_peer(&mut self, tx: &mut T, peer: u32) -> u32 {
        let mut moved = 0;
        loop {
            let index = self.peers[peer as usize].answers.front();
            if index == NONE || self.start_answer(tx, index).is_err() {
                break;
            }
            moved += 1;
        }
        loop {
            let index = self.peers[peer as usize].sends.front();
            if index == NONE {
                break;
            }
            // Unlinked first, since a send that completes may be freed.
            self.leave_sends(tx, index);
            if self.start_send(tx, index).is_err() {
                self.wait_in_front(tx, index);
                break;
            }
            moved += 1;
        }
        loop {
            let index = self.peers[peer as usize].bulk.front();
            if index == NONE || self.start_bulk(tx, index).is_err() {
                break;
            }
            moved += 1;
        }
        moved
    }

    /// Sends the message or the request-to-send of the send at `index`, which is in no list.
    fn start_send(&mut self, tx: &mut T, index: u32) -> Result<(), Busy> {
        let record = &self.requests[index];
        if self.peers[record.peer as usize].flow == FlowLevel::Stop || self.unpolled <= 0 {
            return Err(Busy);
        }
        let State::Queued(body) = &record.state else {
            return self.request_to_send(tx, index);
        };
        let (to, len) = (Peer(record.peer), body.len());
        match self.path(record) {
            SendPath::Short => {
                tx.short(
                    to,
                    &eager(Flags::empty(), len as u32, record.envelope),
                    body,
                )?;
                let status = record.status(len);
                self.unpolled -= 1;
                self.complete(index, Ok(status));
            }
            SendPath::Frame { sync } => {
                let (flags, id_len) = if sync {
                    (Flags::SYNC, ID_LEN)
                } else {
                    (Flags::empty(), 0)
                };
                let frame_len = id_len + len as usize;
                let head = eager(flags, frame_len as u32, record.envelope);
                let mut slot = tx.frame(to, &head, frame_len)?;
                if sync {
                    slot.put(&self.requests.handle(index).word().to_le_bytes());
                }
                body.drain(0, len as usize, &mut slot);
                slot.send();
                self.unpolled -= 1;
                if sync {
                    self.requests[index].state = State::Offered { region: None, len };
                } else {
                    let status = record.status(len);
                    self.complete(index, Ok(status));
                }
            }
            SendPath::Rendezvous => return self.offer(tx, index),
        }
        Ok(())
    }

    fn path(&self, record: &Record<T::Bytes, T::Region>) -> SendPath {
        let peer = &self.peers[record.peer as usize];
        let State::Queued(body) = &record.state else {
            return SendPath::Rendezvous;
        };
        let sync = record.mode == Mode::Synchronous;
        let frame_len = body
            .len()
            .saturating_add(if sync { ID_LEN as u64 } else { 0 });
        if peer.flow == FlowLevel::Hold {
            SendPath::Rendezvous
        } else if !sync && frame_len <= u64::from(peer.short) {
            SendPath::Short
        } else if frame_len <= u64::from(peer.eager) {
            SendPath::Frame { sync }
        } else {
            SendPath::Rendezvous
        }
    }

    /// Appends a send to those that wait for its peer.
    fn wait_to_send(&mut self, tx: &mut T, index: u32) {
        let peer = self.requests[index].peer;
        let state = &mut self.peers[peer as usize];
        state.sends.push_back(&mut self.requests, 0, index);
        self.update_allowed(tx, peer);
        self.note_busy(peer);
    }

    /// Puts a send that was first back to the front.
    fn wait_in_front(&mut self, tx: &mut T, index: u32) {
        let peer = self.requests[index].peer;
        let state = &mut self.peers[peer as usize];
        state.sends.push_front(&mut self.requests, 0, index);
        self.update_allowed(tx, peer);
    }

    /// Removes a send from its peer's list.
    pub(super) fn leave_sends(&mut self, tx: &mut T, index: u32) {
        let peer = self.requests[index].peer;
        let state = &mut self.peers[peer as usize];
        state.sends.remove(&mut self.requests, 0, index);
        self.update_allowed(tx, peer);
    }

    /// Sends an answer to peer `to`, at once or when there is room; to a lost peer never.
    pub(super) fn answer(
        &mut self,
        tx: &mut T,
        to: u32,
        envelope: Envelope,
        kind: Kind,
        flags: Flags,
        id: u64,
    ) {
        let peer = &self.peers[to as usize];
        // In order, since of two flow-control levels the later one counts.
        if peer.fault.is_some()
            || (peer.answers.is_empty()
                && send_word(tx, Peer(to), envelope, kind, flags, id).is_ok())
        {
            return;
        }
        let state = State::Answer { kind, flags, id };
        let mut record = Record::new(state, Peer(to), envelope, Mode::Standard);
        record.detached = true;
        let handle = self.requests.insert(record);
        self.peers[to as usize].kept.answers += 1;
        self.wait_to_answer(handle.index);
    }

    /// Appends an answer, or a send to be cancelled, to its peer's list `answers`.
    pub(super) fn wait_to_answer(&mut self, index: u32) {
        let peer = self.requests[index].peer;
        self.peers[peer as usize]
            .answers
            .push_back(&mut self.requests, 0, index);
        self.note_busy(peer);
    }

    /// Sends the answer or cancel at `index`, the first in its peer's list, and unlinks it.
    fn start_answer(&mut self, tx: &mut T, index: u32) -> Result<(), Busy> {
        let record = &self.requests[index];
        let peer = record.peer;
        let (kind, flags, id) = match record.state {
            State::Answer { kind, flags, id } => (kind, flags, id),
            _ => (
                Kind::Cancel,
                Flags::empty(),
                self.requests.handle(index).word(),
            ),
        };
        send_word(tx, Peer(peer), record.envelope, kind, flags, id)?;
        self.peers[peer as usize]
            .answers
            .remove(&mut self.requests, 0, index);
        if kind == Kind::Cancel {
            self.requests[index].cancel = CancelProgress::Asked;
        } else {
            self.peers[peer as usize].kept.answers -= 1;
            self.requests.remove(index);
        }
        Ok(())
    }

    /// Adds `peer` to the peers for which something waits for room.
    pub(super) fn note_busy(&mut self, peer: u32) {
        self.counters.waited += 1;
        let state = &mut self.peers[peer as usize];
        if !state.listed {
            state.listed = true;
            self.busy.push(peer);
        }
    }
}

/// The header of an eager frame.
#[inline]
const fn eager(flags: Flags, len: u32, envelope: Envelope) -> Header {
    Header::new(Kind::Eager, flags, len, envelope)
}

/// Sends a frame whose body is one word.
pub(super) fn send_word<T: Tx>(
    tx: &mut T,
    to: Peer,
    envelope: Envelope,
    kind: Kind,
    flags: Flags,
    id: u64,
) -> Result<(), Busy> {
    let head = Header::new(kind, flags, ID_LEN as u32, envelope);
    let mut slot = tx.frame(to, &head, ID_LEN)?;
    slot.put(&id.to_le_bytes());
    slot.send();
    Ok(())
}
