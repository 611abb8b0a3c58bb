//! The plan of a network transport ([`NetworkPlan`]): mailboxes, buffers and limits, from settings and the
//! size of the job.
//!
//! A rank gives its peers *mailboxes*: slots that a peer writes without request, for messages that fit one
//! (path E0). Longer eager messages (E1) go through *buffers* of 32 KiB on both sides. Beyond, the receiver
//! gets the bytes in one piece (R0) or the sender puts them in chunks (R1). The memory of mailboxes grows
//! with the job, so their size falls with the number of ranks; if that is not enough, all peers of a rank
//! share one pool of slots.
//!
//! Sizes, defaults and limits are those of Cray's MPI on Gemini (Poxon, "MPI for Cray XE/XK7 Systems", 2013),
//! whose names the settings accept. It does not give the number of mailboxes: eight slots for each peer, and
//! blocks of mailboxes that shrink with the job as payloads do, are our choice. It gives 4 MB and 512 KB for
//! the end of R0: 4 MB is used here, and as in its text also for an R1 chunk.

mod memory;
pub mod settings;

pub use self::memory::NetworkMemory;
pub use self::settings::SETTINGS;

use super::{Cost, Limits, PathCosts, PathOverrides, RendezvousScheme};

/// Header of a slot and of an eager message, in bytes.
pub const HEADER: u32 = 40;
/// Length of a buffer of path E1, in bytes.
pub const BUFFER_LEN: u32 = 32 << 10;
/// Slots of a peer's mailbox.
pub const MAILBOX_SLOTS: u32 = 8;
/// Slots of the pool that all peers of a rank share.
pub const POOL_SLOTS: u32 = 64;

/// When a peer gets its mailbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConnectTime {
    /// When a rank first sends to it.
    #[default]
    FirstUse,
    /// All when the job starts.
    Start,
}

/// How mailboxes are shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MailboxSharing {
    /// Each peer has its own.
    #[default]
    Peer,
    /// All peers of a rank share one pool: less memory, but peers wait for each other.
    Shared,
}

/// The values of the settings `network_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkSettings {
    /// Payload of a mailbox slot in bytes; `None`: by the size of the job.
    pub short: Option<u32>,
    /// Longest eager message in bytes, its header of 40 B included.
    pub eager: u32,
    /// Longest message on path R0 and chunk of path R1, in bytes.
    pub get: u64,
    /// Whether long messages move without copies; otherwise they go through the buffers.
    pub zero_copy: bool,
    /// Shortest transfer that uses the adapter's DMA engine, in bytes; the processor does shorter ones.
    pub engine_from: u32,
    /// Number of buffers of a rank.
    pub buffers: u32,
    /// When a peer gets its mailbox.
    pub connect: ConnectTime,
    /// Mailboxes that are allocated at once; `None`: by the size of the job.
    pub block: Option<u32>,
    /// How mailboxes are shared.
    pub sharing: MailboxSharing,
}

impl Default for NetworkSettings {
    fn default() -> Self {
        Self {
            short: None,
            eager: 8192,
            get: 4 << 20,
            zero_copy: true,
            engine_from: 1024,
            buffers: 64,
            connect: ConnectTime::FirstUse,
            block: None,
            sharing: MailboxSharing::Peer,
        }
    }
}

/// Sizes of mailboxes in jobs up to a number of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobSize {
    /// Largest job, in ranks.
    pub ranks: u64,
    /// Payload of a slot in bytes.
    pub payload: u32,
    /// Mailboxes of a block.
    pub block: u32,
}

/// Sizes of mailboxes by the size of the job, smallest first. The last one has no limit.
pub const JOB_SIZES: [JobSize; 5] = [
    JobSize::new(512, 8152, 64),
    JobSize::new(1024, 2008, 32),
    JobSize::new((16 << 10) - 1, 472, 16),
    JobSize::new(256 << 10, 216, 8),
    JobSize::new(u64::MAX, 100, 4),
];

