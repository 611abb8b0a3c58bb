//! What a node tells of its ranks.

use alloc::string::String;
use alloc::vec::Vec;

use super::ExchangeError;

/// Longest text that the ranks of a node have in common, in bytes.
pub const MAX_NODE_TEXT: usize = 4096;

/// The ranks of a node, and how each is reached: a text that all have in common, such as the node's
/// addresses, and what is each one's own.
///
/// A sheet of 64 ranks takes some 700 bytes; all sheets of 100,000 ranks take 1.1 MB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeAddressTable {
    /// What the node's ranks have in common; at most [`MAX_NODE_TEXT`] bytes.
    pub common: String,
    /// Its ranks, the leader first.
    pub ranks: Vec<RankAddress>,
}

/// One rank of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankAddress {
    /// Which.
    pub rank: u32,
    /// Its process, as its node numbers them.
    pub pid: u32,
    /// The port that it listens at.
    pub port: u16,
}

impl NodeAddressTable {
    /// Bytes of a rank.
    const RANK: usize = 10;

    /// Bytes that [`NodeAddressTable::encode`] gives for so many ranks with so long a text.
    #[must_use]
    pub const fn len(ranks: u32, common: u32) -> u64 {
        6 + common as u64 + Self::RANK as u64 * ranks as u64
    }

    /// The bytes that [`NodeAddressTable::decode`] reads. A text longer than [`MAX_NODE_TEXT`] is cut.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let longest = self.common.len().min(MAX_NODE_TEXT);
        let end = (0..=longest).rfind(|at| self.common.is_char_boundary(*at));
        let common = &self.common[..end.unwrap_or_default()];
        let mut bytes = Vec::with_capacity(6 + common.len() + Self::RANK * self.ranks.len());
        bytes.extend((common.len() as u16).to_le_bytes());
        bytes.extend((self.ranks.len() as u32).to_le_bytes());
        bytes.extend(common.as_bytes());
        for seat in &self.ranks {
            bytes.extend(seat.rank.to_le_bytes());
            bytes.extend(seat.pid.to_le_bytes());
            bytes.extend(seat.port.to_le_bytes());
        }
        bytes
    }

    /// Reads the sheet of `node`.
    ///
    /// # Errors
    /// What [`NodeAddressTable::encode`] does not write, and a sheet without ranks.
    pub fn decode(node: u32, bytes: &[u8]) -> Result<Self, ExchangeError> {
        let wrong = |why| ExchangeError::BadTable { node, why };
        let (&common, rest) = bytes
            .split_first_chunk()
            .ok_or(wrong("it ends in its head"))?;
        let (&count, rest) = rest
            .split_first_chunk()
            .ok_or(wrong("it ends in its head"))?;
        let common = usize::from(u16::from_le_bytes(common));
        if common > MAX_NODE_TEXT {
            return Err(wrong("its text has more than 4096 bytes"));
        }
        let (common, ranks) = rest
            .split_at_checked(common)
            .ok_or(wrong("it ends in its text"))?;
        let common = core::str::from_utf8(common).map_err(|_| wrong("its text is not UTF-8"))?;
        let (ranks, tail) = ranks.as_chunks::<{ Self::RANK }>();
        if !tail.is_empty() || ranks.len() as u64 != u64::from(u32::from_le_bytes(count)) {
            return Err(wrong("it has not as many ranks as it says"));
        }
        if ranks.is_empty() {
            return Err(wrong("it has no ranks, and a node has at least one"));
        }
        let seat = |&[a, b, c, d, e, f, g, h, i, j]: &[u8; Self::RANK]| RankAddress {
            rank: u32::from_le_bytes([a, b, c, d]),
            pid: u32::from_le_bytes([e, f, g, h]),
            port: u16::from_le_bytes([i, j]),
        };
        Ok(Self {
            common: common.into(),
            ranks: ranks.iter().map(seat).collect(),
        })
    }
}
