//! Chooses the newest cpuid leaves that describe a processor's APIC id and caches.

use super::fields::Layout;
use super::processor::{Processor, VendorManual};
use super::{Cpuid, amd, apic, caches, levels};

/// The fields of the APIC id and the caches, from the newest leaf that the processor has and fills in.
pub(super) fn read(processor: &Processor<'_, impl Cpuid>) -> Layout {
    let fields = levels::read(processor).or_else(|| match processor.manual {
        VendorManual::Amd => amd::read(processor),
        VendorManual::Intel => None,
    });
    let mut layout = fields.unwrap_or_else(|| apic::read(processor));
    if processor.manual == VendorManual::Amd {
        layout.levels.extend(amd::compute_unit(processor));
    }
    layout.caches = caches::read(processor, &layout);
    layout
}

/// The APIC id of this processor: the extended one if it has one, else the 8-bit one.
///
/// If the lower bits of both differ, firmware has moved the extended ids; then only the 8-bit id, which is
/// from the time of reset, numbers packages from 0.
pub(super) fn apic_id(processor: &Processor<'_, impl Cpuid>) -> u32 {
    let initial = apic::id(processor);
    let extended = amd::apic_id(processor).filter(|id| id & 0xff == initial);
    levels::apic_id(processor).or(extended).unwrap_or(initial)
}
