//! Requests: the handle and outcome that the caller sees ([`Request`], [`Status`], [`Failure`]), and the
//! record of an operation with its states ([`Record`], [`State`]).
//!
//! ```text
//! a send                                       a receive
//!
//!  Queued --- plain eager ----> Complete        Posted --- eager -------> Complete
//!    |  \                                         |  \
//!    |   synchronous eager                        |   cancelled ---> Complete
//!    |     \                                      | request-to-send
//!  register \                                     v
//!    v       v       Finished                   Pulling (get waits or is under way)
//! Offering -> Offered --------> Releasing         | R0: done, Finished goes out
//!            / |   ^  \             |             | R1: Finished
//!  ClearTo- / Cancel |no \ yes      |             v
//!     Send /   v   |    v           v           Releasing
//!         v   (asked) Releasing  Complete         | done
//!    Pushing   |                                  v
//!      | all   | Finished before the answer     Complete
//!      | done  v      no
//!      |   Unanswered ---> Releasing
//!      v     ^
//!   Finished goes out; Unanswered if the cancel was sent, else Releasing
//! ```
//!
//! When the peer is lost, every state but `Complete` changes to `Releasing` or `Complete` with a failure.
//! Without registered memory `Releasing` is skipped.

use super::list::{Linked, Links};
use super::pattern::{Class, Pattern};
use crate::fault::Fault;
use crate::header::{Envelope, Flags, Kind};
use crate::slab::Handle;
use crate::transport::{Key, Peer};

/// Handle of an operation, until the caller has taken its outcome. Then it is stale, and never names another
/// operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request(pub(super) Handle);

/// Mode of a send: when it is complete (MPI standard, "Communication Modes").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Complete when the buffer may be used again.
    Standard,
    /// Complete when the receiver has also matched the message.
    Synchronous,
    /// As standard. The caller asserts that the receive is posted; the engine makes no use of it.
    Ready,
}

/// Result of a successful or cancelled operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The peer: sender of the received message, or receiver of the sent one.
    pub source: Peer,
    /// The message's tag.
    pub tag: u32,
    /// Bytes received or sent.
    pub len: u64,
    /// The operation was cancelled before it was matched; no bytes were moved.
    pub cancelled: bool,
}

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The message is longer than the buffer, which holds its first `room` bytes.
    #[error(
        "message of {sent} B with tag {tag} from peer {} does not fit into {room} B", peer.0
    )]
    Truncated {
        /// The sender.
        peer: Peer,
        /// The message's tag.
        tag: u32,
        /// Bytes that were sent.
        sent: u64,
        /// Bytes that the buffer holds.
        room: u64,
    },
    /// The peer or the connection to it failed.
    #[error("peer {}: {fault}", peer.0)]
    Fault {
        /// The peer.
        peer: Peer,
        /// Why.
        fault: Fault,
    },
    /// A generalized request failed; the number is the caller's.
    #[error("a generalized request failed")]
    Generalized(u32),
    /// The handle is stale: its operation was completed, or its message received, before.
    #[error("the handle is stale: its operation was completed before")]
    Stale,
}

/// Outcome of an operation.
pub type Outcome = Result<Status, Failure>;

/// Content of a request-to-send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    /// The message's length.
    pub(super) len: u64,
    /// The sender's id, for answers.
    pub(super) id: u64,
    /// Key to the sender's bytes.
    pub(super) key: Key,
    /// The sender puts the bytes (path R1).
    pub(super) put: bool,
}

/// Progress of a send on path R1, after the receiver's clear-to-send.
#[derive(Debug)]
pub(super) struct Push<R> {
    pub(super) region: R,
    /// The message's length.
    pub(super) len: u64,
    /// Bytes that fit the receiver's buffer.
    pub(super) room: u64,
    /// Key to the receiver's buffer.
    pub(super) key: Key,
    /// The receiver's id, for the final answer.
    pub(super) id: u64,
    /// Offset of the first byte for which no put was started.
    pub(super) next: u64,
    /// Puts that have not ended.
    pub(super) in_flight: u32,
    /// The send is in its peer's list `bulk`.
    pub(super) listed: bool,
    /// Why a put failed; then no other is started.
    pub(super) fault: Option<Fault>,
}

/// Progress of the cancellation of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CancelProgress {
    /// Not requested.
    None,
    /// The cancel frame waits for room.
    Waiting,
    /// The cancel frame was sent.
    Asked,
    /// The peer has refused.
    Refused,
}

