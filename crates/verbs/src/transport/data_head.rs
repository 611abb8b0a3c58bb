//! [`DataHead`]: what precedes the bytes of memory in a frame.

use oxmpi_wire::regions::RegionId;
use oxmpi_wire::{Envelope, Flags, Header, Kind};

/// What the bytes of a frame are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum DataKind {
    /// They answer a read.
    Answer = 1,
    /// They are written, and more follow.
    Write = 2,
    /// They are written, and are the last ones.
    LastWrite = 3,
}

/// What precedes the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DataHead {
    pub(super) kind: DataKind,
    /// The operation of whoever reads or writes.
    pub(super) id: u64,
    /// The region that is read or written.
    pub(super) region: RegionId,
    /// Where the bytes go: counted from the first one that was asked for, or in the region.
    pub(super) at: u64,
}

/// The tag of frames with a [`DataHead`].
const DATA: u32 = 1;

/// The header of a frame of memory with a body of `len` bytes.
pub(super) const fn data_header(len: usize) -> Header {
    let data = Envelope {
        context: 0,
        tag: DATA,
    };
    Header::new(Kind::Transport, Flags::empty(), len as u32, data)
}

/// Whether a frame of the transport has bytes of memory.
pub(super) const fn is_data(header: &Header) -> bool {
    header.envelope.tag == DATA
}

impl DataHead {
    const WORDS: usize = 4;

    pub(super) const LEN: usize = 8 * Self::WORDS;

    /// The head of the frame after `sent` bytes.
    pub(super) fn next(self, sent: u64, is_last: bool) -> Self {
        let kind = match self.kind {
            DataKind::Write if is_last => DataKind::LastWrite,
            kind => kind,
        };
        Self {
            kind,
            at: self.at + sent,
            ..self
        }
    }

    pub(super) fn bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        let words = [self.kind as u64, self.id, self.region.word(), self.at];
        for (to, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *to = word.to_le_bytes();
        }
        bytes
    }

    /// The reverse of [`DataHead::bytes`]; `None` if a peer sent something else.
    pub(super) fn parse(bytes: &[u8; Self::LEN]) -> Option<Self> {
        let mut words = [0; Self::WORDS];
        for (word, from) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*from);
        }
        let [kind, id, region, at] = words;
        let kinds = [DataKind::Answer, DataKind::Write, DataKind::LastWrite];
        Some(Self {
            kind: kinds.into_iter().find(|known| *known as u64 == kind)?,
            id,
            region: RegionId::from_word(region),
            at,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_a_head_or_none(kind in 0..6u64, rest: [u8; 24]) {
            let mut bytes = [0; DataHead::LEN];
            bytes[0] = kind as u8;
            bytes[8..].copy_from_slice(&rest);
            match DataHead::parse(&bytes) {
                Some(head) => prop_assert_eq!(head.bytes(), bytes),
                None => prop_assert!(kind == 0 || kind > 3),
            }
        }
    }
}
