//! The engine's state of one peer ([`PeerState`]): limits, flow control, lists of what waits.

use super::list::List;
use crate::fault::Fault;
use crate::paths::SwitchPoints;
use crate::slab::NONE;

/// Flow-control level that a receiver announces to a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FlowLevel {
    /// The receiver accepts every message.
    Open = 0,
    /// It accepts envelopes only.
    Hold = 1,
    /// It accepts nothing.
    Stop = 2,
}

impl FlowLevel {
    /// The level that a peer announces as `word`.
    pub(super) const fn of(word: u64) -> Option<Self> {
        match word {
            0 => Some(Self::Open),
            1 => Some(Self::Hold),
            2 => Some(Self::Stop),
            _ => None,
        }
    }
}

/// What the engine keeps for one peer: unexpected messages, and answers that wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeptForPeer {
    /// Bytes of payload of unexpected messages.
    pub(super) bytes: u64,
    /// Number of unexpected messages.
    pub(super) messages: u32,
    /// Answers that wait for room.
    pub(super) answers: u32,
    /// The level that was announced to the peer.
    pub(super) announced: FlowLevel,
}

impl KeptForPeer {
    pub(super) const NOTHING: Self = Self {
        bytes: 0,
        messages: 0,
        answers: 0,
        announced: FlowLevel::Open,
    };
}

/// The state of one peer.
#[derive(Debug)]
pub(super) struct PeerState {
    /// The level that the peer announced.
    pub(super) flow: FlowLevel,
    /// Longest message on path E0, in bytes.
    pub(super) short: u32,
    /// Longest body of an eager frame (path E1), in bytes.
    pub(super) eager: u32,
    /// Longest message on path R0, in bytes.
    pub(super) get: u64,
    /// Bytes of one put on path R1.
    pub(super) chunk: u64,
    /// Chain of the last receive that named the peer: a guess for its next message.
    pub(super) chain: u32,
    /// Unexpected messages and waiting answers.
    pub(super) kept: KeptForPeer,
    /// Answers to the peer that wait for room.
    pub(super) answers: List,
    /// Sends that wait for room, in order.
    pub(super) sends: List,
    /// Rendezvous whose next bulk step waits for room, in order.
    pub(super) bulk: List,
    /// The peer is in the engine's list `busy`.
    pub(super) listed: bool,
    /// Why the peer is lost.
    pub(super) fault: Option<Fault>,
}

impl PeerState {
    pub(super) const fn new(points: SwitchPoints) -> Self {
        Self {
            flow: FlowLevel::Open,
            short: points.short,
            eager: points.eager,
            get: points.get,
            chunk: points.chunk,
            chain: NONE,
            kept: KeptForPeer::NOTHING,
            answers: List::EMPTY,
            sends: List::EMPTY,
            bulk: List::EMPTY,
            listed: false,
            fault: None,
        }
    }

    /// Whether a message may go to the peer at once: it accepts messages, is not lost, and no earlier send waits for
    /// room, which a later one must not overtake.
    #[inline]
    pub(super) const fn is_open(&self) -> bool {
        matches!(self.flow, FlowLevel::Open) && self.sends.is_empty() && self.fault.is_none()
    }

    /// Messages shorter than this may take the short path to the peer.
    #[inline]
    pub(super) const fn below(&self) -> u32 {
        if self.is_open() {
            self.short.saturating_add(1)
        } else {
            0
        }
    }

    /// Whether nothing waits for room to the peer.
    pub(super) const fn is_clear(&self) -> bool {
        self.answers.is_empty() && self.sends.is_empty() && self.bulk.is_empty()
    }
}