/// State of an operation: see the diagram above.
#[derive(Debug)]
pub(super) enum State<B, R> {
    /// A send of which nothing was sent; it is in its peer's list `sends` unless just made.
    Queued(B),
    /// A send whose request-to-send waits in its peer's list `sends`.
    Offering { region: Option<R>, len: u64 },
    /// A synchronous or rendezvous send that waits for [`Kind::Finished`].
    Offered { region: Option<R>, len: u64 },
    /// A rendezvous send with a clear-to-send: the engine puts its bytes.
    Pushing(Push<R>),
    /// A finished send whose [`Kind::CancelReply`] has not arrived yet.
    Unanswered { region: Option<R>, outcome: Outcome },
    /// A posted receive, in its chain.
    Posted(B),
    /// A matched rendezvous: the get or the clear-to-send waits in its peer's list `bulk`, or is under way.
    Pulling {
        region: R,
        offer: Offer,
        room: u64,
        in_flight: bool,
    },
    /// The outcome is known; the transport has not released the memory yet.
    Releasing(Outcome),
    /// The operation has ended; the caller has not taken the outcome yet.
    Complete(Outcome),
    /// As `Complete`, for a successful receive of `len` bytes. The record has the rest of the status: fewer
    /// stores on the path of a message.
    Done { len: u64 },
    /// A generalized request, which only the caller completes.
    Generalized,
    /// Not a request of the caller: an answer that waits in its peer's list `answers`.
    Answer { kind: Kind, flags: Flags, id: u64 },
    /// Only during a transition that moves the contents.
    Moving,
}

/// Record of one operation.
#[derive(Debug)]
pub(super) struct Record<B, R> {
    pub(super) state: State<B, R>,
    /// The peer; [`NONE`](crate::slab::NONE) while a receive from any source is unmatched.
    pub(super) peer: u32,
    /// The message's envelope; of a posted receive that of its pattern.
    pub(super) envelope: Envelope,
    pub(super) mode: Mode,
    pub(super) cancel: CancelProgress,
    /// The caller will not take the outcome: the record is freed on completion.
    pub(super) detached: bool,
    /// The wildcards of a receive.
    pub(super) class: Class,
    /// Order among posted receives.
    pub(super) number: u64,
    /// Links of the one list that it is in: a chain, or a list of its peer.
    links: Links,
}

impl<B, R> Record<B, R> {
    /// A record of an operation with `peer`.
    pub(super) const fn new(
        state: State<B, R>,
        peer: Peer,
        envelope: Envelope,
        mode: Mode,
    ) -> Self {
        Self {
            state,
            peer: peer.0,
            envelope,
            mode,
            cancel: CancelProgress::None,
            detached: false,
            class: Class::EXACT,
            number: 0,
            links: Links::ALONE,
        }
    }

    /// A receive of `pattern`; `number` and `links` are its position among the posted ones.
    #[inline(always)]
    pub(super) const fn receive(body: B, pattern: &Pattern, number: u64, links: Links) -> Self {
        Self {
            state: State::Posted(body),
            peer: pattern.source,
            envelope: pattern.envelope,
            mode: Mode::Standard,
            cancel: CancelProgress::None,
            detached: false,
            class: pattern.class,
            number,
            links,
        }
    }

    /// A receive of `pattern` that is not posted.
    pub(super) const fn matched(body: B, pattern: &Pattern) -> Self {
        Self::receive(body, pattern, 0, Links::ALONE)
    }

    /// The outcome, if the operation is complete.
    #[inline(always)]
    pub(super) const fn outcome(&self) -> Option<Outcome> {
        match self.state {
            State::Done { len } => Some(Ok(self.status(len))),
            State::Complete(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Moves the state out, to be replaced by the next one.
    pub(super) const fn take(&mut self) -> State<B, R> {
        core::mem::replace(&mut self.state, State::Moving)
    }

    /// The status of moving `len` bytes.
    #[inline(always)]
    pub(super) const fn status(&self, len: u64) -> Status {
        Status {
            source: Peer(self.peer),
            tag: self.envelope.tag,
            len,
            cancelled: false,
        }
    }

    /// The status of a cancelled operation.
    pub(super) const fn cancelled(&self) -> Status {
        Status {
            cancelled: true,
            ..self.status(0)
        }
    }
}

impl<B, R> Linked for Record<B, R> {
    fn links(&self, _pair: usize) -> &Links {
        &self.links
    }

    fn links_mut(&mut self, _pair: usize) -> &mut Links {
        &mut self.links
    }
}

/// Makes a [`Failure::Fault`].
pub(super) const fn faulted(peer: u32, fault: Fault) -> Failure {
    Failure::Fault {
        peer: Peer(peer),
        fault,
    }
}
