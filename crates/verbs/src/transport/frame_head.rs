//! What precedes the body in a buffer: the credits that a message carries back, and its header.

use super::credits::Grant;
use oxmpi_wire::{Envelope, Flags, Header, HeaderError, Kind};

/// Bytes before the body.
pub(super) const HEAD: usize = 4 + Header::LEN;

/// The longest message that is sent inline, with its head.
pub(super) const MAX_INLINE: usize = 256;

/// The head of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameHead {
    pub(super) grant: Grant,
    pub(super) header: Header,
}

/// The header of a message of this transport with a body of `len` bytes; without any it is a credit message.
pub(super) const fn own_header(len: usize) -> Header {
    let none = Envelope { context: 0, tag: 0 };
    Header::new(Kind::Transport, Flags::empty(), len as u32, none)
}

impl FrameHead {
    pub(super) fn bytes(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        let (grant, header) = bytes.split_at_mut(HEAD - Header::LEN);
        grant[..2].copy_from_slice(&self.grant.frames.to_le_bytes());
        grant[2..].copy_from_slice(&self.grant.credit_messages.to_le_bytes());
        header.copy_from_slice(&self.header.bytes());
        bytes
    }

    /// # Errors
    /// What is wrong with the header.
    pub(super) fn parse(bytes: &[u8; HEAD]) -> Result<Self, HeaderError> {
        let [a, b, c, d, header @ ..] = bytes;
        Ok(Self {
            grant: Grant {
                frames: u16::from_le_bytes([*a, *b]),
                credit_messages: u16::from_le_bytes([*c, *d]),
            },
            header: Header::parse(header)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_head_reads_back(frames: u16, credit_messages: u16, len: u32) {
            let grant = Grant { frames, credit_messages };
            let head = FrameHead { grant, header: own_header(len as usize) };
            prop_assert_eq!(FrameHead::parse(&head.bytes()), Ok(head));
        }

        #[test]
        fn any_bytes_are_a_head_or_an_error(bytes: [u8; HEAD]) {
            if let Ok(head) = FrameHead::parse(&bytes) {
                prop_assert_eq!(head.bytes(), bytes);
            }
        }
    }
}
