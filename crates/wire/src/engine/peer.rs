//! What the engine knows of one peer.

use super::list::List;
use crate::fault::Fault;
use crate::paths::SwitchPoints;
use crate::slab::NONE;

/// What keeps sends to a peer from the short road; nothing is zero, so that one compare tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SendBlock(u32);

impl SendBlock {
    pub(super) const NONE: Self = Self(0);
    /// Earlier sends wait for room: later ones go behind them.
    pub(super) const WAITING: Self = Self(1);
    /// The peer is lost.
    pub(super) const LOST: Self = Self(2);
    /// The peer takes envelopes only.
    pub(super) const ENVELOPES_ONLY: Self = Self(4);
    /// The peer takes nothing.
    pub(super) const STOPPED: Self = Self(8);

    pub(super) const fn has(self, block: Self) -> bool {
        self.0 & block.0 != 0
    }
}

/// What a sender was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FlowLevel {
    Open = 0,
    Hold = 1,
    Stop = 2,
}

/// What is kept for one peer's messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    /// Payload bytes.
    pub(super) bytes: u64,
    /// Messages.
    pub(super) messages: u32,
    /// Answers that wait for room.
    pub(super) answers: u32,
    /// What the peer was told.
    pub(super) announced: FlowLevel,
}

impl Kept {
    pub(super) const NOTHING: Self = Self {
        bytes: 0,
        messages: 0,
        answers: 0,
        announced: FlowLevel::Open,
    };
}

/// One peer.
#[derive(Debug)]
pub(super) struct PeerState {
    blocks: SendBlock,
    /// Longest message for the short path (E0).
    pub(super) short: u32,
    /// Longest body of an eager frame (E1).
    pub(super) eager: u32,
    /// Longest message that the peer gets in one piece (R0).
    pub(super) get: u64,
    /// Bytes of one put of a longer one (R1).
    pub(super) chunk: u64,
    /// The chain of the receive that named it last: the next message is often for the same.
    pub(super) chain: u32,
    /// What is kept for it.
    pub(super) kept: Kept,
    /// Answers to the peer that wait for room.
    pub(super) answers: List,
    /// Sends that wait for room, in order.
    pub(super) sends: List,
    /// Rendezvous whose next bulk step waits for room, in order.
    pub(super) bulk: List,
    /// In the engine's list of peers with something waiting.
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
            kept: Kept::NOTHING,
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

    /// Sets or clears `mark`.
    pub(super) const fn set_block(&mut self, block: SendBlock, set: bool) {
        if set {
            self.blocks.0 |= block.0;
        } else {
            self.blocks.0 &= !block.0;
        }
    }

    /// Messages shorter than this take the short road to it: none while its gate is not open.
    pub(super) const fn below(&self) -> u32 {
        if self.blocks.0 == SendBlock::NONE.0 {
            self.short.saturating_add(1)
        } else {
            0
        }
    }

    /// Whether nothing waits for room to it.
    pub(super) const fn is_clear(&self) -> bool {
        self.answers.is_empty() && self.sends.is_empty() && self.bulk.is_empty()
    }
}
