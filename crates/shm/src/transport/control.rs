//! Control frames of the transport: pulls, chunks of bulk data, atomics, and their ends.

use oxmpi_wire::regions::RegionId;
use oxmpi_wire::slab::Handle;
use oxmpi_wire::{Atomic, Width};

use crate::ring::BODY;

/// The handle of an operation at the rank that started it.
pub(super) type OperationId = Handle;

/// A control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// Asks the receiver of the frame to stream these bytes of its region.
    Pull {
        id: OperationId,
        from: RegionId,
        at: u64,
        len: u64,
    },
    /// A chunk of pulled bytes; `first` is its first buffer.
    Data {
        id: OperationId,
        first: u32,
        len: u32,
    },
    /// The pull or the atomic is refused.
    Refused { id: OperationId },
    /// A chunk of a put; `first` is its first buffer, `last` marks the last chunk.
    Push {
        id: OperationId,
        to: RegionId,
        at: u64,
        first: u32,
        len: u32,
        last: bool,
    },
    /// The put has arrived (`ok`) or is refused.
    Pushed { id: OperationId, ok: bool },
    /// Asks the receiver of the frame to perform an atomic on a word of its region.
    Atomic {
        id: OperationId,
        to: RegionId,
        at: u64,
        width: Width,
        atomic: Atomic,
    },
    /// The atomic was performed; the word was `old` before.
    Changed { id: OperationId, old: u64 },
}

impl Control {
    /// The frame as the body of a slot.
    pub(super) fn words(&self) -> [u64; BODY] {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        match *self {
            Self::Pull { id, from, at, len } => [1, id.word(), from.word(), at, len, 0, 0],
            Self::Data { id, first, len } => [2, id.word(), pair(first, len), 0, 0, 0, 0],
            Self::Refused { id } => [3, id.word(), 0, 0, 0, 0, 0],
            Self::Push {
                id,
                to,
                at,
                first,
                len,
                last,
            } => {
                let (id, place) = (id.word(), pair(first, len));
                [4, id, to.word(), at, place, last.into(), 0]
            }
            Self::Pushed { id, ok } => [5, id.word(), ok.into(), 0, 0, 0, 0],
            Self::Atomic {
                id,
                to,
                at,
                width,
                atomic,
            } => {
                let (code, [first, second]) = atomic.words();
                let code = width.bytes() << 16 | u64::from(code) << 8 | 6;
                [code, id.word(), to.word(), at, first, second, 0]
            }
            Self::Changed { id, old } => [7, id.word(), old, 0, 0, 0, 0],
        }
    }

    /// The frame in the body of a slot; `None` if it is none, whatever a broken peer wrote.
    pub(super) fn parse(words: &[u64; BODY]) -> Option<Self> {
        let [code, id, a, b, c, d, _] = *words;
        let id = Handle::from_word(id);
        let flag = |word| match word {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        };
        Some(match code {
            1 => Self::Pull {
                id,
                from: RegionId::from_word(a),
                at: b,
                len: c,
            },
            2 => Self::Data {
                id,
                first: (a >> 32) as u32,
                len: a as u32,
            },
            3 => Self::Refused { id },
            4 => Self::Push {
                id,
                to: RegionId::from_word(a),
                at: b,
                first: (c >> 32) as u32,
                len: c as u32,
                last: flag(d)?,
            },
            5 => Self::Pushed { id, ok: flag(a)? },
            7 => Self::Changed { id, old: a },
            code if code & 0xff == 6 => Self::Atomic {
                id,
                to: RegionId::from_word(a),
                at: b,
                width: Width::of_bytes(code >> 16)?,
                atomic: Atomic::from_words((code >> 8) as u8, [c, d])?,
            },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let (id, name) = (7 << 32 | 9, 3 << 32 | 4);
        let chunk = 15 << 32 | 65_536;
        for words in [
            [1, id, name, 1 << 40, 5, 0, 0],
            [2, id, chunk, 0, 0, 0, 0],
            [3, id, 0, 0, 0, 0, 0],
            [4, id, name, 12, chunk, 1, 0],
            [5, id, 0, 0, 0, 0, 0],
            [8 << 16 | 3 << 8 | 6, id, name, 16, 5, 0, 0],
            [4 << 16 | 11 << 8 | 6, id, name, 16, 5, 9, 0],
            [7, id, u64::MAX, 0, 0, 0, 0],
        ] {
            let control = Control::parse(&words).expect("a frame");
            assert_eq!(control.words(), words, "{control:?}");
        }
        let (id, first, len) = (Handle::from_word(id), 15, 65_536);
        let data = Control::Data { id, first, len };
        assert_eq!(Control::parse(&data.words()), Some(data));
        for bad in [
            [0; BODY],
            [8, 0, 0, 0, 0, 0, 0],
            [6, 0, 0, 0, 0, 0, 0],
            [8 << 16 | 6, 0, 0, 0, 0, 0, 0],
            [2 << 16 | 3 << 8 | 6, 0, 0, 0, 0, 0, 0],
            [1 << 32 | 8 << 16 | 3 << 8 | 6, 0, 0, 0, 0, 0, 0],
            [u64::MAX; BODY],
            [4, 0, 0, 0, 0, 2, 0],
            [5, 0, 2, 0, 0, 0, 0],
        ] {
            assert_eq!(Control::parse(&bad), None);
        }
    }
}
