//! Destinations, sources, tags and statuses: how calls name a message, and what a receive learns about it.

/// The rank of no process (`MPI_PROC_NULL`; MPI 5.0, section 3.10): a send to it does nothing, and a receive from
/// it completes at once with [`Status::PROC_NULL`].
///
/// Its value is far from those that `rank - 1` gives at an edge, so such a mistake is an error and no silence.
pub const PROC_NULL: usize = 1 << (usize::BITS - 1);

/// The destination of a message: a rank, or [`PROC_NULL`], which `None` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination(pub usize);

impl From<usize> for Destination {
    #[inline(always)]
    fn from(rank: usize) -> Self {
        Self(rank)
    }
}

impl From<Option<usize>> for Destination {
    #[inline(always)]
    fn from(rank: Option<usize>) -> Self {
        Self(rank.unwrap_or(PROC_NULL))
    }
}

/// The source of a receive or probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// Any rank (`MPI_ANY_SOURCE`).
    Any,
    /// This rank, or [`PROC_NULL`].
    Rank(usize),
}

impl From<usize> for Source {
    fn from(rank: usize) -> Self {
        Self::Rank(rank)
    }
}

impl From<Option<usize>> for Source {
    fn from(rank: Option<usize>) -> Self {
        Self::Rank(rank.unwrap_or(PROC_NULL))
    }
}

/// The tag of a receive or probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tag {
    /// Any tag (`MPI_ANY_TAG`).
    Any,
    /// This tag, at most [`MAX_TAG`](crate::MAX_TAG).
    Is(u32),
}

impl From<u32> for Tag {
    fn from(tag: u32) -> Self {
        Self::Is(tag)
    }
}

/// The status of a message that was received or probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The sender's rank; [`PROC_NULL`] where no process is to send.
    pub source: usize,
    /// The message's tag; `u32::MAX` where no process is to send.
    pub tag: u32,
    /// Its length in bytes.
    pub bytes: u64,
}

impl Status {
    /// The status of a receive or probe of [`PROC_NULL`]: that source, any tag, and no bytes.
    pub const PROC_NULL: Self = Self {
        source: PROC_NULL,
        tag: u32::MAX,
        bytes: 0,
    };

    /// The same status with another source.
    #[must_use]
    pub const fn with_source(mut self, source: usize) -> Self {
        self.source = source;
        self
    }

    /// The message's length in elements of `T`; `None` when it is not a whole number of them.
    #[must_use]
    pub const fn count<T>(&self) -> Option<u64> {
        match size_of::<T>() as u64 {
            0 => None,
            size if self.bytes.is_multiple_of(size) => Some(self.bytes / size),
            _ => None,
        }
    }
}
