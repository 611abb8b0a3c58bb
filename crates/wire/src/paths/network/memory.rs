//! What a plan takes of a rank's memory.

use super::{BUFFER, Connect, POOL, Plan, SLOTS, Sharing};

/// Bytes that a rank keeps for each rank of the job, whatever they use: where its mailbox is, and
/// how many slots are free.
const PEER: u64 = 16;

/// Memory of one rank, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Mailboxes, or the pool that stands for them.
    pub mailboxes: u64,
    /// Buffers of path E1.
    pub buffers: u64,
    /// Tables with an entry for each peer.
    pub tables: u64,
}

impl Memory {
    /// All of it.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.mailboxes + self.buffers + self.tables
    }
}

impl Plan {
    /// Bytes of one block of mailboxes.
    #[must_use]
    pub const fn block_bytes(&self) -> u64 {
        self.block as u64 * SLOTS as u64 * self.slot()
    }

    /// Memory of a rank that `used` peers have sent to.
    #[must_use]
    pub const fn memory(&self, used: u64) -> Memory {
        let peers = self.ranks.saturating_sub(1);
        let boxes = match self.wanted.connect {
            Connect::FirstUse if used < peers => used,
            Connect::FirstUse | Connect::Start => peers,
        };
        let mailboxes = match self.wanted.sharing {
            Sharing::Peer => boxes.div_ceil(self.block as u64) * self.block_bytes(),
            Sharing::Shared => POOL as u64 * self.slot(),
        };
        Memory {
            mailboxes,
            buffers: self.wanted.buffers as u64 * BUFFER as u64,
            tables: self.ranks * PEER,
        }
    }
}
