//! The types of cores of hybrid processors, leaf 1Ah.

use super::Cpuid;
use super::processor::{Manual, Processor};

/// What a core is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CoreType {
    /// A small core, for many threads at little power.
    Atom,
    /// A large core, for speed.
    Core,
}

impl CoreType {
    /// The name that hwloc and Linux have for it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Atom => "IntelAtom",
            Self::Core => "IntelCore",
        }
    }
}

/// The type of this core, if the processor says that it has several (leaf 7, edx, bit 15).
pub(super) fn core_type(processor: &Processor<'_, impl Cpuid>) -> Option<CoreType> {
    let features = processor.leaf(7)?;
    let hybrid = processor.manual == Manual::Intel && features.edx >> 15 & 1 == 1;
    let leaf = processor.leaf(0x1a).filter(|_| hybrid)?;
    match leaf.eax >> 24 {
        0x20 => Some(CoreType::Atom),
        0x40 => Some(CoreType::Core),
        _ => None,
    }
}
