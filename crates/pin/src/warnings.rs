//! The texts of warnings about settings that place ranks.

use alloc::format;

use oxmpi_topo::CpuSet;

use crate::placement::{Warning, WarningCode};

/// A domain of `asked` processors, more than are allowed.
pub(crate) fn clipped(asked: usize, allowed: &CpuSet) -> Warning {
    let count = allowed.len();
    let text = format!(
        "a domain size of {asked} processors exceeds the {count} that are allowed ({allowed}): each domain gets \
         all of them; widen the job's affinity mask or reduce the size"
    );
    Warning::new(WarningCode::SizeClipped, [&asked, &count], text)
}

/// A domain mask without allowed processors, which is left out.
pub(crate) fn mask_elsewhere(mask: &CpuSet, allowed: &CpuSet) -> Warning {
    let text = format!(
        "the domain mask of processors {mask} has no allowed processor ({allowed} are allowed) and is ignored; \
         widen the job's affinity mask or change the domain mask"
    );
    Warning::new(WarningCode::MaskElsewhere, [mask, allowed], text)
}

/// A domain mask without processors of the machine, whose ranks are not pinned.
pub(crate) fn mask_outside_machine(mask: &CpuSet, everything: &CpuSet) -> Warning {
    let text = format!(
        "the domain mask {} has no processor of this machine ({everything}): its ranks may use all processors; \
         change the mask to pin them",
        mask.mask()
    );
    Warning::new(WarningCode::MaskElsewhere, [mask, everything], text)
}

/// Processors of a list that are not allowed, which are left out.
pub(crate) fn not_allowed(outside: &CpuSet, allowed: &CpuSet) -> Warning {
    let text = format!(
        "processors {outside} of the list are not allowed ({allowed} are) and are ignored; \
         widen the job's affinity mask or change the list"
    );
    Warning::new(WarningCode::NotAllowed, [outside, allowed], text)
}

/// Processors of a list at or above `count`, the number of allowed ones: no rank is pinned.
pub(crate) fn list_outside_machine(beyond: &CpuSet, count: usize, allowed: &CpuSet) -> Warning {
    let text = format!(
        "processors {beyond} of the list are not below {count}, the number of allowed processors ({allowed}): no rank is \
         pinned; widen the job's affinity mask or change the list"
    );
    Warning::new(WarningCode::NotAllowed, [beyond, allowed], text)
}

/// An exclude list with all allowed processors, which is ignored.
pub(crate) fn all_excluded(allowed: &CpuSet, exclude: &CpuSet) -> Warning {
    let text = format!(
        "the exclude list {exclude} has all allowed processors ({allowed}) and is ignored; \
         remove some from the list"
    );
    Warning::new(WarningCode::AllExcluded, [exclude, allowed], text)
}
