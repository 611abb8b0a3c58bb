//! The message of a round: encoded address tables of consecutive nodes.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::ExchangeError;

/// First bytes of every message: the protocol and its version.
const MAGIC: [u8; 8] = *b"oxmpiX\x01\0";

/// Bytes before the tables: magic, number of nodes, node of the first table, number of tables.
const HEAD: usize = MAGIC.len() + 3 * size_of::<u32>();

/// The encoding of a table, not decoded yet.
pub(super) type EncodedTable = Box<[u8]>;

/// The tables of consecutive nodes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TableMessage {
    pub(super) nodes: u32,
    /// The node of the first table.
    pub(super) first: u32,
    pub(super) tables: Vec<EncodedTable>,
}

/// Length of a message with `tables` tables of `bytes` bytes together.
pub(super) const fn len(tables: u32, bytes: u64) -> u64 {
    HEAD as u64 + size_of::<u32>() as u64 * tables as u64 + bytes
}

/// Encodes a message for [`read`].
pub(super) fn write(nodes: u32, first: u32, tables: &[EncodedTable]) -> Vec<u8> {
    let all: usize = tables.iter().map(|table| table.len()).sum();
    let mut bytes = Vec::with_capacity(len(tables.len() as u32, all as u64) as usize);
    bytes.extend(MAGIC);
    for word in [nodes, first, tables.len() as u32] {
        bytes.extend(word.to_le_bytes());
    }
    for table in tables {
        bytes.extend((table.len() as u32).to_le_bytes());
        bytes.extend(&**table);
    }
    bytes
}

/// Decodes a message of node `from`. Allocates no more than the length of the message.
pub(super) fn read(from: u32, bytes: &[u8]) -> Result<TableMessage, ExchangeError> {
    let not_an_exchange = || ExchangeError::NotAnExchange {
        from,
        len: bytes.len(),
    };
    let mut rest = bytes.strip_prefix(&MAGIC).ok_or_else(not_an_exchange)?;
    let mut word = || {
        let (word, behind) = rest.split_first_chunk()?;
        rest = behind;
        Some(u32::from_le_bytes(*word))
    };
    let head = (word(), word(), word());
    let (Some(nodes), Some(first), Some(count)) = head else {
        return Err(not_an_exchange());
    };
    let mut tables = Vec::new();
    for _ in 0..count {
        let end = |more: u64| ExchangeError::Length {
            from,
            len: bytes.len(),
            end: (bytes.len() - rest.len()) as u64 + more,
        };
        let (&size, behind) = rest.split_first_chunk().ok_or_else(|| end(4))?;
        let size = u32::from_le_bytes(size);
        let table = behind.split_at_checked(size as usize);
        let (table, behind) = table.ok_or_else(|| end(4 + u64::from(size)))?;
        tables.push(table.into());
        rest = behind;
    }
    if !rest.is_empty() {
        return Err(ExchangeError::Length {
            from,
            len: bytes.len(),
            end: (bytes.len() - rest.len()) as u64,
        });
    }
    Ok(TableMessage {
        nodes,
        first,
        tables,
    })
}
