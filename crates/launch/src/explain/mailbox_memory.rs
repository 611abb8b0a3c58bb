//! The memory that the mailboxes of a network take of each rank.

use oxmpi_settings::Values;
use oxmpi_wire::paths::network::{
    ConnectTime, MAILBOX_SLOTS, MailboxSharing, NetworkMemory, NetworkPlan, NetworkSettings,
};

/// The memory of mailboxes in a job.
pub(super) struct MailboxMemory {
    pub(super) ranks: u64,
    /// Bytes of a slot, and slots for each peer.
    pub(super) slot: u64,
    pub(super) slots: u32,
    /// Mailboxes of a block, and its bytes.
    pub(super) block: u32,
    pub(super) block_bytes: u64,
    pub(super) rows: Vec<RankMemory>,
}

/// Memory of a rank in one mode.
pub(super) struct RankMemory {
    pub(super) sharing: MailboxSharing,
    pub(super) connect: ConnectTime,
    /// Peers that have sent to the rank.
    pub(super) used: u64,
    pub(super) memory: NetworkMemory,
    /// Whether the settings select this mode.
    pub(super) chosen: bool,
}

/// The memory in a job of `ranks` ranks: each mode, with few and with all peers in use.
pub(super) fn mailboxes(values: &Values, ranks: u64) -> MailboxMemory {
    let wanted = values.network();
    let plan = NetworkPlan::new(ranks, wanted);
    let peers = ranks - 1;
    let modes = [
        (MailboxSharing::Peer, ConnectTime::FirstUse),
        (MailboxSharing::Peer, ConnectTime::Start),
        (MailboxSharing::Shared, wanted.connect),
    ];
    let row = |sharing, connect, used| {
        let plan = NetworkPlan::new(
            ranks,
            NetworkSettings {
                sharing,
                connect,
                ..wanted
            },
        );
        RankMemory {
            sharing,
            connect,
            used,
            memory: plan.memory(used),
            chosen: (sharing, connect) == (wanted.sharing, wanted.connect),
        }
    };
    let rows = modes.into_iter().flat_map(|(sharing, connect)| {
        let grows = sharing == MailboxSharing::Peer && connect == ConnectTime::FirstUse;
        let mut used: Vec<u64> = [1, 26, 1000, peers]
            .into_iter()
            .filter(|used| *used == peers || grows && *used < peers)
            .collect();
        used.dedup();
        used.into_iter()
            .map(move |used| row(sharing, connect, used))
    });
    MailboxMemory {
        ranks,
        slot: plan.slot(),
        slots: MAILBOX_SLOTS,
        block: plan.block,
        block_bytes: plan.block_bytes(),
        rows: rows.collect(),
    }
}
