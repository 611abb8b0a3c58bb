//! Sheets on their way.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::ExchangeError;

/// First bytes of every message: who we are, and the version of what follows.
const MAGIC: [u8; 8] = *b"oxmpiX\x01\0";

/// Bytes before the sheets: the magic, the number of nodes, whose sheet is the first, how many there are.
const HEAD: usize = MAGIC.len() + 3 * size_of::<u32>();

/// A sheet as it was sent, and not looked into yet.
pub(super) type EncodedTable = Box<[u8]>;

/// Sheets of nodes that follow each other.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TableMessage {
    pub(super) nodes: u32,
    /// Whose sheet is the first.
    pub(super) first: u32,
    pub(super) sheets: Vec<EncodedTable>,
}

/// Bytes of a message with so many sheets that have `bytes` together.
pub(super) const fn len(sheets: u32, bytes: u64) -> u64 {
    HEAD as u64 + size_of::<u32>() as u64 * sheets as u64 + bytes
}

/// The bytes that [`read`] reads.
pub(super) fn write(nodes: u32, first: u32, sheets: &[EncodedTable]) -> Vec<u8> {
    let all: usize = sheets.iter().map(|sheet| sheet.len()).sum();
    let mut bytes = Vec::with_capacity(len(sheets.len() as u32, all as u64) as usize);
    bytes.extend(MAGIC);
    for word in [nodes, first, sheets.len() as u32] {
        bytes.extend(word.to_le_bytes());
    }
    for sheet in sheets {
        bytes.extend((sheet.len() as u32).to_le_bytes());
        bytes.extend(&**sheet);
    }
    bytes
}

/// Reads a message of node `from`. Allocates no more than the message is long.
pub(super) fn read(from: u32, bytes: &[u8]) -> Result<TableMessage, ExchangeError> {
    let stranger = || ExchangeError::NotAnExchange {
        from,
        len: bytes.len(),
    };
    let mut rest = bytes.strip_prefix(&MAGIC).ok_or_else(stranger)?;
    let mut word = || {
        let (word, behind) = rest.split_first_chunk()?;
        rest = behind;
        Some(u32::from_le_bytes(*word))
    };
    let head = (word(), word(), word());
    let (Some(nodes), Some(first), Some(count)) = head else {
        return Err(stranger());
    };
    let mut sheets = Vec::new();
    for _ in 0..count {
        let end = |more: u64| ExchangeError::Length {
            from,
            len: bytes.len(),
            end: (bytes.len() - rest.len()) as u64 + more,
        };
        let (&size, behind) = rest.split_first_chunk().ok_or_else(|| end(4))?;
        let size = u32::from_le_bytes(size);
        let sheet = behind.split_at_checked(size as usize);
        let (sheet, behind) = sheet.ok_or_else(|| end(4 + u64::from(size)))?;
        sheets.push(sheet.into());
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
        sheets,
    })
}
