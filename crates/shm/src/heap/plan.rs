//! How large the areas are and of which pages: what is wished, and what the machine allows.

use std::fmt;

use oxmpi_os::huge::{self, Shmem};
use oxmpi_os::limit::{self, Available};

use super::UNIT;

/// Most bytes that the areas of a node have together: an eighth of what a process of four-level
/// page tables can address.
const MOST: u64 = 1 << 44;

/// How large an area is wished to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// Half of the memory that is left.
    #[default]
    Auto,
    /// So many bytes; 0: no area.
    Bytes(u64),
}

/// Of which pages the areas are wished to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PagesWish {
    /// Huge ones, where the kernel gives them to who asks.
    #[default]
    Auto,
    /// Huge ones that the administrator has set aside.
    Pool,
    /// Small ones.
    Small,
}

/// What is wished: the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// How large an area.
    pub size: Size,
    /// Of which pages.
    pub pages: PagesWish,
}

/// What the machine and the limits of this process allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The memory that is left.
    pub memory: Option<Available>,
    /// The largest file.
    pub file: Option<Available>,
    /// The addresses that are left.
    pub addresses: Option<Available>,
    /// When memfd memory gets huge pages.
    pub shmem: Shmem,
    /// Bytes of huge pages set aside.
    pub pool: u64,
}

impl Facts {
    /// Those of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self {
            memory: limit::available(),
            file: limit::file_size(),
            addresses: limit::address_space(),
            shmem: Shmem::of_machine(),
            pool: huge::pool(),
        }
    }
}

/// Of which pages the areas are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Huge ones that are set aside.
    Pool,
    /// Huge ones by the kernel's grace.
    Asked,
    /// Small ones.
    Small,
}

impl Pages {
    pub(crate) const ALL: [Self; 3] = [Self::Pool, Self::Asked, Self::Small];
}

/// Why something is as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// As was wished.
    Wished,
    /// Half of the memory that is left.
    Half(Available),
    /// This limit leaves no more.
    Limit(Available),
    /// The addresses that all areas of a node may take.
    Ranks,
    /// The huge pages set aside: so many bytes.
    Pool(u64),
    /// What the kernel gives.
    Shmem(Shmem),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wished => f.write_str("as set"),
            Self::Half(of) => write!(f, "half of {} MiB {}", of.bytes >> 20, of.source),
            Self::Limit(of) => write!(f, "{} MiB {}", of.bytes >> 20, of.source),
            Self::Ranks => write!(f, "all areas of a node have {} TiB", MOST >> 40),
            Self::Pool(bytes) => write!(f, "{} MiB of huge pages are set aside", bytes >> 20),
            Self::Shmem(says) => write!(f, "{} says `{says}`", huge::SHMEM_ENABLED),
        }
    }
}

/// What the areas of a node are, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Bytes of one rank's area, a multiple of [`UNIT`]; 0: there is none, and what is allocated is
    /// private memory.
    pub area: u64,
    /// Why so many.
    pub why_area: Why,
    /// Of which pages.
    pub pages: Pages,
    /// Why of those.
    pub why_pages: Why,
}

impl Plan {
    /// The areas of `ranks` ranks, by what is wished and allowed: never more than allowed, and
    /// silently less.
    #[must_use]
    pub fn new(ranks: u32, wish: Wish, facts: &Facts) -> Self {
        let ranks = u64::from(ranks.max(1));
        let (pages, why_pages) = match wish.pages {
            PagesWish::Small => (Pages::Small, Why::Wished),
            PagesWish::Pool if facts.pool >= ranks * UNIT => (Pages::Pool, Why::Wished),
            PagesWish::Pool => (grace(facts.shmem), Why::Pool(facts.pool)),
            PagesWish::Auto => (grace(facts.shmem), Why::Shmem(facts.shmem)),
        };
        let (mut area, mut why_area) = match (wish.size, &facts.memory) {
            (Size::Bytes(bytes), _) => (bytes.checked_next_multiple_of(UNIT), Why::Wished),
            (Size::Auto, Some(memory)) => (Some(memory.bytes / 2), Why::Half(memory.clone())),
            (Size::Auto, None) => (None, Why::Ranks),
        };
        let mut bound = |together: u64, why: Why| {
            let most = together / ranks;
            if area.is_none_or(|area| area > most) {
                (area, why_area) = (Some(most), why);
            }
        };
        bound(MOST, Why::Ranks);
        if let Some(file) = &facts.file {
            bound(file.bytes, Why::Limit(file.clone()));
        }
        if let Some(addresses) = &facts.addresses {
            // The rings, the program and its libraries need addresses too.
            bound(addresses.bytes / 4, Why::Limit(addresses.clone()));
        }
        if pages == Pages::Pool {
            bound(facts.pool, Why::Pool(facts.pool));
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

/// What who asks for huge pages gets.
const fn grace(shmem: Shmem) -> Pages {
    if shmem.follows() {
        Pages::Asked
    } else {
        Pages::Small
    }
}
