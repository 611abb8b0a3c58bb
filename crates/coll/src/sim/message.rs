//! Messages on their way, and receives that wait for them.

use super::queue::Linked;

/// Where a message is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leg {
    /// All of it, in one go.
    Eager,
    /// A long message is announced.
    Request,
    /// The receiver's adapter asks the sender's for it.
    Grant,
    /// A long message itself.
    Data,
}

/// A message between two ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    /// Orders events of one time.
    pub(super) tie: u64,
    pub(super) bytes: u64,
    /// When it comes to its receiver, if that is on the same node.
    pub(super) due: u64,
    /// The simulated ranks at its ends.
    pub(super) source: u32,
    pub(super) target: u32,
    /// The sender's rank in the receiver's eyes.
    pub(super) from: u32,
    pub(super) tag: u32,
    pub(super) next: u32,
    /// The receive that it has met.
    pub(super) receive: u32,
    pub(super) leg: Leg,
    /// Whether it goes from node to node.
    pub(super) remote: bool,
    /// Whether the sender's buffer is free again.
    pub(super) sent: bool,
    /// Who still needs this record: the network, and the sender of a long message.
    pub(super) holders: u8,
}

impl Linked for Message {
    fn next(&mut self) -> &mut u32 {
        &mut self.next
    }

    fn key(&self) -> (u32, u32) {
        (self.from, self.tag)
    }
}

/// A receive under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Receive {
    pub(super) from: u32,
    pub(super) tag: u32,
    pub(super) bytes: u64,
    pub(super) next: u32,
    pub(super) done: bool,
}

impl Linked for Receive {
    fn next(&mut self) -> &mut u32 {
        &mut self.next
    }

    fn key(&self) -> (u32, u32) {
        (self.from, self.tag)
    }
}
