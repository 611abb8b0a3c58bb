//! The addresses of the ranks of one node ([`NodeAddressTable`]), and their encoding.

use alloc::string::String;
use alloc::vec::Vec;

use super::ExchangeError;

/// Longest text that the ranks of a node have in common, in bytes.
pub const MAX_NODE_TEXT: usize = 4096;

/// The node address table: a text that all ranks of a node have in common, such as the host's addresses, and the
/// process and port of each rank.
///
/// A table of 64 ranks takes some 700 bytes; all tables of 100,000 ranks take 1.1 MB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeAddressTable {
    /// The text that the node's ranks have in common; at most [`MAX_NODE_TEXT`] bytes.
    pub common: String,
    /// The ranks of the node, the leader first.
    pub ranks: Vec<RankAddress>,
}

/// The address of one rank within its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankAddress {
    /// The rank.
    pub rank: u32,
    /// Its process id on the node.
    pub pid: u32,
    /// The port at which it listens.
    pub port: u16,
}

impl NodeAddressTable {
    /// Encoded bytes of one rank.
    const RANK: usize = 10;

    /// Length of the encoding of `ranks` ranks with a common text of `common` bytes.
    #[must_use]
    pub const fn len(ranks: u32, common: u32) -> u64 {
        6 + common as u64 + Self::RANK as u64 * ranks as u64
    }

    /// Encodes the table for [`NodeAddressTable::decode`]. A text longer than [`MAX_NODE_TEXT`] is cut.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let longest = self.common.len().min(MAX_NODE_TEXT);
        let end = (0..=longest).rfind(|at| self.common.is_char_boundary(*at));
        let common = &self.common[..end.unwrap_or_default()];
        let mut bytes = Vec::with_capacity(6 + common.len() + Self::RANK * self.ranks.len());
        bytes.extend((common.len() as u16).to_le_bytes());
        bytes.extend((self.ranks.len() as u32).to_le_bytes());
        bytes.extend(common.as_bytes());
        for address in &self.ranks {
            bytes.extend(address.rank.to_le_bytes());
            bytes.extend(address.pid.to_le_bytes());
            bytes.extend(address.port.to_le_bytes());
        }
        bytes
    }

    /// Decodes the table of `node`.
    ///
    /// # Errors
    /// [`ExchangeError::BadTable`] if `bytes` is not an encoding, or has no ranks.
    pub fn decode(node: u32, bytes: &[u8]) -> Result<Self, ExchangeError> {
        let wrong = |why| ExchangeError::BadTable { node, why };
        let (&common, rest) = bytes
            .split_first_chunk()
            .ok_or(wrong("it is cut within its head"))?;
        let (&count, rest) = rest
            .split_first_chunk()
            .ok_or(wrong("it is cut within its head"))?;
        let common = usize::from(u16::from_le_bytes(common));
        if common > MAX_NODE_TEXT {
            return Err(wrong("its text has more than 4096 bytes"));
        }
        let (common, ranks) = rest
            .split_at_checked(common)
            .ok_or(wrong("it is cut within its text"))?;
        let common = core::str::from_utf8(common).map_err(|_| wrong("its text is not UTF-8"))?;
        let (ranks, tail) = ranks.as_chunks::<{ Self::RANK }>();
        if !tail.is_empty() || ranks.len() as u64 != u64::from(u32::from_le_bytes(count)) {
            return Err(wrong("its length does not match its number of ranks"));
        }
        if ranks.is_empty() {
            return Err(wrong("it has no ranks, and a node has at least one"));
        }
        let decode = |&[a, b, c, d, e, f, g, h, i, j]: &[u8; Self::RANK]| RankAddress {
            rank: u32::from_le_bytes([a, b, c, d]),
            pid: u32::from_le_bytes([e, f, g, h]),
            port: u16::from_le_bytes([i, j]),
        };
        Ok(Self {
            common: common.into(),
            ranks: ranks.iter().map(decode).collect(),
        })
    }
}
