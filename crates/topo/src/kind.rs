//! [`Kind`]: the kinds of objects of a machine, with the names of hwloc and lstopo.

use core::fmt;
use core::str::FromStr;

/// A kind of object, from the machine down to one processor.
///
/// The order is that of nesting: of two objects with the same processors, the smaller kind contains the
/// larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The whole machine: one for each tree, its root.
    Machine,
    /// A group of objects without a kind of its own, for example the processors of a NUMA node that are
    /// neither a package nor those of a cache.
    Group,
    /// A processor package, the content of one socket.
    Package,
    /// One of several dies in a package.
    Die,
    /// Memory that its processors reach at equal cost. NUMA nodes are not part of the nesting: each is
    /// attached to the object with the same processors, see [`Object::memory`](crate::Object::memory).
    Numa,
    /// Cache of level 5, for data or unified.
    L5,
    /// Cache of level 4, for data or unified.
    L4,
    /// Cache of level 3, for data or unified.
    L3,
    /// Instruction cache of level 3.
    L3i,
    /// Cache of level 2, for data or unified.
    L2,
    /// Instruction cache of level 2.
    L2i,
    /// Cache of level 1, for data or unified.
    L1,
    /// Instruction cache of level 1.
    L1i,
    /// A core: the execution units that its hardware threads share.
    Core,
    /// Processing unit: a hardware thread, which the operating system calls a processor.
    Pu,
}

/// The name in lstopo, and other words for it in settings and synthetic strings.
type Names = (Kind, &'static str, &'static [&'static str]);

const NAMES: [Names; Kind::COUNT] = [
    (Kind::Machine, "Machine", &["machine"]),
    (Kind::Group, "Group", &["group"]),
    (Kind::Package, "Package", &["package", "socket"]),
    (Kind::Die, "Die", &["die"]),
    (Kind::Numa, "NUMANode", &["numanode", "node"]),
    (Kind::L5, "L5Cache", &["l5cache", "l5dcache", "l5ucache"]),
    (Kind::L4, "L4Cache", &["l4cache", "l4dcache", "l4ucache"]),
    (Kind::L3, "L3Cache", &["l3cache", "l3dcache", "l3ucache"]),
    (Kind::L3i, "L3iCache", &["l3icache"]),
    (Kind::L2, "L2Cache", &["l2cache", "l2dcache", "l2ucache"]),
    (Kind::L2i, "L2iCache", &["l2icache"]),
    (Kind::L1, "L1Cache", &["l1cache", "l1dcache", "l1ucache"]),
    (Kind::L1i, "L1iCache", &["l1icache"]),
    (Kind::Core, "Core", &["core"]),
    (Kind::Pu, "PU", &["pu"]),
];

impl Kind {
    /// The number of kinds.
    pub(crate) const COUNT: usize = 15;

    /// Every kind, from the outermost to the innermost.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|names| names.0)
    }

    /// The name that lstopo shows, such as `Package`, `NUMANode`, `L1iCache` or `PU`.
    pub fn name(self) -> &'static str {
        NAMES[self as usize].1
    }

    /// The kind of a cache of this level: for instructions, or for data and unified; `None` if there is no
    /// such kind.
    pub fn cache(level: u32, instructions: bool) -> Option<Self> {
        Self::all().find(|kind| {
            kind.cache_level() == Some(level) && kind.holds_instructions_only() == instructions
        })
    }

    /// The level of a cache, 1 next to the core; `None` for other kinds.
    pub fn cache_level(self) -> Option<u32> {
        match self {
            Self::L1 | Self::L1i => Some(1),
            Self::L2 | Self::L2i => Some(2),
            Self::L3 | Self::L3i => Some(3),
            Self::L4 => Some(4),
            Self::L5 => Some(5),
            _ => None,
        }
    }

    /// Whether the kind is a cache.
    pub fn is_cache(self) -> bool {
        self.cache_level().is_some()
    }

    /// Whether the kind is an instruction cache.
    pub fn holds_instructions_only(self) -> bool {
        matches!(self, Self::L1i | Self::L2i | Self::L3i)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A word that is not the name of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownKind;

impl fmt::Display for UnknownKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown kind of object; known are ")?;
        Kind::all()
            .enumerate()
            .try_for_each(|(i, kind)| write!(f, "{}{kind}", if i == 0 { "" } else { ", " }))
    }
}

impl core::error::Error for UnknownKind {}

/// Parses a name as hwloc does: in any case, `Socket` for `Package` and `Node` for `NUMANode`, and
/// abbreviated to two letters or more (`pack`, `numa`, `l2`).
impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        let begins = |word: &&str| {
            word.get(..text.len())
                .is_some_and(|begin| begin.eq_ignore_ascii_case(text))
        };
        let known = |(kind, _, words): &Names| words.iter().any(begins).then_some(*kind);
        if text.len() < 2 {
            Err(UnknownKind)
        } else {
            NAMES.iter().find_map(known).ok_or(UnknownKind)
        }
    }
}
