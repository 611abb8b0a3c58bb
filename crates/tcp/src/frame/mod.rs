//! Frames over a byte stream: a header of fixed size, which has the length of the body, and the body.
//!
//! Both directions are bounded buffers that allocate only when they are made: [`SendBuffer`] takes frames
//! and gives bytes to write, [`ReceiveBuffer`] takes bytes that were read and gives frames. Bulk passes
//! them: a [`Control`] frame announces its length, and the bytes are written from the user's memory and
//! read into it.
//!
//! Nothing here touches a socket or a clock, so tests can cut a stream anywhere.

mod control;
mod receive_buffer;
mod send_buffer;
#[cfg(test)]
mod tests;

pub use control::{Control, OperationId, Push};
pub use receive_buffer::{Inbound, ReceiveBuffer};
pub use send_buffer::{FrameSlot, SendBuffer};

use oxmpi_wire::{Header, HeaderError};

/// A rule of the protocol that a peer violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolViolation {
    /// Its header is invalid.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// A body longer than the longest.
    #[error("a frame with a body of {len} B; the longest has {max} B")]
    Length {
        /// As the header says.
        len: u32,
        /// The longest.
        max: u32,
    },
    /// An invalid control frame; the text says what is wrong with it.
    #[error("a control frame with {0}")]
    Control(&'static str),
}

impl ProtocolViolation {
    /// The violated rule, for a [`Fault::Protocol`](oxmpi_wire::Fault::Protocol).
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

/// Length of a frame with a body of `len` bytes, in bytes.
#[must_use]
pub const fn frame_len(len: usize) -> usize {
    Header::LEN + len
}
