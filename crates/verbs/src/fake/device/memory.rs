//! Registered memory, and copies to and from it.

use super::WRITABLE;
use crate::ffi::IBV_ACCESS_ON_DEMAND;
use std::collections::BTreeMap;
use std::ops::Range;
use std::ptr;

/// Bytes as a request names them: by address, length and key.
#[derive(Clone, Copy)]
pub(in crate::fake) struct Span {
    pub(in crate::fake) address: u64,
    pub(in crate::fake) len: usize,
    pub(in crate::fake) key: u32,
}

/// All regions, by key: `lkey` and `rkey` of a region are one.
#[derive(Default)]
pub(in crate::fake) struct Memory {
    regions: BTreeMap<u32, Region>,
    last_key: u32,
    /// The first byte and the length of each region that there has been, in their order.
    history: Vec<(u64, usize)>,
    most_bytes: u64,
    /// Pages that the process may no more write.
    read_only: Vec<Range<u64>>,
}

struct Region {
    domain: usize,
    address: u64,
    len: usize,
    access: u32,
    /// Whether all of its pages are still at their addresses.
    is_current: bool,
}

/// Bytes of a registered region.
pub(super) struct Registered {
    start: *mut u8,
    len: usize,
}

impl Registered {
    pub(super) fn read(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.len];
        // SAFETY: only `Memory::find` makes these: the bytes are registered, so their owner keeps them.
        unsafe { ptr::copy_nonoverlapping(self.start, bytes.as_mut_ptr(), self.len) };
        bytes
    }

    pub(super) fn write(&self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.len);
        // SAFETY: as in `read`; they are registered for writing.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.start, self.len) };
    }
}

impl Memory {
    pub(super) fn len(&self) -> usize {
        self.regions.len()
    }

    pub(in crate::fake) fn bytes(&self) -> u64 {
        self.regions.values().map(|region| region.len as u64).sum()
    }

    /// The regions that there have been so far, by the first byte and the length.
    pub(in crate::fake) fn history(&self) -> &[(u64, usize)] {
        &self.history
    }

    /// The most bytes that were registered at a time.
    pub(in crate::fake) const fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    /// Registers memory; returns its key.
    pub(in crate::fake) fn register(
        &mut self,
        domain: usize,
        address: u64,
        len: usize,
        access: u32,
    ) -> u32 {
        self.last_key += 0x11;
        let region = Region {
            domain,
            address,
            len,
            access,
            is_current: true,
        };
        self.regions.insert(self.last_key, region);
        self.history.push((address, len));
        self.most_bytes = self.most_bytes.max(self.bytes());
        self.last_key
    }

    pub(in crate::fake) fn deregister(&mut self, key: u32) {
        self.regions.remove(&key);
    }

    /// Notes that memory has gone from its addresses: regions that have some are refused from now on, unless their pages are
    /// asked for on demand.
    pub(in crate::fake) fn forget(&mut self, gone: Range<u64>) {
        for region in self.regions.values_mut() {
            if region.access & IBV_ACCESS_ON_DEMAND != 0 {
                continue;
            }
            let end = region.address + region.len as u64;
            region.is_current &= end <= gone.start || gone.end <= region.address || gone.is_empty();
        }
    }

    /// Notes that the process may no more write these pages. A device that asks for them does so for all that the region is for.
    pub(in crate::fake) fn protect(&mut self, pages: Range<u64>) {
        self.read_only.push(pages);
    }

    /// Whether the device gets the pages of `span` for all that a region is for.
    fn gets_pages(&self, region: &Region, span: &Span) -> bool {
        let end = span.address + span.len as u64;
        let is_in = |pages: &Range<u64>| span.address < pages.end && pages.start < end;
        region.access & IBV_ACCESS_ON_DEMAND == 0
            || region.access & WRITABLE == 0
            || !self.read_only.iter().any(is_in)
    }

    /// The bytes of `span`, if they are registered in `domain` for all of `access`.
    pub(super) fn find(&self, domain: usize, span: &Span, access: u32) -> Option<Registered> {
        let region = self.regions.get(&span.key)?;
        let at = span.address.checked_sub(region.address)?;
        let end = at.checked_add(span.len as u64)?;
        let allowed = region.domain == domain
            && region.access & access == access
            && region.is_current
            && self.gets_pages(region, span);
        (allowed && end <= region.len as u64).then(|| Registered {
            start: ptr::with_exposed_provenance_mut(span.address as usize),
            len: span.len,
        })
    }

    /// Writes `bytes` to spans of `domain`, one after the other.
    pub(super) fn scatter(&self, domain: usize, to: &[Span], mut bytes: &[u8]) -> Result<(), ()> {
        for span in to {
            let len = bytes.len().min(span.len);
            let (now, later) = bytes.split_at(len);
            let place = self
                .find(domain, &Span { len, ..*span }, WRITABLE)
                .ok_or(())?;
            place.write(now);
            bytes = later;
        }
        if bytes.is_empty() { Ok(()) } else { Err(()) }
    }
}
