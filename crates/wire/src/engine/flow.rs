//! Flow control: bounds on the unexpected messages that a peer can make this side keep.
//!
//! A receiver counts what it keeps for unexpected messages, and announces a level to the sender:
//!
//! ```text
//!          payload of the peer, or of all,       envelopes of the peer
//!          above its bound                       above their bound
//!   Open -----------------------------> Hold ------------------------> Stop
//!        <-----------------------------      <------------------------
//!          both at half or less                  at half or less
//! ```
//!
//! - `Open`: short messages are sent eagerly.
//! - `Hold`: every message is an envelope (a request-to-send); its bytes stay with the sender.
//! - `Stop`: nothing is sent; sends wait at the sender.
//!
//! The receiver still accepts messages that were under way when it announced a level; a sender that ignores
//! the level for very long breaks the protocol. A sender learns the level only if it polls: after
//! [`MAX_UNPOLLED`] eager messages without a call of [`Engine::resume`] the engine sends no more until that
//! call.

use super::peer::FlowLevel;
use super::unexpected::Content;
use super::{Accepted, Engine, take_id};
use crate::header::{Envelope, Flags, Kind};
use crate::transport::{Peer, Rma, Take, Tx};

/// Most eager messages that are sent between two calls of [`Engine::resume`].
pub(super) const MAX_UNPOLLED: i32 = 256;
/// Messages beyond its bound that a peer may have had under way.
const SLACK: u32 = 1 << 17;
/// Bytes beyond its bound that a peer may have had under way.
const SLACK_BYTES: u64 = 64 << 20;
/// Most answers that wait for a peer: a peer that does not accept them but asks for more is hostile.
const ANSWERS: u32 = 1 << 17;

impl<T: Tx + Rma> Engine<T> {
    /// Bytes of payload that are kept now for unexpected messages.
    #[must_use]
    pub const fn unexpected_bytes(&self) -> u64 {
        self.unexpected_bytes
    }

    /// Counts an unexpected message of `from`, and announces a stricter level if it exceeds a bound.
    pub(super) fn charge(&mut self, tx: &mut T, from: u32, bytes: u64) -> Accepted {
        self.unexpected_bytes += bytes;
        let config = &self.config;
        let kept = &mut self.peers[from as usize].kept;
        kept.bytes += bytes;
        kept.messages += 1;
        if kept.messages > config.unexpected_messages.saturating_add(SLACK)
            || kept.bytes > config.unexpected_bytes.saturating_add(SLACK_BYTES)
        {
            return Err("a peer went on sending after a stop");
        }
        let level = if kept.messages > config.unexpected_messages {
            FlowLevel::Stop
        } else if bytes > 0
            && (kept.bytes > config.unexpected_bytes
                || self.unexpected_bytes > config.unexpected_bytes_total)
        {
            FlowLevel::Hold
        } else {
            FlowLevel::Open
        };
        if level > kept.announced {
            self.announce(tx, from, level);
        }
        Ok(())
    }

    /// Uncounts an unexpected message, and announces a looser level where that makes room.
    pub(super) fn release_unexpected(&mut self, tx: &mut T, from: u32, content: Content) {
        let bytes = content.kept();
        let half = self.config.unexpected_bytes_total / 2;
        let eased = self.unexpected_bytes > half && self.unexpected_bytes - bytes <= half;
        self.unexpected_bytes -= bytes;
        let kept = &mut self.peers[from as usize].kept;
        kept.bytes -= bytes;
        kept.messages -= 1;
        self.unexpected.recycle(content);
        self.loosen(tx, from);
        if eased {
            for peer in 0..self.peers.len() as u32 {
                self.loosen(tx, peer);
            }
        }
    }

    /// Announces a looser level to `peer`, if what is kept allows it.
    fn loosen(&mut self, tx: &mut T, peer: u32) {
        let state = &self.peers[peer as usize];
        let kept = &state.kept;
        if kept.announced == FlowLevel::Open || state.fault.is_some() {
            return;
        }
        let few = kept.messages <= self.config.unexpected_messages / 2;
        let little = kept.bytes <= self.config.unexpected_bytes / 2
            && self.unexpected_bytes <= self.config.unexpected_bytes_total / 2;
        let level = match (few, little) {
            (true, true) => FlowLevel::Open,
            (true, false) => FlowLevel::Hold,
            (false, _) => return,
        };
        if level < kept.announced {
            self.announce(tx, peer, level);
        }
    }

    fn announce(&mut self, tx: &mut T, peer: u32, level: FlowLevel) {
        self.peers[peer as usize].kept.announced = level;
        let none = Envelope { context: 0, tag: 0 };
        self.answer(tx, peer, none, Kind::Flow, Flags::empty(), level as u64);
    }

    /// Checks that `peer` accepts its answers.
    pub(super) fn check_answers(&self, peer: Peer) -> Accepted {
        if self.peers[peer.0 as usize].kept.answers > ANSWERS {
            return Err("a peer sends requests and accepts no answers");
        }
        Ok(())
    }

    /// The peer announces a level.
    pub(super) fn on_flow(&mut self, tx: &mut T, from: Peer, body: &mut impl Take) -> Accepted {
        let level = FlowLevel::of(take_id(body)?);
        self.peers[from.0 as usize].flow = level.ok_or("an unknown level of flow control")?;
        self.update_allowed(tx, from.0);
        if body.left() != 0 {
            return Err("a level of flow control is one word");
        }
        self.resume_peer(tx, from.0);
        Ok(())
    }
}
