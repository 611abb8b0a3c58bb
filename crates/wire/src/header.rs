//! The header of every frame ([`Header`]): kind, flags, length and [`Envelope`], with its encodings.
//!
//! It takes 16 bytes. A transport whose slots carry a sequence number packs the first eight of them into four
//! with [`Header::compact`].

use core::fmt;

use bitflags::bitflags;
use zerocopy::byteorder::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Version of the frame protocol. Peers check it before their first frame.
pub const VERSION: u8 = 1;

/// Context and tag of a message: what it is matched by, besides its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Envelope {
    /// The communicator's context.
    pub context: u32,
    /// The user's tag, or the runtime's tag of a collective.
    pub tag: u32,
}

impl Envelope {
    /// The envelope in one word: the context above, the tag below.
    #[inline]
    #[must_use]
    pub const fn packed(self) -> u64 {
        (self.context as u64) << 32 | self.tag as u64
    }

    /// The reverse of [`Envelope::packed`].
    #[inline]
    #[must_use]
    pub const fn unpack(word: u64) -> Self {
        Self {
            context: (word >> 32) as u32,
            tag: word as u32,
        }
    }
}

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A whole message (paths E0 and E1).
    Eager = 1,
    /// A request to send: the message's length and the key to its bytes (paths R0 and R1).
    RequestToSend = 2,
    /// The side that moved the bytes of a rendezvous has finished, or the receiver has matched a synchronous
    /// eager message.
    Finished = 3,
    /// The sender cancels a request-to-send or a synchronous message.
    Cancel = 4,
    /// Answer to a cancel: flag [`Flags::YES`] if the message was not matched before.
    CancelReply = 5,
    /// A frame of the transport's own; it never reaches the engine.
    Transport = 6,
    /// Flow control: the body has the level at which the peer may send.
    Flow = 7,
    /// Answer to a request-to-send of path R1: the key to the receiver's buffer.
    ClearToSend = 8,
    /// A message of a window; it never reaches the engine.
    Window = 9,
}

impl Kind {
    /// Every kind, in the order of the codes.
    pub const ALL: [Self; 9] = [
        Self::Eager,
        Self::RequestToSend,
        Self::Finished,
        Self::Cancel,
        Self::CancelReply,
        Self::Transport,
        Self::Flow,
        Self::ClearToSend,
        Self::Window,
    ];

    /// The kind with this code.
    #[inline]
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Eager),
            2 => Some(Self::RequestToSend),
            3 => Some(Self::Finished),
            4 => Some(Self::Cancel),
            5 => Some(Self::CancelReply),
            6 => Some(Self::Transport),
            7 => Some(Self::Flow),
            8 => Some(Self::ClearToSend),
            9 => Some(Self::Window),
            _ => None,
        }
    }
}

bitflags! {
    /// Flags of a frame.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Flags: u8 {
        /// The sender waits until the message is matched; the body starts with the id for the answer.
        const SYNC = 1;
        /// On an answer: yes.
        const YES = 2;
        /// On a request-to-send: the sender puts the bytes after a clear-to-send (path R1).
        const PUT = 4;
    }
}

/// The header of one frame, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// Kind of the frame.
    pub kind: Kind,
    /// Flags of the frame.
    pub flags: Flags,
    /// Length of the body in bytes.
    pub len: u32,
    /// The message's envelope; zero for kinds without one.
    pub envelope: Envelope,
}

/// The header's bytes on a byte stream, little-endian.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Raw {
    version: u8,
    kind: u8,
    flags: u8,
    zero: u8,
    len: U32,
    context: U32,
    tag: U32,
}

/// Why bytes are not a valid header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// Fewer bytes than a header has.
    #[error("a header has 16 bytes, got {0}")]
    Short(usize),
    /// Another version of the protocol.
    #[error("frame of version {0}, expected version {VERSION}")]
    Version(u8),
    /// An unknown kind.
    #[error("frame of unknown kind {0}, expected 1 to 9")]
    Kind(u8),
    /// Unknown flags.
    #[error("frame with unknown flags {0:#04x}")]
    Flags(u8),
    /// The reserved byte is not zero.
    #[error("the reserved byte is {0}, expected 0")]
    Reserved(u8),
}

