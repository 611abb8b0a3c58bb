//! What a network transport is made of: a plan from settings and the size of the job.
//!
//! A rank gives its peers *mailboxes*: slots that a peer writes without asking, for messages that
//! fit one (path E0). Longer eager ones (E1) go through *buffers* of 32 KiB on both sides. Beyond,
//! the receiver gets the bytes in one piece (R0) or the sender puts them in chunks (R1). Mailboxes
//! are what grows with the job, so their size falls with the number of ranks, and where that is not
//! enough all peers of a rank share one pool of slots.
//!
//! Sizes, defaults and limits are those of Cray's MPI on Gemini (Poxon, "MPI for Cray XE/XK7
//! Systems", 2013), whose names the settings answer to. It is silent on the number of mailboxes:
//! eight slots for each peer, and blocks of mailboxes that shrink with the job as payloads do, are
//! our choice. It gives 4 MB and 512 KB for the end of R0: 4 MB is taken here, and as in its text
//! the same size is that of an R1 chunk.

mod memory;
pub mod settings;

pub use self::memory::NetworkMemory;
pub use self::settings::SETTINGS;

use super::{Cost, Limits, PathCosts, PathOverrides, RendezvousScheme};

/// Bytes of a slot, and of an eager message, that are not payload.
pub const HEADER: u32 = 40;
/// Bytes of one buffer of path E1.
pub const BUFFER_LEN: u32 = 32 << 10;
/// Slots of one peer's mailbox.
pub const MAILBOX_SLOTS: u32 = 8;
/// Slots of a rank's pool where peers share it.
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

/// Whose a mailbox is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MailboxSharing {
    /// Each peer has its own.
    #[default]
    Peer,
    /// All peers of a rank share one pool: little memory, at the price of waiting for each other.
    Shared,
}

/// What the settings say about network roads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkSettings {
    /// Payload of a mailbox slot in bytes; none: by the size of the job.
    pub short: Option<u32>,
    /// Longest eager message in bytes, its header of 40 B included.
    pub eager: u32,
    /// Longest message on path R0, and the chunk of path R1, in bytes.
    pub get: u64,
    /// Whether long messages move without copies; if not, through the buffers.
    pub zero_copy: bool,
    /// Transfers of at least so many bytes are done by the network's engine, shorter ones by the
    /// processor.
    pub engine_from: u32,
    /// Buffers of a rank.
    pub buffers: u32,
    /// When a peer gets its mailbox.
    pub connect: ConnectTime,
    /// Mailboxes that are made at once; none: by the size of the job.
    pub block: Option<u32>,
    /// Whose a mailbox is.
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

/// Mailboxes of jobs up to a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobSize {
    /// Largest job, in ranks.
    pub ranks: u64,
    /// Payload of a slot in bytes.
    pub payload: u32,
    /// Mailboxes of a block.
    pub block: u32,
}

/// Mailboxes by the size of the job, smallest first. The last one has no upper end.
pub const JOB_SIZES: [JobSize; 5] = [
    JobSize {
        ranks: 512,
        payload: 8152,
        block: 64,
    },
    JobSize {
        ranks: 1024,
        payload: 2008,
        block: 32,
    },
    JobSize {
        ranks: (16 << 10) - 1,
        payload: 472,
        block: 16,
    },
    JobSize {
        ranks: 256 << 10,
        payload: 216,
        block: 8,
    },
    JobSize {
        ranks: u64::MAX,
        payload: 100,
        block: 4,
    },
];

impl JobSize {
    /// That of a job of `ranks` ranks.
    #[must_use]
    pub fn of(ranks: u64) -> Self {
        let found = JOB_SIZES.into_iter().find(|size| ranks <= size.ranks);
        found.unwrap_or(JOB_SIZES[JOB_SIZES.len() - 1])
    }
}

/// How the network road of each rank in a job is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkPlan {
    /// Ranks of the job.
    pub ranks: u64,
    /// What was asked for.
    pub settings: NetworkSettings,
    /// Payload of a mailbox slot in bytes.
    pub payload: u32,
    /// Mailboxes of a block.
    pub block: u32,
}

impl NetworkPlan {
    /// The plan for a job of `ranks` ranks.
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

    /// Bytes of one mailbox slot: payload and header, whole words.
    #[must_use]
    pub const fn slot(&self) -> u64 {
        (self.payload as u64 + HEADER as u64).next_multiple_of(8)
    }

    /// Buffers that a frame of `len` bytes takes at each end: none if it fits a slot.
    #[must_use]
    pub const fn buffers(&self, len: u32) -> u32 {
        if len <= self.payload {
            0
        } else {
            len.div_ceil(BUFFER_LEN)
        }
    }

    /// Whether the network's engine moves `len` bytes on a path other than E0, or the processor.
    #[must_use]
    pub const fn by_engine(&self, len: u64) -> bool {
        len >= self.settings.engine_from as u64
    }

    /// Reach, costs and switch points of the four paths.
    #[must_use]
    pub const fn limits(&self) -> Limits {
        let eager = self.settings.eager.saturating_sub(HEADER);
        // Protocol frames must fit, however short the messages are.
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
                    // Nothing is registered, so there is nothing to cut into chunks.
                    RendezvousScheme::Get
                },
                chunk: None,
            },
        }
    }

    /// What the paths cost on a Gemini-like network: 1.3 us in the mailbox, and an engine that takes
    /// longer to start and moves more than twice as fast as the processor. Rounded figures, for
    /// comparing paths.
    const fn costs(&self) -> PathCosts {
        let from = self.settings.engine_from as u64;
        // A copy on each side, at 10 GB/s each.
        let copies = 200;
        // Long messages are copied too where they go through the buffers.
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
