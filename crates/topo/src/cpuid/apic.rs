//! The fields of an APIC id of eight bits, from leaves 1 and 4: how many processors and how many
//! cores a package has room for.

use super::Cpuid;
use super::fields::{Count, Layout, Level, Part, width};
use super::processor::{Manual, Processor};
use alloc::vec::Vec;

/// Bit of leaf 1, edx: a package has room for several processors (HTT).
const SEVERAL: u32 = 28;

/// Every processor has these fields.
pub(super) fn read(processor: &Processor<'_, impl Cpuid>) -> Layout {
    let one = processor.leaf(1).unwrap_or_default();
    let several = one.edx >> SEVERAL & 1 == 1;
    let processors = if several { one.ebx >> 16 & 0xff } else { 1 };
    let cores = cores(processor);
    let package = width(processors);
    let core = package.saturating_sub(width(cores));
    let level = |shift| Level {
        part: Part::CORE,
        shift,
    };
    // How many threads of a core are on, nobody says.
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

/// The cores that a package has room for: leaf 4 says it of Intel's, and those before leaf 4 have
/// one; each of AMD's processors was a core.
fn cores(processor: &Processor<'_, impl Cpuid>) -> u32 {
    match processor.manual {
        Manual::Intel => {
            let first_cache = processor.leaf(4).filter(|it| it.eax & 0x1f != 0);
            first_cache.map_or(1, |it| (it.eax >> 26) + 1)
        }
        Manual::Amd => u32::MAX,
    }
}
