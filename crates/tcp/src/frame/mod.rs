//! Frames over a byte stream: a header of fixed size, which says how long the body is, and the body.
//!
//! Both directions are bounded buffers that borrow and never allocate after they are made:
//! [`Outbox`] takes frames and gives runs of bytes to write, [`Inbox`] takes what was read and gives
//! frames. Bulk goes beside them: a frame of the transport's own ([`Control`]) announces so many bytes,
//! and these are written from the user's memory and read into it, past both buffers.
//!
//! Neither touches a socket or a clock, so that every way in which a stream can be cut is a test.

mod control;
mod inbox;
mod outbox;
#[cfg(test)]
mod tests;

pub use control::{Control, Id, Run};
pub use inbox::{Arrival, Inbox};
pub use outbox::{Draft, Outbox};

use oxmpi_wire::{Header, HeaderError};

/// What a peer did that no sound peer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    /// Its header is none.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// A body longer than frames may be.
    #[error("a frame with a body of {len} B; the longest has {most} B")]
    Length {
        /// As the header says.
        len: u32,
        /// What was agreed on.
        most: u32,
    },
    /// A frame of the transport's own that means nothing; the text says what is wrong with it.
    #[error("a frame of the transport's own with {0}")]
    Control(&'static str),
}

impl Breach {
    /// The rule that was broken, for a [`Fault::Protocol`](oxmpi_wire::Fault::Protocol).
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::Header(HeaderError::Version(_)) => "a frame of another version",
            Self::Header(HeaderError::Kind(_)) => "a frame of unknown kind",
            Self::Header(_) => "a frame whose header is none",
            Self::Length { .. } => "a frame longer than frames may be",
            Self::Control(rule) => rule,
        }
    }
}

/// Bytes that a frame with a body of `len` bytes takes in a stream.
#[must_use]
pub const fn framed(len: usize) -> usize {
    Header::LEN + len
}
