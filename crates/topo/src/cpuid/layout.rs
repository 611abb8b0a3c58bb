//! Reads the fields of APIC ids and the caches from the newest leaves that a processor has.

use super::fields::Layout;
use super::processor::{Manual, Processor};
use super::{Cpuid, amd, apic, caches, levels};

/// Where this processor says the fields are: the newest leaf that it has and fills in.
pub(super) fn read(processor: &Processor<'_, impl Cpuid>) -> Layout {
    let fields = levels::read(processor).or_else(|| match processor.manual {
        Manual::Amd => amd::read(processor),
        Manual::Intel => None,
    });
    let mut layout = fields.unwrap_or_else(|| apic::read(processor));
    if processor.manual == Manual::Amd {
        layout.levels.extend(amd::compute_unit(processor));
    }
    layout.caches = caches::read(processor, &layout);
    layout
}

/// The APIC id of this processor: the extended one where it has one, else the one of eight bits.
///
/// Where the lower bits of both differ, firmware has moved the ids up to leave room for others, and
/// only the one of eight bits, which is from the time of reset, numbers packages from 0.
pub(super) fn apic_id(processor: &Processor<'_, impl Cpuid>) -> u32 {
    let initial = apic::id(processor);
    let extended = amd::apic_id(processor).filter(|id| id & 0xff == initial);
    levels::apic_id(processor).or(extended).unwrap_or(initial)
}
