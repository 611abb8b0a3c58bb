//! The memory that the mailboxes of a network take of each rank.

use oxmpi::settings::Values;
use oxmpi_wire::paths::network::{Connect, Memory, Plan, SLOTS, Sharing, Wanted};

/// MailboxMemory of a job.
pub(super) struct MailboxMemory {
    pub(super) ranks: u64,
    /// Bytes of a slot, and slots for each peer.
    pub(super) slot: u64,
    pub(super) slots: u32,
    /// MailboxMemory of a block, and its bytes.
    pub(super) block: u32,
    pub(super) block_bytes: u64,
    pub(super) rows: Vec<RankMemory>,
}

/// Memory of a rank in one mode.
pub(super) struct RankMemory {
    pub(super) sharing: Sharing,
    pub(super) connect: Connect,
    /// Peers that have sent to the rank.
    pub(super) used: u64,
    pub(super) memory: Memory,
    /// Whether the settings select this mode.
    pub(super) chosen: bool,
}

/// The memory in a job of `ranks` ranks: each mode, with few and with all peers in use.
pub(super) fn mailboxes(values: &Values, ranks: u64) -> MailboxMemory {
    let wanted = values.network();
    let plan = Plan::new(ranks, wanted);
    let peers = ranks - 1;
    let modes = [
        (Sharing::Peer, Connect::FirstUse),
        (Sharing::Peer, Connect::Start),
        (Sharing::Shared, wanted.connect),
    ];
    let row = |sharing, connect, used| {
        let plan = Plan::new(
            ranks,
            Wanted {
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
        let grows = sharing == Sharing::Peer && connect == Connect::FirstUse;
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
        slots: SLOTS,
        block: plan.block,
        block_bytes: plan.block_bytes(),
        rows: rows.collect(),
    }
}
