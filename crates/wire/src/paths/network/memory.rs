//! The memory that a plan takes in each rank ([`NetworkMemory`]).

use super::{BUFFER_LEN, ConnectTime, MAILBOX_SLOTS, MailboxSharing, NetworkPlan, POOL_SLOTS};

/// Bytes that a rank keeps for each rank of the job, used or not: address of its mailbox, and number of free
/// slots.
const PEER: u64 = 16;

/// Memory of one rank, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkMemory {
    /// Mailboxes, or the shared pool.
    pub mailboxes: u64,
    /// Buffers of path E1.
    pub buffers: u64,
    /// Tables with an entry for each rank.
    pub tables: u64,
}

impl NetworkMemory {
    /// The sum of all.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.mailboxes + self.buffers + self.tables
    }
}

impl NetworkPlan {
    /// Length of a block of mailboxes, in bytes.
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
