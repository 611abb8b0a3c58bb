//! Bounds on what a peer can make this side keep.
//!
//! A receiver counts what it keeps for messages that came before their receive, and tells a sender
//! how to go on:
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
//! A receive for any message that came always completes. What is under way when the word goes out
//! is still taken; an end that takes no notice for very long breaks the protocol. A sender notices
//! only if it polls: after [`MAX_UNPOLLED`] eager messages without [`Engine::resume`] in between the
//! engine sends no more until it is called.

use super::peer::{FlowLevel, SendBlock};
use super::unexpected::Content;
use super::{Accepted, Engine, take_id};
use crate::header::{Envelope, Flags, Kind};
use crate::transport::{Peer, Rma, Take, Tx};

/// Eager messages that are sent between two calls of [`Engine::resume`] at most.
pub(super) const MAX_UNPOLLED: u32 = 256;
/// Messages beyond its bound that a peer may have had under way.
const SLACK: u32 = 1 << 17;
/// Bytes beyond its bound that a peer may have had under way.
const SLACK_BYTES: u64 = 64 << 20;
/// Answers that wait for a peer at most: one that does not take them but asks for more is hostile.
const ANSWERS: u32 = 1 << 17;

impl<T: Tx + Rma> Engine<T> {
    /// Payload in bytes that is kept now for messages whose receive has not come.
    #[must_use]
    pub const fn unexpected_bytes(&self) -> u64 {
        self.unexpected_bytes
    }

    /// Counts a message that is kept for `from`.
    pub(super) fn charge(&mut self, tx: &mut T, from: u32, bytes: u64) -> Accepted {
        self.unexpected_bytes += bytes;
        let config = &self.config;
        let kept = &mut self.peers[from as usize].kept;
        kept.bytes += bytes;
        kept.messages += 1;
        if kept.messages > config.unexpected_messages.saturating_add(SLACK)
            || kept.bytes > config.unexpected_bytes.saturating_add(SLACK_BYTES)
        {
            return Err("messages came on and on after a stop");
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

    /// Forgets a message that was kept, and opens the way again where that makes room.
    pub(super) fn discharge(&mut self, tx: &mut T, from: u32, content: Content) {
        let bytes = content.kept();
        let half = self.config.unexpected_bytes_total / 2;
        let eased = self.unexpected_bytes > half && self.unexpected_bytes - bytes <= half;
        self.unexpected_bytes -= bytes;
        let kept = &mut self.peers[from as usize].kept;
        kept.bytes -= bytes;
        kept.messages -= 1;
        self.unexpected.recycle(content);
        self.ease(tx, from);
        if eased {
            for peer in 0..self.peers.len() as u32 {
                self.ease(tx, peer);
            }
        }
    }

    /// Tells `peer` to send more freely, if what is kept allows it.
    fn ease(&mut self, tx: &mut T, peer: u32) {
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

    /// Whether `peer` takes its answers; a rule it breaks otherwise.
    pub(super) fn check_answers(&self, peer: Peer) -> Accepted {
        if self.peers[peer.0 as usize].kept.answers > ANSWERS {
            return Err("a peer asks on and on and takes no answers");
        }
        Ok(())
    }

    /// The peer says how to go on.
    pub(super) fn on_flow(&mut self, tx: &mut T, from: Peer, body: &mut impl Take) -> Accepted {
        let level = take_id(body)?;
        if level > FlowLevel::Stop as u64 {
            return Err("an unknown level of flow");
        }
        self.set_block(
            tx,
            from.0,
            SendBlock::ENVELOPES_ONLY,
            level == FlowLevel::Hold as u64,
        );
        self.set_block(
            tx,
            from.0,
            SendBlock::STOPPED,
            level == FlowLevel::Stop as u64,
        );
        if body.left() != 0 {
            return Err("a level of flow is one word");
        }
        self.resume_peer(tx, from.0);
        Ok(())
    }
}
