//! [`RegistrationCache`]: regions of the user's memory that stay registered after their use.

use super::event_log::LogPosition;
use super::notifier::MemoryNotifier;
use super::range_cache::{Planned, RangeCache, RegistrationCaps};
use crate::error::VerbsError;
use crate::objects::{Access, MemoryRegion, ProtectionDomain};
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// Registrations are for whole pages, of the smallest size: those of huge pages consist of them.
const PAGE: u64 = 4096;

/// How often memory was found registered, and how much is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// Look-ups that found a registration.
    pub hits: u64,
    /// Look-ups after which memory was registered, and stays so.
    pub misses: u64,
    /// Look-ups of memory that is not cached: it cannot be watched, the caps leave no room, or it was changing.
    pub uncached: u64,
    /// Bytes that are registered now.
    pub bytes: u64,
}

/// A region and the offset in it at which some bytes begin.
pub(crate) type Placed = (Arc<MemoryRegion>, usize);

/// Registrations that were used, and stay right whatever becomes of their memory.
#[derive(Debug)]
pub(crate) struct RegistrationCache {
    domain: ProtectionDomain,
    keeper: Keeper,
    ranges: RangeCache<MemoryRegion>,
    /// Those that no device writes, if it asks for pages: a page that the user has made read-only since is refused to a registration for
    /// writing, also when it is only read.
    unwritten: RangeCache<MemoryRegion>,
    counts: CacheCounts,
}

/// Who keeps registrations right.
#[derive(Debug)]
pub(crate) enum Keeper {
    /// The notifier tells what has gone; this is how far it was heard.
    Notifier(&'static MemoryNotifier, LogPosition),
    /// The device, which asks for each page when it needs it ([`Access::ON_DEMAND`]).
    Device,
}

impl Keeper {
    pub(crate) fn notifier(notifier: &'static MemoryNotifier) -> Self {
        Self::Notifier(notifier, notifier.end())
    }

    /// Drops what has gone by now. False: memory is changing just now.
    fn drop_gone(&mut self, ranges: &mut RangeCache<MemoryRegion>) -> bool {
        match self {
            Self::Notifier(notifier, position) => {
                notifier.read(position, |void| ranges.invalidate(&void))
            }
            Self::Device => true,
        }
    }
}

impl RegistrationCache {
    pub(crate) fn new(domain: ProtectionDomain, keeper: Keeper, caps: RegistrationCaps) -> Self {
        Self {
            domain,
            keeper,
            ranges: RangeCache::new(caps),
            unwritten: RangeCache::new(caps),
            counts: CacheCounts::default(),
        }
    }

    /// The registration of `bytes`, which have no gaps: found, or made. `None`: they are not cached.
    ///
    /// # Cost
    /// A system call if they are found; some, and every page is pinned, if not. None, and no page, where the device asks for
    /// pages.
    pub(crate) fn acquire(&mut self, bytes: RawBytes, access: Access) -> Option<Placed> {
        let start = bytes.start().expose_provenance() as u64;
        let pages = pages_of(start, bytes.len());
        let is_current = self.keeper.drop_gone(&mut self.ranges);
        let found = match pages {
            Some(pages) if is_current => self.find_or_register(&pages, access),
            _ => None,
        };
        match found {
            Some((first, region)) => Some((region, (start - first) as usize)),
            None => {
                self.counts.uncached += 1;
                None
            }
        }
    }

    fn find_or_register(
        &mut self,
        pages: &Range<u64>,
        access: Access,
    ) -> Option<(u64, Arc<MemoryRegion>)> {
        let ranges = self.ranges_for(access);
        if let Some(found) = ranges.find(pages, access) {
            self.counts.hits += 1;
            return Some(found);
        }
        let wide = ranges.plan(pages, access).ok()?;
        let exact = Planned {
            range: pages.clone(),
            access,
        };
        // The ranges that this one overlaps may be partly gone by now, or be for reading only.
        let (plan, region) = [wide, exact].into_iter().find_map(|plan| {
            let region = self.register(&plan)?;
            Some((plan, region))
        })?;
        self.counts.misses += 1;
        let start = plan.range.start;
        Some((start, self.ranges_for(access).insert(plan, region)))
    }

    /// The registrations among which one for `access` is.
    fn ranges_for(&mut self, access: Access) -> &mut RangeCache<MemoryRegion> {
        match self.keeper {
            Keeper::Device if !access.contains(Access::LOCAL_WRITE) => &mut self.unwritten,
            Keeper::Device | Keeper::Notifier(..) => &mut self.ranges,
        }
    }

    /// Watches and registers what was planned. Where the device has no room, others go.
    fn register(&mut self, plan: &Planned) -> Option<MemoryRegion> {
        let access = match &self.keeper {
            Keeper::Notifier(notifier, _) => {
                // Watched first: an event of any later moment is in the log behind this cache's position.
                notifier.watch(plan.range.clone()).ok()?;
                plan.access
            }
            Keeper::Device => plan.access | Access::ON_DEMAND,
        };
        loop {
            // SAFETY: the memory is watched. When it goes, the range is not found any more; or the device reaches what is
            // mapped when it needs it. Whoever holds the region has the user's promise that his bytes in it stay until
            // he is finished.
            match unsafe { self.domain.register_range(plan.range.clone(), access) } {
                Ok(region) => return Some(region),
                Err(why) if !self.relieve(&why) => return None,
                Err(_) => {}
            }
        }
    }

    /// Drops a registration after a call has failed for want of room. False if none can be dropped, or this is not
    /// the reason.
    pub(crate) fn relieve(&mut self, why: &VerbsError) -> bool {
        why.is_shortage() && (self.ranges.evict() || self.unwritten.evict())
    }

    pub(crate) const fn counts(&self) -> CacheCounts {
        CacheCounts {
            bytes: self.ranges.bytes() + self.unwritten.bytes(),
            ..self.counts
        }
    }
}

/// The pages of `len` bytes from `start` on.
fn pages_of(start: u64, len: u64) -> Option<Range<u64>> {
    let end = start.checked_add(len)?.checked_next_multiple_of(PAGE)?;
    Some(start / PAGE * PAGE..end)
}
