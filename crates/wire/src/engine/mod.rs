//! Matching and the eager and rendezvous paths, as a machine without IO.
//!
//! An [`Engine`] keeps the requests of one lane. Calls start operations; a transport's arrivals and
//! events come in through [`Sink`], which the engine implements; whatever has to be sent goes out
//! through the transport that each call and event brings along. Nothing happens in between, and no
//! clock, thread or socket is known here.
//!
//! The engine is generic over its transport, and a peer of the transport is the engine's peer: a
//! lane with several transports composes them into one whose peers are the lane's links.
//!
//! # Paths
//! - E0: a message that fits the transport's short path goes with its header in one line.
//! - E1: a longer one up to the eager limit goes as one frame. A synchronous one carries the id of
//!   its request, and [`Kind::Finished`] answers it once it is matched.
//! - R0: beyond, a [`Kind::RequestToSend`] carries length, id and key; the receiver gets the bytes
//!   itself and answers [`Kind::Finished`], on which the sender takes its memory back.
//! - R1: the longest are put: the receiver answers [`Kind::ClearToSend`] with its own key, the
//!   sender puts chunk after chunk, a few under way at once, and says [`Kind::Finished`].
//!
//! Which sizes take which path is a [`PathTable`] for each peer, made when the engine is.
//!
//! Messages between two processes that match the same receive arrive in the order they were sent
//! (MPI standard, "Semantics of Point-to-Point Communication").
//!
//! # Flow
//! What is kept for messages before their receive is bounded: [`EngineConfig`]. Beyond the bounds a sender
//! is told to send envelopes only, then nothing, until there is room.
//!
//! # Trust
//! A peer's words are checked: an unknown id, a wrong length, an answer that nothing asked for end
//! in [`Fault::Protocol`] for that peer, as if it were lost.

mod cancel;
mod chains;
mod fast_path;
mod flow;
mod generalized;
mod list;
mod loss;
#[cfg(test)]
mod matching_cost;
mod pattern;
mod peer;
mod posted;
mod probe;
mod quiesce;
mod recv;
mod rendezvous;
mod rendezvous_put;
mod request;
mod send;
mod unexpected;

use alloc::vec::Vec;

use self::flow::MAX_UNPOLLED;
use self::peer::{PeerState, SendBlock};
use self::posted::Posted;
use self::request::{Record, State};
use self::unexpected::Unexpected;
use crate::fault::Fault;
use crate::header::{Envelope, Header, Kind};
use crate::paths::{PathOverrides, PathTable};
use crate::slab::Slab;
use crate::transport::{Memory, Peer, Rma, Sink, Take, Token, Tx};

pub use self::pattern::{Source, Tag};
pub use self::probe::Message;
pub use self::request::{Failure, Mode, Outcome, Request, Status};

/// Choices of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineConfig {
    /// Switch points between the paths that somebody has set.
    pub overrides: PathOverrides,
    /// Payload in bytes that is kept for one sender's unexpected messages before it has to keep
    /// the rest itself.
    pub unexpected_bytes: u64,
    /// The same for all senders together.
    pub unexpected_bytes_total: u64,
    /// Unexpected messages that are kept for one sender, envelopes included, before it has to stop.
    pub unexpected_messages: u32,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            overrides: PathOverrides::NONE,
            unexpected_bytes: 1 << 20,
            unexpected_bytes_total: 16 << 20,
            unexpected_messages: 1 << 16,
        }
    }
}

/// What an engine has done since it was made: for progress and for reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requests that became complete.
    pub completed: u64,
    /// Messages that came before their receive.
    pub unexpected: u64,
    /// Times that something met a busy transport and had to wait.
    pub waited: u64,
}

