//! What a simulation counts besides time.

/// The counts of a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// Messages.
    pub messages: u64,
    /// Messages between nodes.
    pub remote: u64,
    /// Bytes of the messages between nodes.
    pub remote_bytes: u64,
    /// Queue entries that matching visited.
    pub walked: u64,
    /// The largest number of unexpected messages in a rank's queue.
    pub unexpected: u32,
}

impl MessageCounts {
    /// The counts of this many nodes like the simulated ones.
    pub(super) const fn times(self, nodes: u64) -> Self {
        MessageCounts {
            messages: self.messages * nodes,
            remote: self.remote * nodes,
            remote_bytes: self.remote_bytes * nodes,
            walked: self.walked * nodes,
            unexpected: self.unexpected,
        }
    }
}
