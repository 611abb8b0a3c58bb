//! Messages of windows: what an origin asks of a target whose memory it does not reach itself, and the answers.
//!
//! A window is memory that each rank of a group exposes to the others (MPI 5.0, chapter 12). The target's engine hands these
//! messages to whoever keeps the windows, in any of the target's calls. An origin numbers what it asks; the answer has the
//! number. Messages of one origin to one target arrive in order.
//!
//! ```text
//!  origin                                   target
//!  Lock{exclusive}                     ->   does what comes next once it has the lock
//!  Put{at} + bytes                     ->   writes
//!  Accumulate{.., answer: 0} + bytes   ->   combines
//!  Get{answer: 7, at, len}             ->   reads
//!                                      <-   Data{7, 0} + bytes, Data{7, 4096} + bytes
//!  Flush{answer: 8}                    ->   once all of this origin's before is done
//!                                      <-   Done{8}
//!  Unlock{answer: 9, exclusive}        ->   as a flush; gives the lock back
//!                                      <-   Done{9}
//! ```

use crate::header::{Envelope, Flags, Header, Kind};
use crate::transport::{Busy, Bytes, Peer, Put, Slot, Take, Tx};

/// A message of a window, without its bytes. Offsets and lengths are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowMessage {
    /// Writes the bytes that follow at offset `at` of the target's memory.
    Put {
        /// The offset.
        at: u64,
    },
    /// Asks for `len` bytes.
    Get {
        /// The number of the [`WindowMessage::Data`] that answer.
        answer: u64,
        /// The offset.
        at: u64,
        /// How many.
        len: u64,
    },
    /// Combines the bytes that follow, if any, with the target's, atomically for each element.
    Accumulate {
        /// The number of the [`WindowMessage::Data`] with the bytes before; 0: nobody asks for them.
        answer: u64,
        /// The offset.
        at: u64,
        /// How many bytes of the target are concerned.
        len: u64,
        /// What to do, as origin and target have agreed to name it.
        operation: u64,
    },
    /// Asks for a [`WindowMessage::Done`] once all that this origin asked before is done.
    Flush {
        /// Its number.
        answer: u64,
    },
    /// Asks for the lock of the target's memory. What this origin asks next waits for it at the target.
    Lock {
        /// Whether no other origin may have it at the same time.
        exclusive: bool,
    },
    /// Gives the lock back once all that this origin asked before is done.
    Unlock {
        /// The number of the [`WindowMessage::Done`] that tells so.
        answer: u64,
        /// As it was locked.
        exclusive: bool,
    },
    /// The sender exposes its memory to the receiver.
    Post,
    /// The sender has ended its accesses to the memory that the receiver exposes.
    Complete,
    /// The receiver looks again at a word in shared memory that it waits for.
    Wake,
    /// Bytes of an answer.
    Data {
        /// Its number.
        answer: u64,
        /// Where they are among all bytes of the answer.
        at: u64,
    },
    /// An answer without bytes.
    Done {
        /// Its number.
        answer: u64,
    },
    /// Accesses were not done, as this rank of the window is lost and may have a lock that they need.
    Refused {
        /// The number of what asked: of an access, or of the [`WindowMessage::Flush`] or [`WindowMessage::Unlock`] after it.
        answer: u64,
        /// The rank.
        rank: u64,
    },
    /// Accesses were not done, as no memory is attached there.
    Outside {
        /// The number of what asked: of an access, or of the [`WindowMessage::Flush`] or [`WindowMessage::Unlock`] after it.
        answer: u64,
        /// The address.
        at: u64,
    },
    /// An access conflicts with one of another rank in the same epoch.
    Conflict {
        /// The number of the [`WindowMessage::Flush`] or [`WindowMessage::Unlock`] after it.
        answer: u64,
        /// The offset.
        at: u64,
        /// The other rank of the window.
        other: u64,
        /// What both do, as origin and target have agreed to name it.
        kinds: u64,
    },
}

