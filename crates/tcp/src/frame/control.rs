//! [`Control`]: the frames of the transport itself, for bulk, atomics, liveness and the end of a connection.

use oxmpi_wire::regions::RegionId;
use oxmpi_wire::{Atomic, Envelope, Flags, Header, Key, Kind, Width};

use super::ProtocolViolation;

/// Names an operation of the rank that started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OperationId(pub u64);

/// A speculative push: first bytes of a region that follow its key before the receiver asks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Push {
    /// Counts the pushes of this connection and direction, from 0.
    pub number: u64,
    /// Number of bytes; 0: no push.
    pub len: u64,
}

impl Push {
    /// No push.
    pub const NONE: Self = Self { number: 0, len: 0 };

    /// The key to `region`, which this push follows.
    #[must_use]
    pub fn key(self, region: RegionId) -> Key {
        region.key([self.number, self.len, 0])
    }

    /// The push that a key announces.
    #[must_use]
    pub fn from_key(key: &Key) -> Self {
        let (_, [number, len, _]) = RegionId::from_key(key);
        Self { number, len }
    }
}

/// A control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Requests bytes of the receiver's memory.
    Get {
        /// The requester's operation.
        id: OperationId,
        /// The region.
        from: RegionId,
        /// The first byte of it.
        at: u64,
        /// Number of bytes.
        len: u64,
    },
    /// Answers a get; `len` bytes follow.
    Data {
        /// The requester's operation.
        id: OperationId,
        /// Offset from the first byte of the get.
        at: u64,
        /// Bytes that follow.
        len: u32,
    },
    /// Sends bytes of a [`Push`](struct@Push); `len` bytes follow.
    Push {
        /// Which push.
        number: u64,
        /// Offset from its first byte.
        at: u64,
        /// Bytes that follow.
        len: u32,
    },
    /// Writes to the receiver's memory; `len` bytes follow.
    Put {
        /// The sender's operation.
        id: OperationId,
        /// The region.
        to: RegionId,
        /// The first byte in it.
        at: u64,
        /// Bytes that follow.
        len: u32,
        /// The last bytes of this operation: a completion answers them.
        last: bool,
    },
    /// Requests an atomic on a word of the receiver's memory.
    Atomic {
        /// The requester's operation.
        id: OperationId,
        /// The region.
        to: RegionId,
        /// The first byte of the word in it.
        at: u64,
        /// The width of the word.
        width: Width,
        /// What to do.
        atomic: Atomic,
    },
    /// Answers an atomic that was performed.
    Changed {
        /// The requester's operation.
        id: OperationId,
        /// The word before.
        old: u64,
    },
    /// Ends an operation: all bytes of a put are in place, or (`ok` is false) the request is refused.
    Completion {
        /// The operation of this frame's receiver.
        id: OperationId,
        /// Whether it succeeded.
        ok: bool,
    },
    /// The sender leaves the job in order; nothing follows.
    Leave,
    /// Asks for a [`Control::Pong`].
    Ping,
    /// Answers a [`Control::Ping`].
    Pong,
    /// Padding: see [`Control::LEN`].
    Pad,
}

impl Control {
    /// Bytes of a control frame's body before its bulk; 64 with the header. `rep movsb` takes up to twice as
    /// long when the target is less than 64 bytes behind the source within a page (Zen 5), so bulk never
    /// starts nearer to the start of a write.
    pub const LEN: usize = 48;

    /// Words of the body.
    const WORDS: usize = 6;

    /// The code of [`Control::Atomic`] in the lowest byte of the first word; above are the operation and the bytes of the
    /// word.
    const ATOMIC: u64 = 12;

    /// The rule about lengths, for [`ProtocolViolation::Control`].
    pub(super) const LENGTH: &'static str = "a body of another length than its kind has";

    /// Bytes of bulk that follow.
    #[must_use]
    pub const fn bulk(&self) -> u32 {
        match self {
            Self::Data { len, .. } | Self::Push { len, .. } | Self::Put { len, .. } => *len,
            _ => 0,
        }
    }

    /// The header of this frame.
    ///
    /// # Panics
    /// In debug builds, if header and bulk are longer than a frame can say.
    #[must_use]
    pub const fn header(&self) -> Header {
        debug_assert!(self.bulk() <= u32::MAX - Self::LEN as u32);
        let (len, none) = (Self::LEN as u32 + self.bulk(), Flags::empty());
        Header::new(Kind::Transport, none, len, Envelope { context: 0, tag: 0 })
    }

    /// The first [`Control::LEN`] bytes of the body.
    #[must_use]
    pub fn bytes(&self) -> [u8; Self::LEN] {
        let words = match *self {
            Self::Get { id, from, at, len } => [1, id.0, from.word(), at, len, 0],
            Self::Data { id, at, len } => [2, id.0, 0, at, len.into(), 0],
            Self::Put {
                id,
                to,
                at,
                len,
                last,
            } => [3 + u64::from(last), id.0, to.word(), at, len.into(), 0],
            Self::Completion { id, ok } => [5 + u64::from(ok), id.0, 0, 0, 0, 0],
            Self::Leave => [7, 0, 0, 0, 0, 0],
            Self::Ping => [8, 0, 0, 0, 0, 0],
            Self::Pong => [9, 0, 0, 0, 0, 0],
            Self::Push { number, at, len } => [10, number, 0, at, len.into(), 0],
            Self::Pad => [11, 0, 0, 0, 0, 0],
            Self::Atomic {
                id,
                to,
                at,
                width,
                atomic,
            } => {
                let (code, [first, second]) = atomic.words();
                let code = width.bytes() << 16 | u64::from(code) << 8 | Self::ATOMIC;
                [code, id.0, to.word(), at, first, second]
            }
            Self::Changed { id, old } => [13, id.0, 0, 0, old, 0],
        };
        let mut bytes = [0; Self::LEN];
        for (to, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *to = word.to_le_bytes();
        }
        bytes
    }

