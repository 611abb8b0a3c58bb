//! The records of messages under way and of posted receives.

use super::queue::QueueEntry;

/// The stage of a message's protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageStage {
    /// The whole message, sent at once.
    Eager,
    /// The announcement of a long message.
    Request,
    /// The receiver's request for the data of a long message.
    Grant,
    /// The data of a long message.
    Data,
}

/// A message between two ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimMessage {
    /// The order among simultaneous events.
    pub(super) tie: u64,
    pub(super) bytes: u64,
    /// The time at which a message within a node arrives.
    pub(super) arrival: u64,
    /// The simulated ranks that send and receive it.
    pub(super) source: u32,
    pub(super) target: u32,
    /// The sender's rank as the receiver sees it.
    pub(super) from: u32,
    pub(super) tag: u32,
    pub(super) next: u32,
    /// The index of the matched receive.
    pub(super) receive: u32,
    pub(super) stage: MessageStage,
    /// Whether sender and receiver are on different nodes.
    pub(super) remote: bool,
    /// Whether the sender may write its buffer again.
    pub(super) sent: bool,
    /// The number of users of this record: the network, and the sender of a long message.
    pub(super) holders: u8,
}

impl QueueEntry for SimMessage {
    fn next(&mut self) -> &mut u32 {
        &mut self.next
    }

    fn key(&self) -> (u32, u32) {
        (self.from, self.tag)
    }
}

/// A posted receive.
#[derive(Clone, Copy, Debug)]
pub(super) struct PostedReceive {
    pub(super) from: u32,
    pub(super) tag: u32,
    pub(super) bytes: u64,
    pub(super) next: u32,
    pub(super) done: bool,
}

impl QueueEntry for PostedReceive {
    fn next(&mut self) -> &mut u32 {
        &mut self.next
    }

    fn key(&self) -> (u32, u32) {
        (self.from, self.tag)
    }
}
