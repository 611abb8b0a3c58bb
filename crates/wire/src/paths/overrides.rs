//! Switch points between paths that settings override ([`PathOverrides`]).

use super::Path;

/// Which rendezvous paths may be used.
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
    /// Whether `path` may be used.
    pub(super) fn allows(self, path: Path) -> bool {
        match self {
            Self::Auto => true,
            Self::Get => path != Path::R1,
            Self::Put => path != Path::R0,
        }
    }
}

/// Switch points that settings override; costs decide where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathOverrides {
    /// Longest message on E0, in bytes.
    pub short: Option<u32>,
    /// Longest message on E0 or E1, in bytes.
    pub eager: Option<u32>,
    /// Longest message on R0, in bytes, if both rendezvous paths may be used.
    pub get: Option<u64>,
    /// Which rendezvous paths may be used.
    pub rendezvous: RendezvousScheme,
    /// Bytes of one put on R1.
    pub chunk: Option<u64>,
}

impl PathOverrides {
    /// Overrides nothing.
    pub const NONE: Self = Self {
        short: None,
        eager: None,
        get: None,
        rendezvous: RendezvousScheme::Auto,
        chunk: None,
    };

    /// These overrides, and those of `others` where these have none.
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

    /// Overrides only the longest eager message, in bytes.
    #[must_use]
    pub const fn eager(bytes: u32) -> Self {
        Self {
            eager: Some(bytes),
            ..Self::NONE
        }
    }
}