/// Requests and matching of one lane, over the transport `T`.
#[derive(Debug)]
pub struct Engine<T: Memory> {
    requests: Slab<Record<T::Bytes, T::Region>>,
    posted: Posted,
    unexpected: Unexpected,
    peers: Vec<PeerState>,
    /// By peer, apart from the rest so that a receive finds it by one index: messages that came from it
    /// and wait for a receive, plus receives that name it, plus its loss. While that is zero, nothing of
    /// ours comes before what its next frame brings.
    pending: Vec<u32>,
    /// Peers with something that waits for room.
    busy: Vec<u32>,
    /// Lost peers that receives from any source still end in.
    losses: Vec<u32>,
    /// One while a receive from any source is posted: see [`Engine::is_fast_path_open`].
    any_posted: u32,
    config: EngineConfig,
    /// Requests that are complete and that nobody has looked at.
    untested: u32,
    /// Payload kept for all peers.
    unexpected_bytes: u64,
    /// Eager messages that may go out before the next [`Engine::resume`].
    unpolled: u32,
    counters: Counters,
}

impl<T: Tx + Rma> Engine<T> {
    /// An engine for the peers `0..peers` of `tx`, whose limits are read here.
    #[must_use]
    pub fn new(tx: &mut T, peers: u32, config: EngineConfig) -> Self {
        let peers: Vec<_> = (0..peers)
            .map(|peer| PathTable::new(tx.limits(Peer(peer)), &config.overrides))
            .map(|table| PeerState::new(table.points()))
            .collect();
        for (peer, state) in (0..).zip(&peers) {
            tx.allow_short(Peer(peer), state.below());
        }
        Self {
            requests: Slab::new(),
            posted: Posted::new(),
            unexpected: Unexpected::new(),
            pending: peers.iter().map(|_| 0).collect(),
            peers,
            busy: Vec::new(),
            losses: Vec::new(),
            any_posted: 0,
            config,
            untested: 0,
            unexpected_bytes: 0,
            unpolled: MAX_UNPOLLED,
            counters: Counters::default(),
        }
    }

    /// The outcome of `request` if it is complete, which frees it: from then on it is stale. A
    /// stale request gives [`Failure::Stale`].
    #[inline(always)]
    pub fn test(&mut self, request: Request) -> Option<Outcome> {
        let Some(index) = self.requests.find(request.0) else {
            return Some(Err(Failure::Stale));
        };
        match self.requests[index].state {
            State::Done { .. } | State::Complete(_) => self.ended(index),
            _ => None,
        }
    }

    /// As [`Engine::test`], of receives only that brought a message which fits: what most waits end
    /// with, and small enough to be inlined.
    #[inline(always)]
    pub fn received(&mut self, request: Request) -> Option<Status> {
        let index = self.requests.find(request.0)?;
        let record = &self.requests[index];
        let State::Done { len } = record.state else {
            return None;
        };
        let status = record.status(len);
        self.free_request(index);
        Some(status)
    }

    /// The outcome of the operation at `index`, which is freed if there is one.
    #[inline(never)]
    fn ended(&mut self, index: u32) -> Option<Outcome> {
        let outcome = self.requests[index].outcome()?;
        self.free_request(index);
        Some(outcome)
    }

    /// Frees a complete request.
    #[inline(always)]
    fn free_request(&mut self, index: u32) {
        self.requests.free(index);
        self.untested -= 1;
    }

    /// Whether `request` is not stale.
    #[must_use]
    pub fn is_known(&self, request: Request) -> bool {
        self.requests.find(request.0).is_some()
    }

    /// Whether [`Engine::test`] would give an outcome. Frees nothing.
    #[inline]
    #[must_use]
    pub fn is_done(&self, request: Request) -> bool {
        self.requests
            .find(request.0)
            .is_none_or(|index| self.requests[index].outcome().is_some())
    }

    /// The outcome of `request` if it is complete; unlike [`Engine::test`], the request stays.
    #[must_use]
    pub fn peek(&self, request: Request) -> Option<Outcome> {
        let Some(index) = self.requests.find(request.0) else {
            return Some(Err(Failure::Stale));
        };
        self.requests[index].outcome()
    }