/// Most words of a message.
const WORDS: usize = 4;

impl WindowMessage {
    /// Most bytes of a message beside those that it carries.
    pub const LEN: usize = WORDS * 8;

    /// Whether bytes follow.
    const fn carries_bytes(&self) -> bool {
        matches!(
            self,
            Self::Put { .. } | Self::Accumulate { .. } | Self::Data { .. }
        )
    }

    /// The message's code, its words, and how many words it has.
    const fn words(self) -> (u32, [u64; WORDS], usize) {
        match self {
            Self::Put { at } => (1, [at, 0, 0, 0], 1),
            Self::Get { answer, at, len } => (2, [answer, at, len, 0], 3),
            Self::Accumulate {
                answer,
                at,
                len,
                operation,
            } => (3, [answer, at, len, operation], 4),
            Self::Flush { answer } => (4, [answer, 0, 0, 0], 1),
            Self::Lock { exclusive } => (5, [exclusive as u64, 0, 0, 0], 1),
            Self::Unlock { answer, exclusive } => (6, [answer, exclusive as u64, 0, 0], 2),
            Self::Post => (7, [0; WORDS], 0),
            Self::Complete => (8, [0; WORDS], 0),
            Self::Wake => (9, [0; WORDS], 0),
            Self::Data { answer, at } => (10, [answer, at, 0, 0], 2),
            Self::Done { answer } => (11, [answer, 0, 0, 0], 1),
            Self::Refused { answer, rank } => (12, [answer, rank, 0, 0], 2),
            Self::Outside { answer, at } => (13, [answer, at, 0, 0], 2),
            Self::Conflict {
                answer,
                at,
                other,
                kinds,
            } => (14, [answer, at, other, kinds], 4),
        }
    }

    /// The reverse of [`WindowMessage::words`].
    const fn of_words(code: u32, [a, b, c, d]: [u64; WORDS]) -> Option<Self> {
        Some(match code {
            1 => Self::Put { at: a },
            2 => Self::Get {
                answer: a,
                at: b,
                len: c,
            },
            3 => Self::Accumulate {
                answer: a,
                at: b,
                len: c,
                operation: d,
            },
            4 => Self::Flush { answer: a },
            5 if a <= 1 => Self::Lock { exclusive: a == 1 },
            6 if b <= 1 => Self::Unlock {
                answer: a,
                exclusive: b == 1,
            },
            7 => Self::Post,
            8 => Self::Complete,
            9 => Self::Wake,
            10 => Self::Data { answer: a, at: b },
            11 => Self::Done { answer: a },
            12 => Self::Refused { answer: a, rank: b },
            13 => Self::Outside { answer: a, at: b },
            14 => Self::Conflict {
                answer: a,
                at: b,
                other: c,
                kinds: d,
            },
            _ => return None,
        })
    }

    /// Sends the message about the window with this context, with the `len` bytes of `bytes` from `at` on.
    ///
    /// # Errors
    /// [`Busy`] when the peer has no room now.
    ///
    /// # Panics
    /// If [`WindowMessage::LEN`] and the bytes exceed [`Limits::frame`](crate::Limits::frame), or there are bytes and the
    /// message carries none.
    pub fn send<T: Tx>(
        self,
        tx: &mut T,
        to: Peer,
        context: u32,
        (bytes, at, len): (&impl Bytes, u64, usize),
    ) -> Result<(), Busy> {
        assert!(len == 0 || self.carries_bytes(), "bytes of {self:?}");
        let (tag, words, count) = self.words();
        let whole = count * 8 + len;
        let envelope = Envelope { context, tag };
        let head = Header::new(Kind::Window, Flags::empty(), whole as u32, envelope);
        let mut slot = tx.frame(to, &head, whole)?;
        for word in &words[..count] {
            slot.put(&word.to_le_bytes());
        }
        if len > 0 {
            bytes.drain(at, len, &mut slot);
        }
        slot.send();
        Ok(())
    }