    /// Reads the start of a body of `len` bytes that a peer sent.
    ///
    /// # Errors
    /// [`ProtocolViolation::Control`] says what is wrong with it.
    pub fn parse(bytes: &[u8; Self::LEN], len: u32) -> Result<Self, ProtocolViolation> {
        let mut words = [0; Self::WORDS];
        for (word, from) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*from);
        }
        let [code, id, name, at, count, second] = words;
        let (id, name, bulk) = (
            OperationId(id),
            RegionId::from_word(name),
            len.wrapping_sub(Self::LEN as u32),
        );
        let control = match code {
            1 => Self::Get {
                id,
                from: name,
                at,
                len: count,
            },
            2 => Self::Data { id, at, len: bulk },
            3 | 4 => Self::Put {
                id,
                to: name,
                at,
                len: bulk,
                last: code == 4,
            },
            5 | 6 => Self::Completion { id, ok: code == 6 },
            7 => Self::Leave,
            8 => Self::Ping,
            9 => Self::Pong,
            10 => Self::Push {
                number: id.0,
                at,
                len: bulk,
            },
            11 => Self::Pad,
            13 => Self::Changed { id, old: count },
            code if code & 0xff == Self::ATOMIC => {
                let atomic = Atomic::from_words((code >> 8) as u8, [count, second]);
                let Some((width, atomic)) = Width::of_bytes(code >> 16).zip(atomic) else {
                    return Err(ProtocolViolation::Control("an unknown atomic"));
                };
                Self::Atomic {
                    id,
                    to: name,
                    at,
                    width,
                    atomic,
                }
            }
            _ => return Err(ProtocolViolation::Control("a code that does not exist")),
        };
        if u64::from(control.bulk()) + Self::LEN as u64 != u64::from(len) {
            return Err(ProtocolViolation::Control(Self::LENGTH));
        }
        if control.bytes() != *bytes {
            return Err(ProtocolViolation::Control(
                "fields that its kind does not have",
            ));
        }
        Ok(control)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> [Control; 15] {
        let (id, name) = (OperationId(u64::MAX), RegionId::from_word(7 << 32 | 1));
        let put = |last| Control::Put {
            id,
            to: name,
            at: 1 << 40,
            len: 5,
            last,
        };
        [
            Control::Get {
                id,
                from: name,
                at: 3,
                len: u64::MAX,
            },
            Control::Data { id, at: 9, len: 0 },
            Control::Push {
                number: 3,
                at: 1 << 33,
                len: 7,
            },
            put(false),
            put(true),
            Control::Completion { id, ok: false },
            Control::Completion { id, ok: true },
            Control::Leave,
            Control::Ping,
            Control::Pong,
            Control::Pad,
            Control::Atomic {
                id,
                to: name,
                at: 8,
                width: Width::Bits64,
                atomic: Atomic::CompareSwap {
                    expected: u64::MAX,
                    new: 1,
                },
            },
            Control::Atomic {
                id,
                to: name,
                at: 4,
                width: Width::Bits32,
                atomic: Atomic::Fetch,
            },
            Control::Changed { id, old: u64::MAX },
            Control::Data {
                id: OperationId(0),
                at: 0,
                len: 1 << 20,
            },
        ]
    }

    #[test]
    fn bulk_begins_64_bytes_behind_the_header() {
        assert_eq!(Header::LEN + Control::LEN, 64);
    }

    #[test]
    fn there_and_back() {
        for control in all() {
            let len = control.header().len;
            assert_eq!(Control::parse(&control.bytes(), len), Ok(control));
        }
        let name = RegionId::from_word(0x0102_0304_0506_0708);
        for push in [Push::NONE, Push { number: 9, len: 5 }] {
            let key = push.key(name);
            assert_eq!(
                (RegionId::from_key(&key).0, Push::from_key(&key)),
                (name, push)
            );
        }
    }

    #[test]
    fn invalid_frames_are_refused() {
        for control in all() {
            let (bytes, len) = (control.bytes(), control.header().len);
            for wrong in [0, Control::LEN as u32 - 1, len + 1] {
                assert!(
                    Control::parse(&bytes, wrong).is_err(),
                    "{control:?} {wrong}"
                );
            }
            for code in [
                0,
                12,
                14,
                8 << 16 | 12,
                5 << 16 | 3 << 8 | 12,
                1 << 32,
                u64::MAX,
            ] {
                let mut bytes = bytes;
                bytes[..8].copy_from_slice(&u64::to_le_bytes(code));
                assert!(Control::parse(&bytes, len).is_err(), "{control:?} {code}");
            }
        }
        for at in [39, 47] {
            let mut leave = Control::Leave.bytes();
            leave[at] = 1;
            assert!(Control::parse(&leave, 48).is_err(), "a field out of use");
        }
    }
}
