//! The transport's own frames: bulk and its ends, the farewell, the question whether anything comes.

use oxmpi_wire::regions::Name;
use oxmpi_wire::{Envelope, Flags, Header, Key, Kind};

use super::Breach;

/// Names one operation of the rank that started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(pub u64);

/// The first bytes of a region, which follow its key before anybody asks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Which of all runs of this stream it is, counted from 0.
    pub number: u64,
    /// Number of bytes; 0: there is none.
    pub len: u64,
}

impl Run {
    /// Nothing.
    pub const NONE: Self = Self { number: 0, len: 0 };

    /// The key to the region of this name, which this run follows.
    #[must_use]
    pub fn key(self, region: Name) -> Key {
        region.key([self.number, self.len, 0])
    }

    /// The run that a key tells of.
    #[must_use]
    pub fn of_key(key: &Key) -> Self {
        let (_, [number, len, _]) = Name::of_key(key);
        Self { number, len }
    }
}

/// A frame of the transport's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Send me these bytes of your memory.
    Get {
        /// The asker's operation.
        id: Id,
        /// Which memory.
        from: Name,
        /// First byte of it.
        at: u64,
        /// Number of bytes.
        len: u64,
    },
    /// Bytes that you asked for; `len` of them follow.
    Data {
        /// The asker's operation.
        id: Id,
        /// Offset from the first byte that was asked for.
        at: u64,
        /// Bytes that follow.
        len: u32,
    },
    /// Bytes of a [`Run`]; `len` of them follow.
    Ahead {
        /// Which run.
        number: u64,
        /// Offset from its first byte.
        at: u64,
        /// Bytes that follow.
        len: u32,
    },
    /// Bytes for your memory; `len` of them follow.
    Put {
        /// The sender's operation.
        id: Id,
        /// Which memory.
        to: Name,
        /// Where in it.
        at: u64,
        /// Bytes that follow.
        len: u32,
        /// Nothing of this operation comes after them: say when they are in place.
        last: bool,
    },
    /// The operation has ended: all bytes of a put are in place, or (`ok` is false) what was asked for
    /// cannot be done.
    Ended {
        /// The operation of who reads this.
        id: Id,
        /// Whether it was done.
        ok: bool,
    },
    /// The sender leaves the job in order; nothing comes after this.
    Leave,
    /// Does anything of this come? Answer at once.
    Ask,
    /// It does.
    Answer,
    /// Nothing: it stands before what is not to come first.
    Pad,
}

impl Control {
    /// Bytes of a control frame's body, before the bulk that follows: with the header 64. Memory that is copied
    /// by one instruction to an address less than 64 bytes ahead in its page takes up to twice as long there
    /// (Zen 5), so bulk does not stand nearer than that behind the beginning of what is written.
    pub const LEN: usize = 48;

    /// Words of it that mean something; the others are zero.
    const WORDS: usize = 5;

    /// The rule about lengths.
    pub(super) const LENGTH: &'static str = "a body of another length than its kind has";

    /// Bytes of bulk that follow.
    #[must_use]
    pub const fn bulk(&self) -> u32 {
        match self {
            Self::Data { len, .. } | Self::Ahead { len, .. } | Self::Put { len, .. } => *len,
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
        Header {
            kind: Kind::Transport,
            flags: Flags::empty(),
            len: Self::LEN as u32 + self.bulk(),
            envelope: Envelope { context: 0, tag: 0 },
        }
    }

    /// The first [`Control::LEN`] bytes of the body.
    #[must_use]
    pub fn bytes(&self) -> [u8; Self::LEN] {
        let words = match *self {
            Self::Get { id, from, at, len } => [1, id.0, from.word(), at, len],
            Self::Data { id, at, len } => [2, id.0, 0, at, len.into()],
            Self::Put {
                id,
                to,
                at,
                len,
                last,
            } => [3 + u64::from(last), id.0, to.word(), at, len.into()],
            Self::Ended { id, ok } => [5 + u64::from(ok), id.0, 0, 0, 0],
            Self::Leave => [7, 0, 0, 0, 0],
            Self::Ask => [8, 0, 0, 0, 0],
            Self::Answer => [9, 0, 0, 0, 0],
            Self::Ahead { number, at, len } => [10, number, 0, at, len.into()],
            Self::Pad => [11, 0, 0, 0, 0],
        };
        let mut bytes = [0; Self::LEN];
        for (to, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *to = word.to_le_bytes();
        }
        bytes
    }

    /// Reads the start of a body of `len` bytes, whoever sent it.
    ///
    /// # Errors
    /// [`Breach::Control`] says what is wrong with it.
    pub fn parse(bytes: &[u8; Self::LEN], len: u32) -> Result<Self, Breach> {
        let mut words = [0; Self::WORDS];
        for (word, from) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*from);
        }
        let [code, id, name, at, count] = words;
        let (id, name, bulk) = (
            Id(id),
            Name::of_word(name),
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
            5 | 6 => Self::Ended { id, ok: code == 6 },
            7 => Self::Leave,
            8 => Self::Ask,
            9 => Self::Answer,
            10 => Self::Ahead {
                number: id.0,
                at,
                len: bulk,
            },
            11 => Self::Pad,
            _ => return Err(Breach::Control("a code that does not exist")),
        };
        if u64::from(control.bulk()) + Self::LEN as u64 != u64::from(len) {
            return Err(Breach::Control(Self::LENGTH));
        }
        if control.bytes() != *bytes {
            return Err(Breach::Control("fields that its kind does not have"));
        }
        Ok(control)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> [Control; 12] {
        let (id, name) = (Id(u64::MAX), Name::of_word(7 << 32 | 1));
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
            Control::Ahead {
                number: 3,
                at: 1 << 33,
                len: 7,
            },
            put(false),
            put(true),
            Control::Ended { id, ok: false },
            Control::Ended { id, ok: true },
            Control::Leave,
            Control::Ask,
            Control::Answer,
            Control::Pad,
            Control::Data {
                id: Id(0),
                at: 0,
                len: 1 << 20,
            },
        ]
    }

    #[test]
    fn bulk_does_not_stand_near_the_beginning() {
        assert_eq!(Header::LEN + Control::LEN, 64);
    }

    #[test]
    fn there_and_back() {
        for control in all() {
            let len = control.header().len;
            assert_eq!(Control::parse(&control.bytes(), len), Ok(control));
        }
        let name = Name::of_word(0x0102_0304_0506_0708);
        for run in [Run::NONE, Run { number: 9, len: 5 }] {
            let key = run.key(name);
            assert_eq!((Name::of_key(&key).0, Run::of_key(&key)), (name, run));
        }
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for control in all() {
            let (bytes, len) = (control.bytes(), control.header().len);
            for wrong in [0, Control::LEN as u32 - 1, len + 1] {
                assert!(
                    Control::parse(&bytes, wrong).is_err(),
                    "{control:?} {wrong}"
                );
            }
            for code in [0, 12, 1 << 32, u64::MAX] {
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
