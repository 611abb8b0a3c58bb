//! Sources, tags and statuses: how a receive names its message, and what it learns about it.

/// The source of a receive or probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// Any rank (`MPI_ANY_SOURCE`).
    Any,
    /// This rank.
    Rank(usize),
}

impl From<usize> for Source {
    fn from(rank: usize) -> Self {
        Self::Rank(rank)
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
    /// The sender's rank.
    pub source: usize,
    /// The message's tag.
    pub tag: u32,
    /// Its length in bytes.
    pub bytes: u64,
}

impl Status {
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
