//! The messages of a greeting, each of a fixed size.

use std::fmt;

use super::key::{Nonce, Proof};
use super::{Turned, VERSION};

/// The first words of a caller.
const CALLER: [u8; 8] = *b"oxmpi\0go";
/// The first words of a host.
const HOST: [u8; 8] = *b"oxmpi\0ok";

/// Who calls whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who {
    /// The caller's rank.
    pub from: u32,
    /// The rank that it wants.
    pub to: u32,
}

/// Why a host lets a caller not in that speaks its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The host speaks the version that it says in its message.
    Version,
    /// Here is another rank.
    Name,
    /// The two ranks have a connection already, or the host's own call goes before.
    Twin,
    /// The caller does not know the key.
    Key,
    /// The host has lost the caller before.
    Lost,
}

impl Refusal {
    const ALL: [Self; 5] = [Self::Version, Self::Name, Self::Twin, Self::Key, Self::Lost];

    const fn code(self) -> u32 {
        match self {
            Self::Version => 1,
            Self::Name => 2,
            Self::Twin => 3,
            Self::Key => 4,
            Self::Lost => 5,
        }
    }

    fn of_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|refusal| refusal.code() == code)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Version => "another version",
            Self::Name => "it is another rank",
            Self::Twin => "there is another connection between the two",
            Self::Key => "another key",
            Self::Lost => "it has given this rank up",
        })
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..]
        .first_chunk()
        .map_or(0, |b| u32::from_le_bytes(*b))
}

/// The caller's first message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hello {
    pub(super) who: Who,
    pub(super) nonce: Nonce,
}

impl Hello {
    pub(super) const LEN: usize = 8 + 12 + 16;

    pub(super) fn bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&CALLER);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.who.from.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.who.to.to_le_bytes());
        bytes[20..].copy_from_slice(&self.nonce);
        bytes
    }

    /// Whether what has come so far can be the start of a hello.
    pub(super) fn may_begin(bytes: &[u8]) -> bool {
        bytes.iter().zip(CALLER).all(|(is, wanted)| *is == wanted)
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Turned> {
        if !Self::may_begin(bytes) || bytes.len() != Self::LEN {
            return Err(Turned::Stranger);
        }
        match word(bytes, 8) {
            VERSION => {}
            other => return Err(Turned::Version(other)),
        }
        Ok(Self {
            who: Who {
                from: word(bytes, 12),
                to: word(bytes, 16),
            },
            nonce: bytes[20..].first_chunk().copied().unwrap_or_default(),
        })
    }
}

/// What a host answers to a hello.
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

    /// What a host says that does not go on.
    pub(super) fn refused(why: Refusal) -> [u8; Self::LEN] {
        Self::head(why.code())
    }

    fn head(code: u32) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&HOST);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&code.to_le_bytes());
        bytes
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Turned> {
        let (Some(nonce), Some(proof)) = (bytes[16..].first_chunk(), bytes[32..].first_chunk())
        else {
            return Err(Turned::Stranger);
        };
        if bytes[..8] != HOST {
            return Err(Turned::Stranger);
        }
        match (word(bytes, 8), Refusal::of_code(word(bytes, 12))) {
            (VERSION, None) if word(bytes, 12) == 0 => Ok(Self {
                nonce: *nonce,
                proof: Proof::claimed(*proof),
            }),
            (VERSION, Some(why)) if why != Refusal::Version => Err(Turned::Refused(why)),
            (VERSION, _) => Err(Turned::Stranger),
            (other, _) => Err(Turned::Version(other)),
        }
    }
}

/// The host's last message.
pub(super) struct Welcome;

impl Welcome {
    pub(super) const LEN: usize = 4;

    pub(super) fn bytes(refused: Option<Refusal>) -> [u8; Self::LEN] {
        refused.map_or(0, Refusal::code).to_le_bytes()
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<(), Turned> {
        match (word(bytes, 0), Refusal::of_code(word(bytes, 0))) {
            (0, _) => Ok(()),
            (_, Some(why)) => Err(Turned::Refused(why)),
            (_, None) => Err(Turned::Stranger),
        }
    }
}
