//! The engine: requests, message matching, eager and rendezvous protocols, as a state machine without IO.
//!
//! An [`Engine`] has the requests of one endpoint. Calls start operations. The engine implements [`Sink`], by
//! which a transport delivers arrivals and events; it sends through the transport that each call and event
//! has as an argument. It does nothing between calls, and uses no clock, thread or socket.
//!
//! The engine is generic over its transport, and has the same peers: an endpoint with several transports
//! composes them into one.
//!
//! # Paths
//! - E0: a short message goes with its header in one cache line or mailbox.
//! - E1: a longer one up to the eager limit goes as one frame. A synchronous one has the id of its request,
//!   which [`Kind::Finished`] returns when the receiver has matched it.
//! - R0: a [`Kind::RequestToSend`] has length, id and key; the receiver gets the bytes and answers
//!   [`Kind::Finished`], and the sender releases its memory.
//! - R1: the receiver answers the request-to-send by [`Kind::ClearToSend`] with its own key; the sender puts
//!   chunks, a few under way at once, and sends [`Kind::Finished`].
//!
//! A [`PathTable`] for each peer, made with the engine, selects the path by size.
//!
//! Messages between two processes that match the same receive arrive in the order they were sent (MPI
//! standard, "Semantics of Point-to-Point Communication").
//!
//! # Flow control
//! [`EngineConfig`] bounds the memory for unexpected messages. Beyond the bounds the receiver tells a sender
//! to send envelopes only, then nothing, until there is room.
//!
//! # Trust
//! The engine checks all that a peer sends. An unknown id, a wrong length or an answer without a question is
//! a [`Fault::Protocol`], and the peer counts as lost.

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

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use self::flow::MAX_UNPOLLED;
use self::peer::PeerState;
use self::posted::Posted;
use self::request::{Record, State};
use self::unexpected::Unexpected;
use crate::fault::Fault;
use crate::header::{Envelope, Header, Kind};
use crate::paths::{PathOverrides, PathTable};
use crate::slab::Slab;
use crate::transport::{Memory, Peer, Rma, Sink, Take, Token, Tx};

pub use self::fast_path::FastPoll;
pub use self::pattern::{Source, Tag};
pub use self::probe::Message;
pub use self::request::{Failure, Mode, Outcome, Request, Status};

/// Configuration of an [`Engine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineConfig {
    /// Switch points between the paths that settings override.
    pub overrides: PathOverrides,
    /// Bytes of payload that are kept for one sender's unexpected messages; beyond, it has to send envelopes
    /// only.
    pub unexpected_bytes: u64,
    /// Bytes of payload that are kept for unexpected messages of all senders together.
    pub unexpected_bytes_total: u64,
    /// Unexpected messages, envelopes included, that are kept for one sender; beyond, it has to stop.
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

/// Counters of an engine since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requests that became complete.
    pub completed: u64,
    /// Messages that arrived before their receive was posted.
    pub unexpected: u64,
    /// Sends, answers and bulk steps that had to wait for a busy transport.
    pub waited: u64,
}

/// Requests and matching of one endpoint, over the transport `T`.
#[derive(Debug)]
pub struct Engine<T: Memory> {
    requests: Slab<Record<T::Bytes, T::Region>>,
    posted: Posted,
    unexpected: Unexpected,
    peers: Vec<PeerState>,
    /// By peer: number of its unexpected messages, plus posted receives that name it, plus one if it is lost.
    /// While it is zero, a receive may take the peer's next frame directly. Not in `peers`, so that a receive
    /// finds it by one index.
    pending: Vec<u32>,
    /// Peers for which something waits for room.
    busy: Vec<u32>,
    /// Lost peers that still fail receives from any source.
    losses: Vec<u32>,
    config: EngineConfig,
    /// Complete requests whose outcome the caller has not taken yet.
    untested: u32,
    /// Bytes of payload kept for unexpected messages of all peers.
    unexpected_bytes: u64,
    /// Eager messages that may be sent before the next [`Engine::resume`]; below 0, how many were refused since.
    unpolled: i32,
    counters: Counters,
    /// Ends of operations that another owner has started: see [`Engine::take_foreign`].
    foreign: VecDeque<(u64, Result<(), Fault>)>,
    /// Frames of windows: see [`Engine::take_window_frame`].
    window_frames: VecDeque<(Peer, Header, Vec<u8>)>,
}

impl<T: Tx + Rma> Engine<T> {
    /// Makes an engine for the peers `0..peers` of `tx`, and reads their limits.
    #[must_use]
    pub fn new(tx: &mut T, peers: u32, config: EngineConfig) -> Self {
        let peers: Vec<_> = (0..peers)
            .map(|peer| PathTable::new(tx.limits(Peer(peer)), &config.overrides))
            .map(|table| PeerState::new(table.points()))
            .collect();
        let engine = Self {
            requests: Slab::new(),
            posted: Posted::new(),
            unexpected: Unexpected::new(),
            pending: peers.iter().map(|_| 0).collect(),
            peers,
            busy: Vec::new(),
            losses: Vec::new(),
            config,
            untested: 0,
            unexpected_bytes: 0,
            unpolled: MAX_UNPOLLED,
            counters: Counters::default(),
            foreign: VecDeque::new(),
            window_frames: VecDeque::new(),
        };
        (0..engine.peers.len() as u32).for_each(|peer| engine.update_allowed(tx, peer));
        engine
    }

