//! How often and how long protocols are tried against each other: [`TRIALS`], [`TrialRun`].

/// The trials of two protocols on calls of one kind and about one length. Calls form rounds, which begin with a
/// [run](TrialRun) of each protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialPolicy {
    /// Bytes of calls of a kind through buffers before the first round: the first touch of a buffer is slow.
    pub first_touch: u64,
    /// Calls of the first round. Each round has twice the calls of the one before.
    pub first_round: u32,
    /// Calls of the longest round. The slower protocol takes one call in 32 of it.
    pub longest_round: u32,
    /// Calls of the longest round where a protocol is far slower, which takes one call in 256 of it.
    pub longest_clear_round: u32,
    /// A protocol is far slower if it takes more than this many quarters of the other's time.
    pub clear_quarters: u64,
}

/// The trials of every collective.
pub const TRIALS: TrialPolicy = TrialPolicy {
    first_touch: 1 << 20,
    first_round: 32,
    longest_round: 128,
    longest_clear_round: 1024,
    clear_quarters: 5,
};

/// The trial calls of one protocol at the start of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialRun {
    /// First calls, not timed: they find in the caches what the other protocol has left there.
    pub warmup: u32,
    /// Timed calls.
    pub timed: u32,
}

/// Bytes from which a block is long.
const LONG: u64 = 512 << 10;

/// Blocks of two ranks below this length stay in the caches from call to call.
const CACHED: u64 = 2 << 20;

impl TrialRun {
    /// The trial calls of `ranks` ranks on blocks of `len` bytes.
    #[must_use]
    pub const fn of(ranks: usize, len: u64) -> Self {
        let (warmup, timed) = match (ranks, len) {
            (_, ..LONG) => (1, 3),
            // After bounce buffers the first four broadcasts of 1 MiB by CMA take 100 to 140 us in place of 81; the
            // first two the other way 150 to 220 in place of 91 (two far Zen 4 processors).
            (2, LONG..CACHED) => (4, 4),
            // One call takes longer than most disturbances, and more calls of the slower protocol cost more than they tell.
            _ => (1, 2),
        };
        Self { warmup, timed }
    }

    /// All trial calls.
    #[must_use]
    pub const fn calls(self) -> u32 {
        self.warmup + self.timed
    }
}
