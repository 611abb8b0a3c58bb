//! The messages of a handshake, each of a fixed size.

use std::fmt;

use super::key::{Nonce, Proof};
use super::{HandshakeError, VERSION};

/// Magic number at the start of a client's first message.
const CLIENT_MAGIC: [u8; 8] = *b"oxmpi\0go";
/// Magic number at the start of a server's first message.
const SERVER_MAGIC: [u8; 8] = *b"oxmpi\0ok";

/// The two ranks of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankPair {
    /// The client: the rank that connects.
    pub from: u32,
    /// The server: the rank that is connected to.
    pub to: u32,
}

/// Why a server refuses a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The versions differ; the message has the server's.
    Version = 1,
    /// The server is another rank.
    WrongRank = 2,
    /// The two ranks have a connection already, or the server's own connect wins.
    Duplicate = 3,
    /// The client does not know the key.
    Key = 4,
    /// The server has lost the client before.
    GivenUp = 5,
}

impl Refusal {
    const ALL: [Self; 5] = [
        Self::Version,
        Self::WrongRank,
        Self::Duplicate,
        Self::Key,
        Self::GivenUp,
    ];

    const fn code(self) -> u32 {
        self as u32
    }

    fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|refusal| refusal.code() == code)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Version => "another version",
            Self::WrongRank => "it is another rank",
            Self::Duplicate => "there is another connection between the two",
            Self::Key => "another key",
            Self::GivenUp => "it has given this rank up",
        })
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..]
        .first_chunk()
        .map_or(0, |b| u32::from_le_bytes(*b))
}

/// The client's first message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hello {
    pub(super) ranks: RankPair,
    pub(super) nonce: Nonce,
}

impl Hello {
    pub(super) const LEN: usize = 8 + 12 + 16;

    pub(super) fn bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&CLIENT_MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.ranks.from.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.ranks.to.to_le_bytes());
        bytes[20..].copy_from_slice(&self.nonce);
        bytes
    }

    /// Whether `bytes` can be the start of a hello.
    pub(super) fn may_begin(bytes: &[u8]) -> bool {
        bytes
            .iter()
            .zip(CLIENT_MAGIC)
            .all(|(byte, expected)| *byte == expected)
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, HandshakeError> {
        if !Self::may_begin(bytes) || bytes.len() != Self::LEN {
            return Err(HandshakeError::BadMagic);
        }
        match word(bytes, 8) {
            VERSION => {}
            version => return Err(HandshakeError::Version(version)),
        }
        Ok(Self {
            ranks: RankPair {
                from: word(bytes, 12),
                to: word(bytes, 16),
            },
            nonce: bytes[20..].first_chunk().copied().unwrap_or_default(),
        })
    }
}

/// The server's answer to a hello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Challenge {
    pub(super) nonce: Nonce,
    pub(super) proof: Proof,
}

impl Challenge {
    pub(super) const LEN: usize = 8 + 8 + 16 + Proof::LEN;

    pub(super) fn bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = Self::head(0);
        bytes[16..32].copy_from_slice(&self.nonce);
        bytes[32..].copy_from_slice(self.proof.bytes());
        bytes
    }

    /// The answer that refuses the client.
    pub(super) fn refused(why: Refusal) -> [u8; Self::LEN] {
        Self::head(why.code())
    }

    fn head(code: u32) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&SERVER_MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&code.to_le_bytes());
        bytes
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, HandshakeError> {
        let (Some(nonce), Some(proof)) = (bytes[16..].first_chunk(), bytes[32..].first_chunk())
        else {
            return Err(HandshakeError::BadMagic);
        };
        if bytes[..8] != SERVER_MAGIC {
            return Err(HandshakeError::BadMagic);
        }
        match (word(bytes, 8), Refusal::from_code(word(bytes, 12))) {
            (VERSION, None) if word(bytes, 12) == 0 => Ok(Self {
                nonce: *nonce,
                proof: Proof::claimed(*proof),
            }),
            (VERSION, Some(why)) if why != Refusal::Version => Err(HandshakeError::Refused(why)),
            (VERSION, _) => Err(HandshakeError::BadMagic),
            (version, _) => Err(HandshakeError::Version(version)),
        }
    }
}

/// The server's last message.
pub(super) struct Verdict;

impl Verdict {
    pub(super) const LEN: usize = 4;

    pub(super) fn bytes(refused: Option<Refusal>) -> [u8; Self::LEN] {
        refused.map_or(0, Refusal::code).to_le_bytes()
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<(), HandshakeError> {
        match (word(bytes, 0), Refusal::from_code(word(bytes, 0))) {
            (0, _) => Ok(()),
            (_, Some(why)) => Err(HandshakeError::Refused(why)),
            (_, None) => Err(HandshakeError::BadMagic),
        }
    }
}