    /// The outcome of `request` if it is complete; this frees the request, which is stale from then on. A
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

    /// As [`Engine::test`], but only for a receive whose message fitted its buffer: the usual end of a wait,
    /// small enough to be inlined.
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

    /// The outcome of the request at `index`; frees the request if there is one.
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

    /// Whether `request` is valid, that is, not stale.
    #[must_use]
    pub fn is_known(&self, request: Request) -> bool {
        self.requests.find(request.0).is_some()
    }

    /// Whether [`Engine::test`] would return an outcome. Frees nothing.
    #[inline]
    #[must_use]
    pub fn is_done(&self, request: Request) -> bool {
        self.requests
            .find(request.0)
            .is_none_or(|index| self.requests[index].outcome().is_some())
    }

    /// The outcome of `request` if it is complete; unlike [`Engine::test`], the request stays valid.
    #[must_use]
    pub fn peek(&self, request: Request) -> Option<Outcome> {
        let Some(index) = self.requests.find(request.0) else {
            return Some(Err(Failure::Stale));
        };
        self.requests[index].outcome()
    }

    /// The source that `request` waits for, if it is a receive that is not matched yet.
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

    /// Detaches `request` from the caller: the engine frees it when it completes.
    pub fn detach(&mut self, request: Request) {
        if let Some(index) = self.requests.find(request.0) {
            if self.requests[index].outcome().is_some() {
                self.free_request(index);
            } else {
                self.requests[index].detached = true;
            }
        }
    }

    /// The end of the oldest operation that has ended with a token of [`Token::foreign`], once: its number and
    /// its result. Whoever starts such operations over this engine's transport takes their ends here after each
    /// poll; the engine only queues them, as many as the transport has operations in flight.
    pub fn take_foreign(&mut self) -> Option<(u64, Result<(), Fault>)> {
        self.foreign.pop_front()
    }

    /// The oldest frame of a window that has come to the engine, with its sender. Whoever keeps windows is a sink of its own,
    /// and passes the engine's frames on; but where the engine polls by itself, in its fast path, such frames come to it.
    /// They are taken before the next poll, so they are no more than came in one.
    pub fn take_window_frame(&mut self) -> Option<(Peer, Header, Vec<u8>)> {
        self.window_frames.pop_front()
    }

    /// Requests that have not completed, detached ones too.
    #[must_use]
    pub const fn open_requests(&self) -> u32 {
        self.requests.used() - self.untested
    }

    /// The engine's counters.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// Completes the operation at `index`. Its memory must be the caller's again.
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

    /// Has the transport allow what [`PeerState::below`] says now: call it after every change on which that depends.
    fn update_allowed(&self, tx: &mut T, peer: u32) {
        tx.allow_short(Peer(peer), self.peers[peer as usize].below());
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
            Err("the length of a frame's body differs from its header")
        } else {
            match head.kind {
                Kind::Eager => self.on_eager(tx, from, head, body),
                Kind::RequestToSend => self.on_request_to_send(tx, from, head, body),
                Kind::Finished => self.on_finished(tx, from, head, body),
                Kind::Cancel => self.on_cancel(tx, from, head, body),
                Kind::CancelReply => self.on_cancel_reply(tx, from, head, body),
                Kind::Flow => self.on_flow(tx, from, body),
                Kind::ClearToSend => self.on_clear_to_send(tx, from, head, body),
                Kind::Transport => Err("a frame of the transport's own reached the engine"),
                Kind::Window => {
                    let mut bytes = alloc::vec![0; body.left()];
                    body.take(&mut bytes);
                    self.window_frames.push_back((from, *head, bytes));
                    Ok(())
                }
            }
        };
        if let Err(rule) = accepted.and_then(|()| self.check_answers(from)) {
            let why = Fault::Protocol(rule);
            self.lose(tx, from, why);
            tx.give_up(from, why);
        }
    }

    fn done(&mut self, tx: &mut T, token: Token, result: Result<(), Fault>) {
        match token.foreign_number() {
            None => self.on_done(tx, token, result),
            Some(number) => self.foreign.push_back((number, result)),
        }
    }

    fn room(&mut self, tx: &mut T, to: Peer) {
        self.resume_peer(tx, to.0);
    }

    fn lost(&mut self, tx: &mut T, peer: Peer, why: Fault) {
        self.lose(tx, peer, why);
    }
}

/// Reads an id from the start of a body.
fn take_id(body: &mut impl Take) -> Result<u64, &'static str> {
    let mut id = [0; ID_LEN];
    if body.left() < id.len() {
        return Err("a frame is too short for its id");
    }
    body.take(&mut id);
    Ok(u64::from_le_bytes(id))
}

/// Size of an id on the wire, in bytes.
const ID_LEN: usize = 8;

/// Result of a peer's frame; the error is the rule of the protocol that it broke.
type Accepted = Result<(), &'static str>;