impl Header {
    /// Size in bytes.
    pub const LEN: usize = size_of::<Raw>();

    /// The header of a frame with `len` body bytes.
    #[inline]
    #[must_use]
    pub const fn new(kind: Kind, flags: Flags, len: u32, envelope: Envelope) -> Self {
        Self {
            kind,
            flags,
            len,
            envelope,
        }
    }

    /// Parses a header from the start of `bytes`, which may be untrusted.
    ///
    /// # Errors
    /// [`HeaderError`] for the first wrong field. The transport has to check the length of the body.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<Self, HeaderError> {
        let (raw, _) = Raw::read_from_prefix(bytes).map_err(|_| HeaderError::Short(bytes.len()))?;
        if raw.version != VERSION {
            return Err(HeaderError::Version(raw.version));
        }
        if raw.zero != 0 {
            return Err(HeaderError::Reserved(raw.zero));
        }
        Ok(Self {
            kind: Kind::from_code(raw.kind).ok_or(HeaderError::Kind(raw.kind))?,
            flags: Flags::from_bits(raw.flags).ok_or(HeaderError::Flags(raw.flags))?,
            len: raw.len.get(),
            envelope: Envelope {
                context: raw.context.get(),
                tag: raw.tag.get(),
            },
        })
    }

    /// Encodes the header for a byte stream.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> [u8; Self::LEN] {
        zerocopy::transmute!(Raw {
            version: VERSION,
            kind: self.kind as u8,
            flags: self.flags.bits(),
            zero: 0,
            len: U32::new(self.len),
            context: U32::new(self.envelope.context),
            tag: U32::new(self.envelope.tag),
        })
    }

    /// Whether the frame is a whole message without flags: one that [`Sink::expected`] may take.
    ///
    /// [`Sink::expected`]: crate::Sink::expected
    #[inline]
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.kind == Kind::Eager && self.flags.is_empty()
    }

    /// Kind, flags and length in 32 bits, for slots that carry a sequence number in the other half of a word.
    ///
    /// # Panics
    /// In debug builds, if the body is longer than 65,535 bytes.
    #[inline]
    #[must_use]
    pub const fn compact(&self) -> u32 {
        debug_assert!(self.len <= u16::MAX as u32);
        (self.kind as u32) << 24 | (self.flags.bits() as u32) << 16 | self.len
    }

    /// [`Header::compact`] of a whole empty message without flags; that of a longer one is greater by its
    /// length.
    pub const PLAIN: u32 = (Kind::Eager as u32) << 24;

    /// The body's length, if `compact` is that of a whole message without flags of at most `most` bytes
    /// (65,535 or less). Takes one compare.
    #[inline(always)]
    #[must_use]
    pub const fn plain(compact: u32, most: u32) -> Option<u32> {
        debug_assert!(most <= u16::MAX as u32);
        let len = compact.wrapping_sub(Self::PLAIN);
        if len <= most { Some(len) } else { None }
    }

    /// The reverse of [`Header::compact`]; `compact` may be untrusted.
    ///
    /// # Errors
    /// [`HeaderError`] for the wrong field.
    #[inline]
    pub const fn expand(compact: u32, envelope: Envelope) -> Result<Self, HeaderError> {
        let (kind, flags) = ((compact >> 24) as u8, (compact >> 16) as u8);
        let Some(kind) = Kind::from_code(kind) else {
            return Err(HeaderError::Kind(kind));
        };
        let Some(flags) = Flags::from_bits(flags) else {
            return Err(HeaderError::Flags(flags));
        };
        Ok(Self {
            kind,
            flags,
            len: compact & 0xffff,
            envelope,
        })
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} context {} tag {} body {} B{}",
            self.kind,
            self.envelope.context,
            self.envelope.tag,
            self.len,
            if self.flags.is_empty() {
                ""
            } else {
                " flagged"
            }
        )
    }
}
