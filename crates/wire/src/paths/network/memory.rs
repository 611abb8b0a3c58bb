//! What a plan takes of a rank's memory.

use super::{BUFFER_LEN, ConnectTime, MAILBOX_SLOTS, MailboxSharing, NetworkPlan, POOL_SLOTS};

/// Bytes that a rank keeps for each rank of the job, whatever they use: where its mailbox is, and
/// how many slots are free.
const PEER: u64 = 16;

/// Memory of one rank, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkMemory {
    /// Mailboxes, or the pool that stands for them.
    pub mailboxes: u64,
    /// Buffers of path E1.
    pub buffers: u64,
    /// Tables with an entry for each peer.
    pub tables: u64,
}

impl NetworkMemory {
    /// All of it.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.mailboxes + self.buffers + self.tables
    }
}

impl NetworkPlan {
    /// Bytes of one block of mailboxes.
    #[must_use]
    pub const fn block_bytes(&self) -> u64 {
        self.block as u64 * MAILBOX_SLOTS as u64 * self.slot()
    }

    /// Memory of a rank that `used` peers have sent to.
    #[must_use]
    pub const fn memory(&self, used: u64) -> NetworkMemory {
        let peers = self.ranks.saturating_sub(1);
        let boxes = match self.settings.connect {
            ConnectTime::FirstUse if used < peers => used,
            ConnectTime::FirstUse | ConnectTime::Start => peers,
        };
        let mailboxes = match self.settings.sharing {
            MailboxSharing::Peer => boxes.div_ceil(self.block as u64) * self.block_bytes(),
            MailboxSharing::Shared => POOL_SLOTS as u64 * self.slot(),
        };
        NetworkMemory {
            mailboxes,
            buffers: self.settings.buffers as u64 * BUFFER_LEN as u64,
            tables: self.ranks * PEER,
        }
    }
}
