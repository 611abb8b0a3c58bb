//! Size and pages of the heap's areas, by the settings and the limits of the machine: [`HeapPlan`].

use std::fmt;

use oxmpi_os::huge::{self, Shmem};
use oxmpi_os::limit::{self, AvailableMemory};

use super::UNIT;

/// Greatest size of all areas of a node, in bytes: an eighth of the addresses of four-level page tables.
const MOST: u64 = 1 << 44;

/// The preferred size of an area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeapSize {
    /// Half of the memory that is left.
    #[default]
    Auto,
    /// So many bytes; 0: no area.
    Bytes(u64),
}

/// The preferred pages of the areas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PagePreference {
    /// Huge pages, where the kernel grants them on request.
    #[default]
    Auto,
    /// Huge pages that the administrator has set aside.
    Pool,
    /// Small pages.
    Small,
}

/// The user's preference: the settings `shm_heap` and `shm_heap_pages`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapPreference {
    /// Size of an area.
    pub size: HeapSize,
    /// The pages.
    pub pages: PagePreference,
}

/// What the machine and the limits of this process allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeapLimits {
    /// The memory that is left.
    pub memory: Option<AvailableMemory>,
    /// Bytes that a file may have.
    pub file: Option<AvailableMemory>,
    /// The addresses that are left.
    pub addresses: Option<AvailableMemory>,
    /// When memfd memory gets huge pages.
    pub shmem: Shmem,
    /// Bytes of huge pages set aside.
    pub pool: u64,
}

impl HeapLimits {
    /// The limits of this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        Self {
            memory: limit::available(),
            file: limit::file_size(),
            addresses: limit::address_space(),
            shmem: Shmem::of_machine(),
            pool: huge::pool(),
        }
    }
}

/// The pages of the areas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// Huge pages that are set aside.
    Pool,
    /// Huge pages, if the kernel grants them.
    Asked,
    /// Small pages.
    Small,
}

impl PageKind {
    pub(crate) const ALL: [Self; 3] = [Self::Pool, Self::Asked, Self::Small];
}

/// The reason of a plan's size or pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanReason {
    /// The preference.
    Preference,
    /// Half of the memory that is left.
    Half(AvailableMemory),
    /// This limit allows no more.
    Limit(AvailableMemory),
    /// The addresses that all areas of a node may take together.
    Ranks,
    /// The huge pages set aside, in bytes.
    Pool(u64),
    /// What the kernel grants.
    Shmem(Shmem),
}

impl fmt::Display for PlanReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preference => f.write_str("as set"),
            Self::Half(of) => write!(f, "half of {} MiB {}", of.bytes >> 20, of.source),
            Self::Limit(of) => write!(f, "{} MiB {}", of.bytes >> 20, of.source),
            Self::Ranks => write!(f, "all areas of a node have {} TiB together", MOST >> 40),
            Self::Pool(bytes) => write!(f, "{} MiB of huge pages are set aside", bytes >> 20),
            Self::Shmem(says) => write!(f, "{} says `{says}`", huge::SHMEM_ENABLED),
        }
    }
}

/// Size and pages of the areas of a node, and the reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeapPlan {
    /// Bytes of one rank's area, a multiple of [`UNIT`]; 0: there is no area, and allocations are private
    /// memory.
    pub area: u64,
    /// The reason of the size.
    pub why_area: PlanReason,
    /// The pages.
    pub pages: PageKind,
    /// The reason of the pages.
    pub why_pages: PlanReason,
}

impl HeapPlan {
    /// The areas of `ranks` ranks: as preferred, but silently never more than allowed.
    #[must_use]
    pub fn new(ranks: u32, preference: HeapPreference, facts: &HeapLimits) -> Self {
        let ranks = u64::from(ranks.max(1));
        let (pages, why_pages) = match preference.pages {
            PagePreference::Small => (PageKind::Small, PlanReason::Preference),
            PagePreference::Pool if facts.pool >= ranks * UNIT => {
                (PageKind::Pool, PlanReason::Preference)
            }
            PagePreference::Pool => (requested(facts.shmem), PlanReason::Pool(facts.pool)),
            PagePreference::Auto => (requested(facts.shmem), PlanReason::Shmem(facts.shmem)),
        };
        let (mut area, mut why_area) = match (preference.size, &facts.memory) {
            (HeapSize::Bytes(bytes), _) => {
                (bytes.checked_next_multiple_of(UNIT), PlanReason::Preference)
            }
            (HeapSize::Auto, Some(memory)) => {
                (Some(memory.bytes / 2), PlanReason::Half(memory.clone()))
            }
            (HeapSize::Auto, None) => (None, PlanReason::Ranks),
        };
        let mut bound = |total: u64, why: PlanReason| {
            let most = total / ranks;
            if area.is_none_or(|area| area > most) {
                (area, why_area) = (Some(most), why);
            }
        };
        bound(MOST, PlanReason::Ranks);
        if let Some(file) = &facts.file {
            bound(file.bytes, PlanReason::Limit(file.clone()));
        }
        if let Some(addresses) = &facts.addresses {
            // The rings, the program and its libraries need addresses, too.
            bound(addresses.bytes / 4, PlanReason::Limit(addresses.clone()));
        }
        if pages == PageKind::Pool {
            bound(facts.pool, PlanReason::Pool(facts.pool));
        }
        let area = area.unwrap_or(0);
        Self {
            area: area - area % UNIT,
            why_area,
            pages,
            why_pages,
        }
    }
}

