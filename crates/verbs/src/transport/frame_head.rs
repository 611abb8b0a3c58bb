//! What precedes the body in a buffer: the credits that a message carries back, its place in the order, its header.

use super::credits::Grant;
use oxmpi_wire::{Envelope, Flags, Header, HeaderError, Kind};

/// Bytes before the body.
pub(super) const HEAD: usize = 8 + Header::LEN;

/// The longest message that is sent inline, with its head.
pub(super) const MAX_INLINE: usize = 256;

/// The head of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameHead {
    /// Of the queue by which it comes.
    pub(super) grant: Grant,
    /// The number of the frame among all of its sender to its receiver; 0 of a credit message.
    pub(super) sequence: u32,
    pub(super) header: Header,
}

/// The header of a message of this transport with a body of `len` bytes; without any it is a credit message.
pub(super) const fn own_header(len: usize) -> Header {
    let none = Envelope { context: 0, tag: 0 };
    Header::new(Kind::Transport, Flags::empty(), len as u32, none)
}

impl FrameHead {
    #[inline]
    pub(super) fn bytes(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        let (grant, header) = bytes.split_at_mut(HEAD - Header::LEN);
        grant[..2].copy_from_slice(&self.grant.frames.to_le_bytes());
        grant[2..4].copy_from_slice(&self.grant.credit_messages.to_le_bytes());
        grant[4..].copy_from_slice(&self.sequence.to_le_bytes());
        header.copy_from_slice(&self.header.bytes());
        bytes
    }

    /// # Errors
    /// What is wrong with the header.
    pub(super) fn parse(bytes: &[u8; HEAD]) -> Result<Self, HeaderError> {
        let (_, header) = bytes.split_at(HEAD - Header::LEN);
        Ok(Self::with_header(bytes, Header::parse(header)?))
    }

    /// As [`FrameHead::parse`], of a whole message without flags, which most are; `None` for all else.
    #[inline(always)]
    pub(super) fn parse_plain(bytes: &[u8; HEAD]) -> Option<Self> {
        let envelope = Envelope { context: 0, tag: 0 };
        let plain = Header::new(Kind::Eager, Flags::empty(), 0, envelope).bytes();
        let [.., kind, len, context, tag] = bytes.as_chunks::<4>().0 else {
            return None;
        };
        if *kind != plain[..4] {
            return None;
        }
        let [len, context, tag] = [len, context, tag].map(|number| u32::from_le_bytes(*number));
        let header = Header::new(Kind::Eager, Flags::empty(), len, Envelope { context, tag });
        Some(Self::with_header(bytes, header))
    }

    #[inline(always)]
    fn with_header(bytes: &[u8; HEAD], header: Header) -> Self {
        let [a, b, c, d, e, f, g, h, ..] = *bytes;
        Self {
            grant: Grant {
                frames: u16::from_le_bytes([a, b]),
                credit_messages: u16::from_le_bytes([c, d]),
            },
            sequence: u32::from_le_bytes([e, f, g, h]),
            header,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_head_reads_back(frames: u16, credit_messages: u16, sequence: u32, len: u32) {
            let grant = Grant { frames, credit_messages };
            let head = FrameHead { grant, sequence, header: own_header(len as usize) };
            prop_assert_eq!(FrameHead::parse(&head.bytes()), Ok(head));
        }

        #[test]
        fn any_bytes_are_a_head_or_an_error(bytes: [u8; HEAD]) {
            if let Ok(head) = FrameHead::parse(&bytes) {
                prop_assert_eq!(head.bytes(), bytes);
            }
        }

        #[test]
        fn a_plain_head_is_parsed_alike(sequence: u32, len: u32, context: u32, tag: u32, at in 0..HEAD, bits: u8) {
            let header = Header::new(Kind::Eager, Flags::empty(), len, Envelope { context, tag });
            let head = FrameHead { grant: Grant::default(), sequence, header };
            prop_assert_eq!(FrameHead::parse_plain(&head.bytes()), Some(head));
            let mut other = head.bytes();
            other[at] ^= bits;
            let parsed = FrameHead::parse(&other).ok().filter(|head| head.header.is_plain());
            prop_assert_eq!(FrameHead::parse_plain(&other), parsed);
        }
    }
}
