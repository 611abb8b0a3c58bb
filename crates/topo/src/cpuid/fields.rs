//! The fields of a processor's APIC id, and which of them decide the sharing of its caches.

use crate::facts::Cache;
use crate::kind::Kind;
use alloc::vec::Vec;

/// A kind of part of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) kind: Kind,
    /// The subtype of a group.
    pub(super) subtype: Option<&'static str>,
}

impl Part {
    pub(super) const CORE: Self = Self {
        kind: Kind::Core,
        subtype: None,
    };
    pub(super) const DIE: Self = Self {
        kind: Kind::Die,
        subtype: None,
    };

    pub(super) const fn group(subtype: &'static str) -> Self {
        Self {
            kind: Kind::Group,
            subtype: Some(subtype),
        }
    }
}

/// A field boundary: the bits of an APIC id from `shift` up number objects of this part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) part: Part,
    pub(super) shift: u32,
}

/// The rule by which processors share a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// Their APIC ids have the same bits from this one up.
    Aligned(u32),
    /// Their APIC ids count up without gaps inside the package, this many to a cache.
    Packed(u32),
}

/// A cache as one of its processors reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shared {
    pub(super) kind: Kind,
    pub(super) cache: Cache,
    pub(super) sharing: Sharing,
}

/// The number of enabled processors inside an object whose number begins at bit `shift` of the APIC id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) shift: u32,
    pub(super) processors: u32,
}

/// The fields of an APIC id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The first bit of the package's number.
    pub(super) package: u32,
    pub(super) levels: Vec<Level>,
    /// From the innermost to the package.
    pub(super) counts: Vec<Count>,
    pub(super) caches: Vec<Shared>,
}

impl Layout {
    /// The bits of an APIC id that number the package.
    pub(super) fn package_of(&self, apic: u32) -> u32 {
        upper(apic, self.package)
    }

    /// The bits that number the processors of one package.
    pub(super) fn inside(&self, apic: u32) -> u32 {
        lower(apic, self.package)
    }

    /// The bits that number the threads of one core.
    pub(super) fn thread_of(&self, apic: u32) -> Option<u32> {
        let core = self.levels.iter().find(|level| level.part == Part::CORE)?;
        Some(lower(self.inside(apic), core.shift))
    }
}

/// The bits of `id` below `shift`.
fn lower(id: u32, shift: u32) -> u32 {
    id & !(u32::MAX.checked_shl(shift).unwrap_or(0))
}

/// The bits of `id` from `shift` up.
pub(super) fn upper(id: u32, shift: u32) -> u32 {
    id.checked_shr(shift).unwrap_or(0)
}

/// The number of bits of numbers below `count`.
pub(super) fn width(count: u32) -> u32 {
    u32::BITS - count.saturating_sub(1).leading_zeros()
}
