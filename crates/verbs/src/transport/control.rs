//! [`Control`]: the frames of the transport itself, for atomics, reads by frames, pieces of memory, the end of regions,
//! eager rings.

use super::remote_memory::RemoteMemory;
use super::ring::RingShape;
use crate::objects::RemoteAddress;
use oxmpi_wire::regions::RegionId;
use oxmpi_wire::{Atomic, Width};

/// A frame of the transport itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    /// Requests an atomic on a word of the receiver's memory.
    Atomic {
        /// The requester's operation.
        id: u64,
        /// The region.
        to: RegionId,
        /// The first byte of the word in it.
        at: u64,
        width: Width,
        atomic: Atomic,
    },
    /// Answers an atomic that was performed, with the word before.
    Changed { id: u64, old: u64 },
    /// Answers a request for memory that is not registered.
    Refused { id: u64 },
    /// The sender has released a region whose key the receiver has.
    Released { region: RegionId },
    /// The sender has a ring for the frames of the receiver.
    Ring {
        /// Its first byte.
        start: RemoteAddress,
        shape: RingShape,
        /// The port pair by which it is written.
        port_pair: u8,
    },
    /// Answers a ring: the sender writes to it from now on, and has the word there.
    RingTaken { word: RemoteAddress },
    /// Asks for bytes of the receiver's memory by frames.
    Read {
        /// The requester's operation.
        id: u64,
        /// The region.
        to: RegionId,
        /// The first byte in it.
        at: u64,
        len: u64,
        /// Bytes of the operation before these.
        before: u64,
    },
    /// Asks for the receiver's memory in pieces.
    Pieces {
        /// The requester's operation.
        id: u64,
        /// The region.
        to: RegionId,
        /// The first byte in it of the first piece.
        at: u64,
        /// Bytes of all pieces.
        len: u64,
        /// Bytes before them and after them that are to come by frames.
        around: [u32; 2],
    },
    /// Answers that with the next piece: where it is, if it is registered.
    Piece {
        id: u64,
        at: u64,
        len: u64,
        start: Option<RemoteMemory>,
    },
    /// The sender needs a piece no more.
    PieceMoved { id: u64, at: u64 },
    /// Answers the last frame of bytes that were written.
    Written { id: u64 },
    /// Wakes the receiver: a frame is in its ring.
    Wake,
}

impl Control {
    /// Whether it answers a request of its receiver.
    pub(super) const fn is_answer(&self) -> bool {
        matches!(
            self,
            Self::Changed { .. } | Self::Refused { .. } | Self::Written { .. }
        )
    }

    /// The region of its sender whose release it announces.
    pub(super) const fn released(&self) -> Option<RegionId> {
        match self {
            Self::Released { region } => Some(*region),
            _ => None,
        }
    }

    /// Bytes of the body.
    pub(super) const LEN: usize = 8 * Self::WORDS;

    const WORDS: usize = 6;

    pub(super) fn bytes(&self) -> [u8; Self::LEN] {
        let words: [u64; Self::WORDS] = match *self {
            Self::Atomic {
                id,
                to,
                at,
                width,
                atomic,
            } => {
                let (code, [operand, second]) = atomic.words();
                let kind = 1 | u64::from(code) << 8 | width.bytes() << 16;
                [kind, id, to.word(), at, operand, second]
            }
            Self::Changed { id, old } => [2, id, old, 0, 0, 0],
            Self::Refused { id } => [3, id, 0, 0, 0, 0],
            Self::Released { region } => [4, region.word(), 0, 0, 0, 0],
            Self::Ring {
                start,
                shape,
                port_pair,
            } => {
                let RemoteAddress { address, rkey } = start;
                let [slots, size] = [shape.slots(), shape.size()].map(u64::from);
                [5, address, rkey.into(), slots, size, port_pair.into()]
            }
            Self::RingTaken { word } => [6, word.address, word.rkey.into(), 0, 0, 0],
            Self::Read {
                id,
                to,
                at,
                len,
                before,
            } => [8, id, to.word(), at, len, before],
            Self::Pieces {
                id,
                to,
                at,
                len,
                around: [before, after],
            } => {
                let around = u64::from(before) | u64::from(after) << 32;
                [10, id, to.word(), at, len, around]
            }
            Self::Piece { id, at, len, start } => {
                let start = start.unwrap_or(RemoteMemory::NOWHERE);
                let [devices, rkeys] = start.words();
                [11 | devices << 8, id, at, len, start.address, rkeys]
            }
            Self::PieceMoved { id, at } => [12, id, at, 0, 0, 0],
            Self::Written { id } => [9, id, 0, 0, 0, 0],
            Self::Wake => [7, 0, 0, 0, 0, 0],
        };
        let mut bytes = [0; Self::LEN];
        for (to, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *to = word.to_le_bytes();
        }
        bytes
    }

