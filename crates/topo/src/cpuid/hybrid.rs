//! The types of cores of hybrid processors: leaf 1Ah of Intel, 80000026h of AMD.

use super::Cpuid;
use super::processor::{Processor, VendorManual};

/// The type of a core. On one machine, the later variant is the faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CoreType {
    /// Intel's small core, for many threads at little power.
    Atom,
    /// Intel's large core, for speed.
    Core,
    /// AMD's small core.
    Efficiency,
    /// AMD's large core.
    Performance,
}

impl CoreType {
    /// The name in hwloc (Intel's types) or Linux (AMD's types).
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Atom => "IntelAtom",
            Self::Core => "IntelCore",
            Self::Efficiency => "efficiency",
            Self::Performance => "performance",
        }
    }
}

/// The type of this core, if the processor reports that it is hybrid.
pub(super) fn core_type(processor: &Processor<'_, impl Cpuid>) -> Option<CoreType> {
    match processor.manual {
        VendorManual::Intel => {
            let features = processor.leaf(7)?;
            let leaf = processor.leaf(0x1a)?;
            match (features.edx >> 15 & 1, leaf.eax >> 24) {
                (1, 0x20) => Some(CoreType::Atom),
                (1, 0x40) => Some(CoreType::Core),
                _ => None,
            }
        }
        VendorManual::Amd => {
            let core = processor.leaf(0x8000_0026)?;
            match (core.eax >> 30 & 1, core.ebx >> 28) {
                (1, 0) => Some(CoreType::Performance),
                (1, 1) => Some(CoreType::Efficiency),
                _ => None,
            }
        }
    }
}
