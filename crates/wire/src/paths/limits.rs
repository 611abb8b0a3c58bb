//! What a transport says of the paths to one peer: how far each reaches and what it costs ([`Limits`]).

use super::{PathCosts, PathOverrides};

/// Reach and costs of the paths to one peer. The engine reads them at set-up only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest body of [`Tx::short`](crate::Tx::short), in bytes (path E0).
    pub short: u32,
    /// Largest body of [`Tx::frame`](crate::Tx::frame), in bytes (path E1); at least 128.
    pub frame: u32,
    /// Longest message on path R0, in bytes; longer ones take path R1.
    pub get: u64,
    /// Bytes of one put of path R1.
    pub chunk: u64,
    /// The cost of each path.
    pub costs: PathCosts,
    /// Switch points that the transport's own settings override; those of settings for all transports take
    /// precedence.
    pub overrides: PathOverrides,
}

impl Limits {
    /// Default chunk of path R1, in bytes.
    pub const CHUNK: u64 = 512 << 10;

    /// Limits of a transport without measurements: E0 up to `short` bytes, E1 up to `frame` bytes, and R0
    /// beyond.
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
