//! The levels of a machine that Open MPI's options name, from hardware threads to NUMA nodes.

use alloc::vec::Vec;
use core::fmt;

use oxmpi_topo::{CpuSet, Kind, Machine};

use crate::intel::Shape;
use crate::processors::Processors;

/// A level of a machine, from small to large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// `hwthread`: one processor.
    HwThread,
    /// `core`.
    Core,
    /// `l1cache`: the processors that share a first-level cache.
    L1Cache,
    /// `l2cache`.
    L2Cache,
    /// `l3cache`.
    L3Cache,
    /// `socket`, since Open MPI 5 also `package`.
    Socket,
    /// `numa`: one NUMA node.
    Numa,
}

impl Level {
    /// The words of options and their levels; the first word of a level is the one that is printed.
    pub(super) const WORDS: [(&'static str, Self); 8] = [
        ("hwthread", Self::HwThread),
        ("core", Self::Core),
        ("l1cache", Self::L1Cache),
        ("l2cache", Self::L2Cache),
        ("l3cache", Self::L3Cache),
        ("socket", Self::Socket),
        ("package", Self::Socket),
        ("numa", Self::Numa),
    ];

    /// The level that a word names, in its exact spelling.
    pub(super) fn of(word: &str) -> Option<Self> {
        let found = Self::WORDS.iter().find(|(other, _)| *other == word);
        found.map(|(_, level)| *level)
    }

    /// Whether the level is a cache.
    pub(super) fn is_cache(self) -> bool {
        matches!(self, Self::L1Cache | Self::L2Cache | Self::L3Cache)
    }

    /// This level, or `core` on a machine without information on such caches.
    pub(super) fn on(self, machine: &Machine) -> Self {
        let kind = match self {
            Self::L1Cache => Kind::L1,
            Self::L2Cache => Kind::L2,
            Self::L3Cache => Kind::L3,
            _ => return self,
        };
        match machine.objects(kind).next() {
            Some(_) => self,
            None => Self::Core,
        }
    }

    /// The processors of each part of this level, in the order of the machine.
    pub(super) fn parts(self, processors: &Processors) -> Vec<CpuSet> {
        let shape = match self {
            Self::HwThread => {
                return processors
                    .compact
                    .iter()
                    .map(|cpu| CpuSet::one(*cpu))
                    .collect();
            }
            Self::Core => Shape::Core,
            Self::L1Cache => Shape::Cache(1),
            Self::L2Cache => Shape::Cache(2),
            Self::L3Cache => Shape::Cache(3),
            Self::Socket => Shape::Socket,
            Self::Numa => Shape::Numa,
        };
        processors.parts(shape, false)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = Self::WORDS.iter().find(|(_, level)| level == self);
        f.write_str(found.map_or("", |(word, _)| word))
    }
}
