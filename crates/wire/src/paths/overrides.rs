//! Switch points that somebody has set.

use super::Path;

/// Which rendezvous may be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RendezvousScheme {
    /// R0 or R1, by cost.
    #[default]
    Auto,
    /// R0 only: the receiver gets.
    Get,
    /// R1 only: the sender puts.
    Put,
}

impl RendezvousScheme {
    /// Whether `path` may be taken at all.
    pub(super) fn allows(self, path: Path) -> bool {
        match self {
            Self::Auto => true,
            Self::Get => path != Path::R1,
            Self::Put => path != Path::R0,
        }
    }
}

/// Switch points that somebody has set; costs decide where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathOverrides {
    /// Longest message on E0, in bytes.
    pub short: Option<u32>,
    /// Longest message on E0 or E1, in bytes.
    pub eager: Option<u32>,
    /// Longest message on R0, in bytes, where both rendezvous may be taken.
    pub get: Option<u64>,
    /// Which rendezvous may be taken.
    pub rendezvous: RendezvousScheme,
    /// Bytes of one put on R1.
    pub chunk: Option<u64>,
}

impl PathOverrides {
    /// Nothing is set.
    pub const NONE: Self = Self {
        short: None,
        eager: None,
        get: None,
        rendezvous: RendezvousScheme::Auto,
        chunk: None,
    };

    /// These, and where nothing is set `others`.
    #[must_use]
    pub fn or(&self, others: &Self) -> Self {
        Self {
            short: self.short.or(others.short),
            eager: self.eager.or(others.eager),
            get: self.get.or(others.get),
            rendezvous: match self.rendezvous {
                RendezvousScheme::Auto => others.rendezvous,
                forced => forced,
            },
            chunk: self.chunk.or(others.chunk),
        }
    }

    /// Only the longest eager message is set, in bytes.
    #[must_use]
    pub const fn eager(bytes: u32) -> Self {
        Self {
            eager: Some(bytes),
            ..Self::NONE
        }
    }
}
