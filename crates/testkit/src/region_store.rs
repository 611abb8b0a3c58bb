//! Registered memory of an in-process transport ([`RegionStore`]), and the keys to it.

use std::collections::BTreeMap;

use oxmpi_wire::{Bytes, Fault, Key};

use crate::memory::Buffer;

/// The key of the region `number`.
pub(crate) fn key_of(number: u64) -> Key {
    let mut key = Key([0; Key::LEN]);
    key.0[..8].copy_from_slice(&number.to_le_bytes());
    key
}

/// The number in an untrusted key.
pub(crate) fn number_in(key: &Key) -> u64 {
    let number = key.0.first_chunk();
    number.map_or(u64::MAX, |number| u64::from_le_bytes(*number))
}

/// The registered memory of all ends of an in-process transport.
#[derive(Debug, Default)]
pub struct RegionStore {
    /// By owner and number.
    regions: BTreeMap<(u32, u64), Buffer>,
    next: u64,
}

impl RegionStore {
    /// Registers `bytes` of `owner`; returns the region's number.
    pub(crate) fn register(&mut self, owner: u32, bytes: Buffer) -> u64 {
        self.next += 1;
        self.regions.insert((owner, self.next), bytes);
        self.next
    }

    /// Ends a registration.
    pub(crate) fn release(&mut self, owner: u32, number: u64) {
        self.regions.remove(&(owner, number));
    }

    /// The region `number` of `owner`, if it has the bytes `at..at + len`.
    pub(crate) fn range(
        &self,
        (owner, number, at): RegionOffset,
        len: u64,
    ) -> Result<&Buffer, Fault> {
        self.get(owner, number)
            .filter(|bytes| at.checked_add(len).is_some_and(|end| end <= bytes.len()))
            .ok_or(Fault::Protocol("a range outside of its region"))
    }

    /// Copies `len` bytes of one region to another.
    pub(crate) fn copy(&self, from: RegionOffset, to: RegionOffset, len: u64) -> Result<(), Fault> {
        let source = self.range(from, len)?;
        self.range(to, len)?.copy_from(to.2, source, from.2, len);
        Ok(())
    }

    /// The region `number` of `owner`.
    pub(crate) fn get(&self, owner: u32, number: u64) -> Option<&Buffer> {
        self.regions.get(&(owner, number))
    }

    /// The number of regions whose owner is one of those that `counts`.
    pub(crate) fn count(&self, counts: impl Fn(u32) -> bool) -> usize {
        self.regions
            .keys()
            .filter(|(owner, _)| counts(*owner))
            .count()
    }
}

/// A position in registered memory: owner, number of the region, offset.
pub(crate) type RegionOffset = (u32, u64, u64);
