//! APIC id fields of AMD processors without a leaf that lists levels: the size of the core id (leaf
//! 80000008h), the threads of a core and the cores of a compute unit (8000001Eh), and how APIC ids are
//! packed.

use super::Cpuid;
use super::fields::{Count, Layout, Level, Part, width};
use super::processor::{Processor, VendorManual};
use alloc::vec::Vec;

/// The first family whose cores have threads, and whose APIC ids have gaps for the disabled cores of a
/// complex.
const ZEN: u32 = 0x17;

/// The layout from leaf 80000008h, if the processor has it.
pub(super) fn read(processor: &Processor<'_, impl Cpuid>) -> Option<Layout> {
    let sizes = processor.leaf(0x8000_0008)?.ecx;
    let processors = (sizes & 0xff) + 1;
    let package = match sizes >> 12 & 0xf {
        0 => width(processors),
        bits => bits,
    };
    let threads = threads(processor);
    let shift = width(threads);
    let part = Part::CORE;
    let counts = [(0, threads), (shift, processors)];
    Some(Layout {
        package,
        levels: Vec::from([Level { part, shift }]),
        counts: Vec::from(counts.map(|(shift, processors)| Count { shift, processors })),
        caches: Vec::new(),
    })
}

/// The extended APIC id.
pub(super) fn apic_id(processor: &Processor<'_, impl Cpuid>) -> Option<u32> {
    Some(extension(processor)?.0)
}

/// The compute unit: two cores of families 15h and 16h that share a floating-point unit.
pub(super) fn compute_unit(processor: &Processor<'_, impl Cpuid>) -> Option<Level> {
    let (_, members) = extension(processor).filter(|_| processor.identity.family < ZEN)?;
    Some(Level {
        part: Part::group("ComputeUnit"),
        shift: width(members),
    })
}

/// Whether APIC ids count up inside a package without gaps, whatever the number of cores in a node.
pub(super) fn is_packed(processor: &Processor<'_, impl Cpuid>) -> bool {
    processor.manual == VendorManual::Amd && processor.identity.family < ZEN
}

/// The number of nodes of a package without leaf 8000001Eh: model 9 of family 10h has two.
pub(super) fn nodes(processor: &Processor<'_, impl Cpuid>) -> u32 {
    match (processor.identity.family, processor.identity.model) {
        (0x10, 9) => 2,
        _ => 1,
    }
}

fn threads(processor: &Processor<'_, impl Cpuid>) -> u32 {
    let zen = extension(processor).filter(|_| processor.identity.family >= ZEN);
    zen.map_or(1, |(_, threads)| threads)
}

/// The APIC id, and the members of a core or unit, from leaf 8000001Eh.
fn extension(processor: &Processor<'_, impl Cpuid>) -> Option<(u32, u32)> {
    let has = processor.has_topology_extensions();
    let leaf = processor.leaf(0x8000_001e).filter(|_| has)?;
    Some((leaf.eax, (leaf.ebx >> 8 & 0xff) + 1))
}
