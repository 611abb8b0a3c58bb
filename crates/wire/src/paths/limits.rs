//! What a transport says of the paths to one peer: how far each reaches and what it costs ([`Limits`]).

use super::{PathCosts, PathOverrides};

/// How far each path to one peer reaches, and what it costs; read at set-up only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest body of [`Tx::short`](crate::Tx::short), in bytes (path E0).
    pub short: u32,
    /// Largest body of [`Tx::frame`](crate::Tx::frame), in bytes (path E1); at least 128.
    pub frame: u32,
    /// Longest message that is got in one piece (path R0); beyond, it is put in chunks (path R1).
    pub get: u64,
    /// Bytes of one put of path R1.
    pub chunk: u64,
    /// What each path costs.
    pub costs: PathCosts,
    /// Switch points that the transport's own settings fix; those set for all transports come
    /// first.
    pub overrides: PathOverrides,
}

impl Limits {
    /// Chunk of path R1 where a transport knows no better.
    pub const CHUNK: u64 = 512 << 10;

    /// A transport that nobody has measured: each path as far as it reaches, and R0 for all that
    /// is longer.
    #[must_use]
    pub const fn new(short: u32, frame: u32) -> Self {
        Self {
            short,
            frame,
            get: u64::MAX,
            chunk: Self::CHUNK,
            costs: PathCosts::IN_ORDER,
            overrides: PathOverrides::NONE,
        }
    }
}
