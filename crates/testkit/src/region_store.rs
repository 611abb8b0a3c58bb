//! Registered memory of an in-process transport ([`RegionStore`]), and the keys to it.

use std::collections::BTreeMap;

use oxmpi_wire::{Access, Bytes, Fault, Key};

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
    regions: BTreeMap<(u32, u64), (Buffer, Access)>,
    next: u64,
}

impl RegionStore {
    /// Registers `bytes` of `owner` for this access by peers; returns the region's number.
    pub(crate) fn register(&mut self, owner: u32, bytes: Buffer, access: Access) -> u64 {
        self.next += 1;
        self.regions.insert((owner, self.next), (bytes, access));
        self.next
    }

    /// Ends a registration.
    pub(crate) fn release(&mut self, owner: u32, number: u64) {
        self.regions.remove(&(owner, number));
    }

    /// The region at `of`, if a peer may access `len` bytes of it in all ways of `access`.
    pub(crate) fn check(
        &self,
        of: RegionOffset,
        access: Access,
        len: u64,
    ) -> Result<&Buffer, Fault> {
        self.range(of, len)
            .filter(|(_, allowed)| allowed.contains(access))
            .map(|(bytes, _)| bytes)
            .ok_or(Fault::NOT_REGISTERED)
    }

    /// The region at `of`, if its owner may use `len` bytes of it.
    pub(crate) fn check_own(&self, of: RegionOffset, len: u64) -> Result<&Buffer, Fault> {
        self.range(of, len)
            .map(|(bytes, _)| bytes)
            .ok_or(Fault::Invalid("a range is within its region"))
    }

    fn range(&self, (owner, number, at): RegionOffset, len: u64) -> Option<&(Buffer, Access)> {
        let region = self.regions.get(&(owner, number))?;
        let end = at.checked_add(len)?;
        (end <= region.0.len()).then_some(region)
    }

    /// The region `number` of `owner`.
    pub(crate) fn get(&self, owner: u32, number: u64) -> Option<&Buffer> {
        self.regions.get(&(owner, number)).map(|(bytes, _)| bytes)
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