    /// The reverse of [`Control::bytes`]; `None` if a peer sent something else.
    pub(super) fn parse(bytes: &[u8; Self::LEN]) -> Option<Self> {
        let mut words = [0; Self::WORDS];
        for (word, from) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*from);
        }
        let [kind, id, a, b, c, d] = words;
        Some(match (kind, [a, b, c, d]) {
            (2, [old, 0, 0, 0]) => Self::Changed { id, old },
            (3, [0, 0, 0, 0]) => Self::Refused { id },
            (4, [0, 0, 0, 0]) => Self::Released {
                region: RegionId::from_word(id),
            },
            (5, [rkey, slots, size, port_pair]) if slots.is_power_of_two() => Self::Ring {
                start: remote(id, rkey)?,
                shape: RingShape::new(slots.try_into().ok()?, size.try_into().ok()?)?,
                port_pair: port_pair.try_into().ok()?,
            },
            (6, [rkey, 0, 0, 0]) => Self::RingTaken {
                word: remote(id, rkey)?,
            },
            (8, [to, at, len, before]) => Self::Read {
                id,
                to: RegionId::from_word(to),
                at,
                len,
                before,
            },
            (10, [to, at, len, around]) => Self::Pieces {
                id,
                to: RegionId::from_word(to),
                at,
                len,
                around: [around as u32, (around >> 32) as u32],
            },
            (11, [at, len, 0, 0]) => Self::Piece {
                id,
                at,
                len,
                start: None,
            },
            (kind, [at, len, address, rkeys]) if kind & 0xff == 11 => {
                let devices = kind >> 8;
                let start = RemoteMemory::from_words(address, [devices, rkeys]);
                (devices != 0 && start.words() == [devices, rkeys]).then_some(Self::Piece {
                    id,
                    at,
                    len,
                    start: Some(start),
                })?
            }
            (12, [at, 0, 0, 0]) => Self::PieceMoved { id, at },
            (9, [0, 0, 0, 0]) => Self::Written { id },
            (7, [0, 0, 0, 0]) if id == 0 => Self::Wake,
            (kind, [to, at, operand, second]) if kind & 0xff == 1 => Self::Atomic {
                id,
                to: RegionId::from_word(to),
                at,
                width: Width::of_bytes(kind >> 16)?,
                atomic: Atomic::from_words((kind >> 8) as u8, [operand, second])?,
            },
            _ => return None,
        })
    }
}

fn remote(address: u64, rkey: u64) -> Option<RemoteAddress> {
    let rkey = rkey.try_into().ok()?;
    Some(RemoteAddress { address, rkey })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_frame_reads_back(id: u64, word: u64, rkey: u32, slots in 1..99u32, at: u64, code in 1..12u8, wide: bool, operands: [u64; 2]) {
            let region = RegionId::from_word(word);
            let width = if wide { Width::Bits64 } else { Width::Bits32 };
            let known = Atomic::from_words(code, operands).unwrap_or(Atomic::Swap(operands[0]));
            for control in [
                Control::Atomic { id, to: region, at, width, atomic: known },
                Control::Changed { id, old: word },
                Control::Refused { id },
                Control::Released { region },
                Control::Ring {
                    start: RemoteAddress { address: word, rkey },
                    shape: RingShape::new(slots, slots * 7).unwrap(),
                    port_pair: code,
                },
                Control::RingTaken { word: RemoteAddress { address: at, rkey } },
                Control::Wake,
                Control::Read { id, to: region, at, len: word, before: operands[0] },
                Control::Pieces { id, to: region, at, len: word, around: [rkey, slots] },
                Control::Piece { id, at, len: word, start: None },
                Control::Piece { id, at, len: word, start: Some(RemoteMemory { address: word, rkeys: [Some(rkey), None] }) },
                Control::Piece { id, at, len: word, start: Some(RemoteMemory { address: word, rkeys: [None, Some(rkey)] }) },
                Control::Piece { id, at, len: word, start: Some(RemoteMemory { address: word, rkeys: [Some(rkey), Some(slots)] }) },
                Control::PieceMoved { id, at },
                Control::Written { id },
            ] {
                prop_assert_eq!(Control::parse(&control.bytes()), Some(control));
            }
        }

        #[test]
        fn any_bytes_are_a_frame_or_none(kind in 0..14u64, devices in 0..5u8, rest: [u8; 40]) {
            let mut bytes = [0; Control::LEN];
            bytes[..2].copy_from_slice(&[kind as u8, devices]);
            bytes[8..].copy_from_slice(&rest);
            if let Some(control) = Control::parse(&bytes) {
                prop_assert_eq!(control.bytes(), bytes);
            }
        }
    }
}