/// The pages of an area for which huge pages are requested.
const fn requested(shmem: Shmem) -> PageKind {
    if shmem.follows() {
        PageKind::Asked
    } else {
        PageKind::Small
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use oxmpi_os::limit::LimitSource;
    use proptest::prelude::*;

    use super::*;

    const GIB: u64 = 1 << 30;

    const fn limit(bytes: u64, source: LimitSource) -> Option<AvailableMemory> {
        Some(AvailableMemory { bytes, source })
    }

    /// A machine with 64 GiB left, and no limits.
    fn machine() -> HeapLimits {
        HeapLimits {
            memory: limit(64 * GIB, LimitSource::Machine),
            file: None,
            addresses: None,
            shmem: Shmem::Never,
            pool: 0,
        }
    }

    fn pages(pages: PagePreference) -> HeapPreference {
        HeapPreference {
            pages,
            ..HeapPreference::default()
        }
    }

    fn size(bytes: u64) -> HeapPreference {
        HeapPreference {
            size: HeapSize::Bytes(bytes),
            ..HeapPreference::default()
        }
    }

    #[test]
    fn an_area_has_half_of_the_memory_or_the_preferred_size_in_whole_units() {
        let plan = HeapPlan::new(8, HeapPreference::default(), &machine());
        assert_eq!(plan.area, 32 * GIB);
        assert_eq!(
            plan.why_area.to_string(),
            "half of 65536 MiB left on this machine (MemAvailable)"
        );
        for (preferred, area) in [(0, 0), (1, UNIT), (UNIT, UNIT), (UNIT + 1, 2 * UNIT)] {
            let plan = HeapPlan::new(8, size(preferred), &machine());
            assert_eq!((plan.area, plan.why_area), (area, PlanReason::Preference));
        }
    }

    #[test]
    fn limits_make_areas_smaller_or_none() {
        let facts = HeapLimits {
            file: limit(GIB, LimitSource::FileSize),
            ..machine()
        };
        let plan = HeapPlan::new(4, HeapPreference::default(), &facts);
        assert_eq!(plan.area, GIB / 4, "one file holds all areas");
        assert_eq!(
            plan.why_area.to_string(),
            "1024 MiB allowed in a file (RLIMIT_FSIZE, `ulimit -f`)"
        );
        assert_eq!(
            HeapPlan::new(1024, HeapPreference::default(), &facts).area,
            0
        );

        let facts = HeapLimits {
            addresses: limit(GIB, LimitSource::AddressSpace),
            ..machine()
        };
        let plan = HeapPlan::new(4, size(GIB), &facts);
        assert_eq!(plan.area, GIB / 16, "a quarter of the addresses");
        assert!(matches!(plan.why_area, PlanReason::Limit(_)));

        let plan = HeapPlan::new(1024, size(u64::MAX), &machine());
        assert_eq!((plan.area, plan.why_area), (MOST / 1024, PlanReason::Ranks));
    }

    #[test]
    fn huge_pages_where_the_kernel_grants_them_else_small_ones() {
        for (shmem, gives) in [
            (Shmem::Always, PageKind::Asked),
            (Shmem::WithinSize, PageKind::Asked),
            (Shmem::Advise, PageKind::Asked),
            (Shmem::Force, PageKind::Asked),
            (Shmem::Never, PageKind::Small),
            (Shmem::Deny, PageKind::Small),
            (Shmem::Unknown, PageKind::Small),
        ] {
            // The pool lacks a page for each rank.
            let pool = UNIT;
            let facts = HeapLimits {
                shmem,
                pool,
                ..machine()
            };
            let granted = PlanReason::Shmem(shmem);
            assert!(granted.to_string().contains(&shmem.to_string()));
            for (preferred, kind, why) in [
                (PagePreference::Auto, gives, granted),
                (
                    PagePreference::Small,
                    PageKind::Small,
                    PlanReason::Preference,
                ),
                (PagePreference::Pool, gives, PlanReason::Pool(UNIT)),
            ] {
                let plan = HeapPlan::new(2, pages(preferred), &facts);
                assert_eq!((plan.pages, plan.why_pages), (kind, why), "{preferred:?}");
            }
        }
        let facts = HeapLimits {
            pool: 9 * UNIT,
            ..machine()
        };
        let plan = HeapPlan::new(4, pages(PagePreference::Pool), &facts);
        assert_eq!((plan.pages, plan.area), (PageKind::Pool, 2 * UNIT));
        assert_eq!(plan.why_area, PlanReason::Pool(9 * UNIT));
    }

    proptest! {
        /// Whatever is preferred, all areas together stay within every limit.
        #[test]
        fn never_more_than_allowed(
            ranks in 0..100_000u32,
            bytes in proptest::option::of(any::<u64>()),
            memory in proptest::option::of(any::<u64>()),
            file in proptest::option::of(any::<u64>()),
            addresses in proptest::option::of(any::<u64>()),
            pool in any::<u64>(),
            preference in prop_oneof![
                Just(PagePreference::Auto), Just(PagePreference::Pool), Just(PagePreference::Small)
            ],
        ) {
            let available = |bytes: u64| AvailableMemory { bytes, source: LimitSource::Machine };
            let facts = HeapLimits {
                memory: memory.map(available),
                file: file.map(available),
                addresses: addresses.map(available),
                shmem: Shmem::Advise,
                pool,
            };
            let preference = HeapPreference { size: bytes.map_or(HeapSize::Auto, HeapSize::Bytes), pages: preference };
            let plan = HeapPlan::new(ranks, preference, &facts);
            prop_assert!(plan.area.is_multiple_of(UNIT));
            let all = u128::from(plan.area) * u128::from(ranks.max(1));
            let within = |limit: Option<u64>| limit.is_none_or(|limit| all <= limit.into());
            prop_assert!(within(Some(MOST)) && within(file) && within(addresses));
            prop_assert!(plan.pages != PageKind::Pool || within(Some(pool)));
        }
    }
}