    /// The message of a frame of [`Kind::Window`], which may be a corrupt peer's. Its bytes, if it carries some, are left
    /// in `body`.
    ///
    /// # Errors
    /// The rule of the protocol that the peer broke.
    pub fn parse(head: &Header, body: &mut impl Take) -> Result<Self, &'static str> {
        const UNKNOWN: &str = "a frame of a window has a known code and values";
        const LENGTH: &str = "a frame of a window has as many bytes as its code says";
        let mut words = [0; WORDS];
        let kind = Self::of_words(head.envelope.tag, words).ok_or(UNKNOWN)?;
        let count = kind.words().2;
        if body.left() < count * 8 {
            return Err(LENGTH);
        }
        for word in &mut words[..count] {
            let mut bytes = [0; 8];
            body.take(&mut bytes);
            *word = u64::from_le_bytes(bytes);
        }
        if body.left() > 0 && !kind.carries_bytes() {
            return Err(LENGTH);
        }
        Self::of_words(head.envelope.tag, words).ok_or(UNKNOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [WindowMessage; 16] = [
        WindowMessage::Put { at: 1 << 40 },
        WindowMessage::Get {
            answer: 1,
            at: 2,
            len: 3,
        },
        WindowMessage::Accumulate {
            answer: 1,
            at: 2,
            len: 3,
            operation: 4,
        },
        WindowMessage::Flush { answer: 5 },
        WindowMessage::Lock { exclusive: true },
        WindowMessage::Lock { exclusive: false },
        WindowMessage::Unlock {
            answer: 6,
            exclusive: true,
        },
        WindowMessage::Post,
        WindowMessage::Complete,
        WindowMessage::Wake,
        WindowMessage::Data { answer: 7, at: 8 },
        WindowMessage::Done { answer: 9 },
        WindowMessage::Refused { answer: 9, rank: 1 },
        WindowMessage::Outside { answer: 9, at: 64 },
        WindowMessage::Conflict {
            answer: 9,
            at: 64,
            other: 3,
            kinds: 1 << 32,
        },
        WindowMessage::Unlock {
            answer: u64::MAX,
            exclusive: false,
        },
    ];

    fn encoded(message: WindowMessage, more: &[u8]) -> (Header, alloc::vec::Vec<u8>) {
        let (tag, words, count) = message.words();
        let mut body: alloc::vec::Vec<u8> = words[..count]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        body.extend(more);
        let envelope = Envelope { context: 3, tag };
        let head = Header::new(Kind::Window, Flags::empty(), body.len() as u32, envelope);
        (head, body)
    }

    #[test]
    fn messages_there_and_back() {
        for message in ALL {
            let more: &[u8] = if message.carries_bytes() { b"abc" } else { &[] };
            let (head, body) = encoded(message, more);
            let mut left = &body[..];
            assert_eq!(WindowMessage::parse(&head, &mut left), Ok(message));
            assert_eq!(left, more);
        }
    }

    #[test]
    fn frames_that_are_no_messages_are_refused() {
        for message in ALL {
            let (head, body) = encoded(message, &[]);
            for len in 0..body.len() {
                let parsed = WindowMessage::parse(&head, &mut &body[..len]);
                assert!(parsed.is_err(), "{len} bytes of {message:?}");
            }
            if !message.carries_bytes() {
                let (head, body) = encoded(message, &[0]);
                assert!(WindowMessage::parse(&head, &mut &body[..]).is_err());
            }
        }
        for tag in [0, 15, u32::MAX] {
            let envelope = Envelope { context: 0, tag };
            let head = Header::new(Kind::Window, Flags::empty(), 0, envelope);
            assert!(WindowMessage::parse(&head, &mut &[][..]).is_err());
        }
        let (head, mut body) = encoded(ALL[4], &[]);
        body[0] = 2;
        assert!(WindowMessage::parse(&head, &mut &body[..]).is_err());
    }
}