    /// Whose message `request` waits for, if it is a receive for which nothing has come yet.
    #[must_use]
    pub fn awaited(&self, request: Request) -> Option<Source> {
        let record = &self.requests[self.requests.find(request.0)?];
        matches!(record.state, State::Posted(_)).then(|| {
            if record.class.any_source() {
                Source::Any
            } else {
                Source::Peer(Peer(record.peer))
            }
        })
    }

    /// Lets `request` go on alone: nobody will test it, it is freed when it completes.
    pub fn detach(&mut self, request: Request) {
        if let Some(index) = self.requests.find(request.0) {
            if self.requests[index].outcome().is_some() {
                self.free_request(index);
            } else {
                self.requests[index].detached = true;
            }
        }
    }

    /// What was done so far.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// Ends the operation at `index`. Its memory must be its caller's again.
    #[inline(always)]
    fn complete(&mut self, index: u32, outcome: Outcome) {
        self.counters.completed += 1;
        let record = &mut self.requests[index];
        record.state = State::Complete(outcome);
        if record.detached {
            self.requests.free(index);
        } else {
            self.untested += 1;
        }
    }

    /// Sets or clears a mark on the gate to `peer`.
    fn set_block(&mut self, tx: &mut T, peer: u32, block: SendBlock, set: bool) {
        let state = &mut self.peers[peer as usize];
        state.set_block(block, set);
        tx.allow_short(Peer(peer), state.below());
    }

    /// Keeps count of receives from any source, after any change to them.
    #[inline(always)]
    fn note_any_source(&mut self) {
        self.any_posted = u32::from(self.posted.has_any_source());
    }
}

impl<T: Tx + Rma> Sink<T> for Engine<T> {
    #[inline(always)]
    fn expected(&mut self, from: Peer, envelope: Envelope, body: &mut impl Take) -> bool {
        self.on_expected(from, envelope, body)
    }

    #[inline(never)]
    fn frame(&mut self, tx: &mut T, from: Peer, head: &Header, body: &mut impl Take) {
        if self.peers[from.0 as usize].fault.is_some() {
            return;
        }
        let accepted = if body.left() as u64 != u64::from(head.len) {
            Err("a frame's body is not as long as its header says")
        } else {
            match head.kind {
                Kind::Eager => self.on_eager(tx, from, head, body),
                Kind::RequestToSend => self.on_request_to_send(tx, from, head, body),
                Kind::Finished => self.on_finished(tx, from, head, body),
                Kind::Cancel => self.on_cancel(tx, from, head, body),
                Kind::CancelReply => self.on_cancel_reply(tx, from, head, body),
                Kind::Flow => self.on_flow(tx, from, body),
                Kind::ClearToSend => self.on_clear_to_send(tx, from, head, body),
                Kind::Transport => Err("a transport's own frame went to the engine"),
            }
        };
        if let Err(rule) = accepted.and_then(|()| self.check_answers(from)) {
            let why = Fault::Protocol(rule);
            self.lose(tx, from, why);
            tx.give_up(from, why);
        }
    }

    fn done(&mut self, tx: &mut T, token: Token, result: Result<(), Fault>) {
        self.on_done(tx, token, result);
    }

    fn room(&mut self, tx: &mut T, to: Peer) {
        self.resume_peer(tx, to.0);
    }

    fn lost(&mut self, tx: &mut T, peer: Peer, why: Fault) {
        self.lose(tx, peer, why);
    }
}

/// Takes a peer's id from the start of a body.
fn take_id(body: &mut impl Take) -> Result<u64, &'static str> {
    let mut id = [0; ID_LEN];
    if body.left() < id.len() {
        return Err("a frame is too short for its id");
    }
    body.take(&mut id);
    Ok(u64::from_le_bytes(id))
}

/// Size of an id on the wire.
const ID_LEN: usize = 8;

/// How a peer's frame broke the protocol.
type Accepted = Result<(), &'static str>;