impl JobSize {
    const fn new(ranks: u64, payload: u32, block: u32) -> Self {
        Self {
            ranks,
            payload,
            block,
        }
    }

    /// The sizes for a job of `ranks` ranks.
    #[must_use]
    pub fn of(ranks: u64) -> Self {
        let found = JOB_SIZES.into_iter().find(|size| ranks <= size.ranks);
        found.unwrap_or(JOB_SIZES[JOB_SIZES.len() - 1])
    }
}

/// The plan of the network transport of each rank in a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkPlan {
    /// Ranks of the job.
    pub ranks: u64,
    /// The settings.
    pub settings: NetworkSettings,
    /// Payload of a mailbox slot in bytes.
    pub payload: u32,
    /// Mailboxes of a block.
    pub block: u32,
}

impl NetworkPlan {
    /// Makes the plan for a job of `ranks` ranks.
    #[must_use]
    pub fn new(ranks: u64, settings: NetworkSettings) -> Self {
        let size = JobSize::of(ranks);
        Self {
            ranks,
            settings,
            payload: settings.short.unwrap_or(size.payload),
            block: settings.block.unwrap_or(size.block),
        }
    }

    /// Length of a mailbox slot in bytes: payload and header, in whole words.
    #[must_use]
    pub const fn slot(&self) -> u64 {
        (self.payload as u64 + HEADER as u64).next_multiple_of(8)
    }

    /// Number of buffers that a frame of `len` bytes takes at each end: 0 if it fits a slot.
    #[must_use]
    pub const fn buffers(&self, len: u32) -> u32 {
        if len <= self.payload {
            0
        } else {
            len.div_ceil(BUFFER_LEN)
        }
    }

    /// Whether the DMA engine, not the processor, moves `len` bytes on paths other than E0.
    #[must_use]
    pub const fn by_engine(&self, len: u64) -> bool {
        len >= self.settings.engine_from as u64
    }

    /// Reach, costs and switch points of the four paths.
    #[must_use]
    pub const fn limits(&self) -> Limits {
        let eager = self.settings.eager.saturating_sub(HEADER);
        // Protocol frames must fit, also with a lower limit for messages.
        let frame = if eager < 128 { 128 } else { eager };
        let NetworkSettings { get, zero_copy, .. } = self.settings;
        Limits {
            short: self.payload,
            frame,
            get,
            chunk: get,
            costs: self.costs(),
            overrides: PathOverrides {
                short: None,
                eager: Some(eager),
                get: Some(get),
                rendezvous: if zero_copy {
                    RendezvousScheme::Auto
                } else {
                    // Without registered memory there are no chunks to put.
                    RendezvousScheme::Get
                },
                chunk: None,
            },
        }
    }

    /// Costs of the paths on a network like Gemini: 1.3 us in a mailbox, and a DMA engine that starts later
    /// and moves more than twice as fast as the processor. Rounded figures, to compare paths.
    const fn costs(&self) -> PathCosts {
        let from = self.settings.engine_from as u64;
        // A copy on each side, at 10 GB/s each.
        let copies = 200;
        // Long messages that go through the buffers are copied as well.
        let long = if self.settings.zero_copy { 0 } else { copies };
        let get = Cost::line(3600, 400 + long);
        let put = Cost::line(5200, 400 + long);
        let frame = Cost::line(1700, 400 + copies);
        let (frame, get, put) = if from == 0 {
            (
                Cost::line(2700, 170 + copies),
                Cost::line(4600, 170 + long),
                Cost::line(6200, 160 + long),
            )
        } else {
            (
                frame.then(from, 2700, 170 + copies),
                get.then(from, 4600, 170 + long),
                put.then(from, 6200, 160 + long),
            )
        };
        PathCosts {
            short: Cost::line(1300, 400),
            frame,
            get,
            put,
        }
    }
}
