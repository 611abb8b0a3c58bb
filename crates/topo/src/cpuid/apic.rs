//! The fields of an 8-bit APIC id, from leaves 1 and 4: the most processors and cores of a package.

use super::Cpuid;
use super::fields::{Count, Layout, Level, Part, width};
use super::processor::{Processor, VendorManual};
use alloc::vec::Vec;

/// Bit of leaf 1, edx: a package can have several processors (HTT).
const SEVERAL: u32 = 28;

/// The layout of an 8-bit APIC id; every processor has these fields.
pub(super) fn read(processor: &Processor<'_, impl Cpuid>) -> Layout {
    let leaf1 = processor.leaf(1).unwrap_or_default();
    let several = leaf1.edx >> SEVERAL & 1 == 1;
    let processors = if several { leaf1.ebx >> 16 & 0xff } else { 1 };
    let cores = cores(processor);
    let package = width(processors);
    let core = package.saturating_sub(width(cores));
    let level = |shift| Level {
        part: Part::CORE,
        shift,
    };
    // No leaf says how many threads of a core are enabled.
    let counts = [(0, 1), (core, cores.min(processors.max(1)))];
    Layout {
        package,
        levels: Vec::from([level(core)]),
        counts: Vec::from(counts.map(|(shift, processors)| Count { shift, processors })),
        caches: Vec::new(),
    }
}

/// The APIC id at the time of reset.
pub(super) fn id(processor: &Processor<'_, impl Cpuid>) -> u32 {
    processor.leaf(1).unwrap_or_default().ebx >> 24
}

/// The most cores of a package: Intel's leaf 4 says it, and Intel's processors without it have one; on AMD,
/// every processor was a core.
fn cores(processor: &Processor<'_, impl Cpuid>) -> u32 {
    match processor.manual {
        VendorManual::Intel => {
            let first_cache = processor
                .leaf(4)
                .filter(|registers| registers.eax & 0x1f != 0);
            first_cache.map_or(1, |registers| (registers.eax >> 26) + 1)
        }
        VendorManual::Amd => u32::MAX,
    }
}
