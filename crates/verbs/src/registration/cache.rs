//! [`RegistrationCache`]: regions of the user's memory that stay registered after their use.

use super::device_regions::DeviceRegions;
use super::event_log::LogPosition;
use super::kept_memory::KeptMemory;
use super::notifier::MemoryNotifier;
use super::range_cache::{Planned, RangeCache, RegistrationCaps};
use crate::error::VerbsError;
use crate::objects::{Access, ProtectionDomain};
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
    /// Bytes that are registered now, counted for each device.
    pub bytes: u64,
}

/// Regions of the same memory, and the offset in them at which some bytes begin.
pub(crate) type Placed = (Arc<DeviceRegions>, usize);

/// Registrations that were used, and stay right whatever becomes of their memory.
#[derive(Debug)]
pub(crate) struct RegistrationCache {
    /// Of the devices that register it.
    domains: Vec<ProtectionDomain>,
    keeper: Keeper,
    ranges: RangeCache<DeviceRegions>,
    /// Those that no device writes, if it asks for pages: a page that the user has made read-only since is refused to a registration for
    /// writing, also when it is only read.
    unwritten: RangeCache<DeviceRegions>,
    counts: CacheCounts,
}

/// Who keeps registrations right.
#[derive(Debug)]
pub(crate) enum Keeper {
    /// The notifier tells what has gone; this is how far it was heard.
    Notifier(&'static MemoryNotifier, LogPosition),
    /// The devices, which ask for each page when they need it ([`Access::ON_DEMAND`]).
    Device,
    /// The owner of the memory, of whose count so much was seen.
    Owner(KeptMemory, u64),
}

impl Keeper {
    pub(crate) fn notifier(notifier: &'static MemoryNotifier) -> Self {
        Self::Notifier(notifier, notifier.end())
    }

    /// Drops what has gone by now. False: memory is changing just now.
    fn drop_gone(&mut self, ranges: &mut RangeCache<DeviceRegions>) -> bool {
        match self {
            Self::Notifier(notifier, position) => {
                notifier.read(position, |void| ranges.invalidate(&void))
            }
            Self::Device => true,
            Self::Owner(memory, seen) => {
                if memory.has_changed(seen) {
                    ranges.invalidate(&memory.addresses);
                }
                true
            }
        }
    }
}

impl RegistrationCache {
    /// A cache of regions of these domains, which together keep to the caps.
    pub(crate) fn new(
        domains: Vec<ProtectionDomain>,
        keeper: Keeper,
        caps: RegistrationCaps,
    ) -> Self {
        let caps = caps.of_each(domains.len());
        Self {
            domains,
            keeper,
            ranges: RangeCache::new(caps),
            unwritten: RangeCache::new(caps),
            counts: CacheCounts::default(),
        }
    }

    /// Whether `bytes`, which have no gaps, are what the owner of its memory keeps.
    pub(crate) fn is_of_owner(&self, bytes: &RawBytes) -> bool {
        matches!(&self.keeper, Keeper::Owner(memory, _) if memory.holds(bytes))
    }

    /// The registration of `bytes`, which have no gaps: found, or made. `None`: they are not cached.
    ///
    /// # Cost
    /// A system call if they are found; some, and every page is pinned for each device, if not. None, and no page, where the
    /// devices ask for pages.
    pub(crate) fn acquire(&mut self, bytes: RawBytes, access: Access) -> Option<Placed> {
        let start = bytes.start().expose_provenance() as u64;
        let pages = pages_of(start, bytes.len());
        let is_current = self.keeper.drop_gone(&mut self.ranges);
        let found = match pages {
            Some(pages) if is_current => self.find_or_register(&pages, access),
            _ => None,
        };
        match found {
            Some((first, regions)) => Some((regions, (start - first) as usize)),
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
    ) -> Option<(u64, Arc<DeviceRegions>)> {
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
        let (plan, regions) = [wide, exact].into_iter().find_map(|plan| {
            let regions = self.register(&plan)?;
            Some((plan, regions))
        })?;
        self.counts.misses += 1;
        let start = plan.range.start;
        Some((start, self.ranges_for(access).insert(plan, regions)))
    }

    /// The registrations among which one for `access` is.
    fn ranges_for(&mut self, access: Access) -> &mut RangeCache<DeviceRegions> {
        match self.keeper {
            Keeper::Device if !access.contains(Access::LOCAL_WRITE) => &mut self.unwritten,
            Keeper::Device | Keeper::Notifier(..) | Keeper::Owner(..) => &mut self.ranges,
        }
    }

    /// Watches and registers what was planned. Where no device has room, others go; a device without room beside one that has it
    /// is left out.
    fn register(&mut self, plan: &Planned) -> Option<DeviceRegions> {
        let access = match &self.keeper {
            Keeper::Notifier(notifier, _) => {
                // Watched first: an event of any later moment is in the log behind this cache's position.
                notifier.watch(plan.range.clone()).ok()?;
                plan.access
            }
            Keeper::Device => plan.access | Access::ON_DEMAND,
            Keeper::Owner(..) => plan.access,
        };
        let Self {
            domains,
            ranges,
            unwritten,
            ..
        } = self;
        let regions = DeviceRegions::new(domains, |domain, other| {
            loop {
                // SAFETY: the memory is watched, or its owner tells. When it goes, the range is not found any more; or the
                // device reaches what is mapped when it needs it. Whoever holds the region has the user's promise that his
                // bytes in it stay until he is finished.
                match unsafe { domain.register_range(plan.range.clone(), access) } {
                    Err(why) if other.is_none() && relieve([ranges, unwritten], &why) => {}
                    registered => return registered,
                }
            }
        });
        regions.ok()
    }

    /// Drops registrations of a range after a call has failed for want of room. False if none can be dropped, or this is not
    /// the reason.
    pub(crate) fn relieve(&mut self, why: &VerbsError) -> bool {
        relieve([&mut self.ranges, &mut self.unwritten], why)
    }

    pub(crate) fn counts(&self) -> CacheCounts {
        CacheCounts {
            bytes: (self.ranges.bytes() + self.unwritten.bytes()) * self.domains.len() as u64,
            ..self.counts
        }
    }
}

fn relieve(all: [&mut RangeCache<DeviceRegions>; 2], why: &VerbsError) -> bool {
    why.is_shortage() && all.into_iter().any(RangeCache::evict)
}

/// The pages of `len` bytes from `start` on.
fn pages_of(start: u64, len: u64) -> Option<Range<u64>> {
    let end = start.checked_add(len)?.checked_next_multiple_of(PAGE)?;
    Some(start / PAGE * PAGE..end)
}
