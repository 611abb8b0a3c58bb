//! One round of [`Rounds`](super::rounds::Rounds): a rank's messages in it.

use super::{Model, Reach};
use crate::exec::IN_FLIGHT;

/// The messages and the work of every rank in a round.
#[derive(Clone, Copy)]
pub(super) struct Round {
    /// The distance to the peer, or to the nearest of several, which are at its multiples.
    pub(super) distance: u32,
    /// The distance between the nearest and the farthest of several peers, if a rank lies between them.
    pub(super) span: u64,
    /// Messages that leave a node.
    pub(super) far: u64,
    /// Messages of each rank that are under way at the same time.
    pub(super) messages: u32,
    /// The mean bytes of each message.
    pub(super) bytes: u64,
    /// Bytes of the first and of the last message.
    pub(super) ends: [u64; 2],
    /// The processor's work on the received data.
    pub(super) work: u64,
}

impl Round {
    /// The path that ranks wait for: with several messages that of most of them, with one that of nearly
    /// all ranks.
    pub(super) fn reach(&self, model: &Model) -> Reach {
        let node = u64::from(model.place.per_node().min(model.place.size()));
        let all = u64::from(self.messages) * node;
        let is_far = match (self.messages, self.span) {
            (0 | 1, _) => self.far >= all - all / 16,
            (_, 0) => self.far >= all * 3 / 4,
            (_, span) => span >= node,
        };
        match is_far && self.far > 0 {
            true => Reach::Network,
            false => Reach::Node,
        }
    }

    /// The time of `messages` messages on the path, beside `others` on the rank's node.
    pub(super) fn along(&self, model: &Model, reach: Reach, messages: u32, others: u32) -> u64 {
        let &Round { bytes, ends, .. } = self;
        // A long message stays under way until the received one is complete.
        let at_a_time = match bytes > model.machine.eager {
            true => IN_FLIGHT as u32 / 2,
            false => u32::MAX,
        };
        let (one, more) = (messages.min(1), messages.saturating_sub(1));
        let (send, receive) = (model.send(reach, bytes), model.receive(reach, bytes));
        // Messages are copied one after another, or are under way together once announced.
        let ([most, last], next) = match reach {
            Reach::Node if model.serial_copies => ([bytes; 2], receive),
            Reach::Node => (ends, model.machine.node.recv),
            Reach::Network => (ends, receive),
        };
        let waves = u64::from(messages.div_ceil(at_a_time));
        let after = |bytes, others: u32| {
            waves * model.hop(reach, bytes) + u64::from(others) * send.max(next)
        };
        let flight = match most > last {
            true => after(most, more.saturating_sub(1)).max(after(last, more)),
            false => after(last, more),
        };
        let busy = u64::from(messages) * (send + receive)
            + u64::from(others) * model.both(Reach::Node, bytes);
        flight.max(busy) + u64::from(one) * model.acknowledged(reach, bytes)
    }
}
