//! How a receive names its message, and what it learns of it.

/// The rank that a receive or probe takes a message from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Whichever rank sends first (`MPI_ANY_SOURCE`).
    Any,
    /// This rank.
    Rank(usize),
}

impl From<usize> for Source {
    fn from(rank: usize) -> Self {
        Self::Rank(rank)
    }
}

/// The tag that a receive or probe asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// What is known of a message that was received or probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The sender's rank.
    pub source: usize,
    /// The message's tag.
    pub tag: u32,
    /// Its length in bytes.
    pub bytes: u64,
}

impl Status {
    /// The message's length in elements of `T`; `None` when it is no whole number of them.
    #[must_use]
    pub const fn count<T>(&self) -> Option<u64> {
        match size_of::<T>() as u64 {
            0 => None,
            size if self.bytes.is_multiple_of(size) => Some(self.bytes / size),
            _ => None,
        }
    }
}
