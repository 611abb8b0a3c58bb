//! The engine's state of one peer ([`PeerState`]): limits, send-block flags, flow control, lists of what
//! waits.

use super::list::List;
use crate::fault::Fault;
use crate::paths::SwitchPoints;
use crate::slab::NONE;

/// Send-block flags: reasons why sends to a peer do not take the short path. No reason is zero: one compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SendBlock(u32);

impl SendBlock {
    pub(super) const NONE: Self = Self(0);
    /// Earlier sends wait for room, and later ones must not overtake them.
    pub(super) const WAITING: Self = Self(1);
    /// The peer is lost.
    pub(super) const LOST: Self = Self(2);
    /// Flow control: the peer accepts envelopes only.
    pub(super) const ENVELOPES_ONLY: Self = Self(4);
    /// Flow control: the peer accepts nothing.
    pub(super) const STOPPED: Self = Self(8);

    pub(super) const fn has(self, block: Self) -> bool {
        self.0 & block.0 != 0
    }
}

/// Flow-control level that a receiver announces to a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FlowLevel {
    Open = 0,
    Hold = 1,
    Stop = 2,
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
    blocks: SendBlock,
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
            blocks: SendBlock::NONE,
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

    pub(super) const fn blocks(&self) -> SendBlock {
        self.blocks
    }

    /// Sets or clears the flag `block`.
    pub(super) const fn set_block(&mut self, block: SendBlock, set: bool) {
        if set {
            self.blocks.0 |= block.0;
        } else {
            self.blocks.0 &= !block.0;
        }
    }

    /// Messages shorter than this may take the short path to the peer; 0 while a flag is set.
    pub(super) const fn below(&self) -> u32 {
        if self.blocks.0 == SendBlock::NONE.0 {
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
