//! Requests: what the caller names and gets back, and the states in between.
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
//!  ClearTo- / Recall |no \ yes      |             v
//!     Send /   v   |    v           v           Releasing
//!         v   (asked) Releasing  Complete         | done
//!    Pushing   |                                  v
//!      | all   | Finished before the answer     Complete
//!      | done  v      no
//!      |   Unanswered ---> Releasing
//!      v     ^
//!   Finished goes out; Unanswered if the recall was asked, else Releasing
//! ```
//!
//! Every state but `Complete` goes to `Releasing` or `Complete` with a failure when the peer is
//! lost. `Releasing` is left out where nothing is registered.

use super::list::{Linked, Links};
use super::pattern::{Class, Pattern};
use crate::fault::Fault;
use crate::header::{Envelope, Flags, Kind};
use crate::slab::Handle;
use crate::transport::{Key, Peer};

/// Names one operation until it is seen complete. A stale request is an error, never another
/// request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request(pub(super) Handle);

/// When a send is complete (MPI standard, "Communication Modes").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// When the buffer may be used again.
    Standard,
    /// When the receiver has begun to receive as well.
    Synchronous,
    /// As standard. The caller says that the receive is posted; nothing depends on it.
    Ready,
}

/// What came of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The peer: whose message was received, or to whom one was sent.
    pub source: Peer,
    /// The message's tag.
    pub tag: u32,
    /// Bytes received or sent.
    pub len: u64,
    /// Taken back before it was matched; nothing was moved.
    pub cancelled: bool,
}

/// Why an operation did not succeed.
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
    /// The peer, or the way to it, failed.
    #[error("peer {}: {fault}", peer.0)]
    Fault {
        /// The peer.
        peer: Peer,
        /// What happened.
        fault: Fault,
    },
    /// An operation of the caller's own failed. The caller knows why, by this number.
    #[error("an operation of the caller's own failed")]
    Generalized(u32),
    /// The handle names no request, or no message, any more.
    #[error("the handle is stale: its operation was completed before")]
    Stale,
}

/// How an operation ends.
pub type Outcome = Result<Status, Failure>;

/// A sender's offer, from its request-to-send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    /// The message's length.
    pub(super) len: u64,
    /// What to answer to.
    pub(super) id: u64,
    /// Reaches the sender's bytes.
    pub(super) key: Key,
    /// The sender puts the bytes itself (R1).
    pub(super) put: bool,
}

/// Bytes on their way to a receiver that said where they go (R1).
#[derive(Debug)]
pub(super) struct Push<R> {
    pub(super) region: R,
    /// The message's length.
    pub(super) len: u64,
    /// Bytes of it that the receiver has room for.
    pub(super) room: u64,
    /// Reaches the receiver's room.
    pub(super) key: Key,
    /// What to tell the receiver's end to.
    pub(super) id: u64,
    /// First byte that no put was started for.
    pub(super) next: u64,
    /// Puts that have not ended.
    pub(super) under_way: u32,
    /// Waits in its peer's `bulk`.
    pub(super) listed: bool,
    /// Why a put failed; no other is started then.
    pub(super) fault: Option<Fault>,
}

/// How far taking back a send has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CancelProgress {
    /// Not asked for.
    None,
    /// The frame waits for room.
    Waiting,
    /// The peer was asked.
    Asked,
    /// The peer said no.
    Refused,
}

/// Where an operation stands: the diagram above.
#[derive(Debug)]
pub(super) enum State<B, R> {
    /// A send that nothing was sent of; waits in its peer's `sends` unless just made.
    Queued(B),
    /// A send whose request-to-send waits in its peer's `sends`; the length goes with it.
    Offering { region: Option<R>, len: u64 },
    /// A synchronous or rendezvous send that waits for [`Kind::Finished`].
    Offered { region: Option<R>, len: u64 },
    /// A rendezvous send that the receiver was clear for.
    Pushing(Push<R>),
    /// A finished send whose [`Kind::CancelReply`] is still to come.
    Unanswered { region: Option<R>, outcome: Outcome },
    /// A receive in its chain.
    Posted(B),
    /// A matched rendezvous: the get, or the word that the sender may put, waits in its peer's
    /// `bulk`, or is under way.
    Pulling {
        region: R,
        offer: Offer,
        room: u64,
        under_way: bool,
    },
    /// The outcome is known; the transport still holds the memory.
    Releasing(Outcome),
    /// Everything is over; the caller has not looked yet.
    Complete(Outcome),
    /// As `Complete`, of a receive that `len` bytes came for. The rest of its status is beside: short
    /// for the path of a message.
    Done { len: u64 },
    /// An operation of the caller's own, which only the caller ends.
    Generalized,
    /// Not the caller's: a frame for a peer, in its `answers`.
    Answer { kind: Kind, flags: Flags, id: u64 },
    /// Only while a transition moves the contents.
    Moving,
}

/// One operation.
#[derive(Debug)]
pub(super) struct Record<B, R> {
    pub(super) state: State<B, R>,
    /// The peer, or none while a receive from any source is unmatched.
    pub(super) peer: u32,
    /// The message's envelope, as far as known: of a posted receive what it asks for.
    pub(super) envelope: Envelope,
    pub(super) mode: Mode,
    pub(super) cancel: CancelProgress,
    /// Nobody will look: the entry goes when it completes.
    pub(super) detached: bool,
    /// What a receive leaves open.
    pub(super) class: Class,
    /// Order among posted receives.
    pub(super) number: u64,
    /// In one list at a time: a chain, or a list of its peer.
    links: Links,
}

impl<B, R> Record<B, R> {
    /// A record about a named peer.
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

    /// A receive of `pattern`; `number` and `links` are its place among the posted ones.
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

    /// How the operation ended, if it is complete.
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

    /// The status of an operation that was taken back.
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

/// Why a status cannot be had: see [`Failure::Fault`].
pub(super) const fn faulted(peer: u32, fault: Fault) -> Failure {
    Failure::Fault {
        peer: Peer(peer),
        fault,
    }
}
