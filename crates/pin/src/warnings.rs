//! What placing ranks warns of.

use alloc::format;

use oxmpi_topo::CpuSet;

use crate::placement::{Warning, WarningCode};

/// A domain of `asked` processors, more than there are.
pub(crate) fn clipped(asked: usize, allowed: &CpuSet) -> Warning {
    let count = allowed.len();
    let text = format!(
        "a domain of {asked} processors was asked, {count} are allowed ({allowed}): each domain gets \
         all of them; allow more processors (mask of the job) to insist"
    );
    Warning::new(WarningCode::SizeClipped, [&asked, &count], text)
}

/// A mask of which nothing is left.
pub(crate) fn mask_elsewhere(mask: &CpuSet, allowed: &CpuSet) -> Warning {
    let text = format!(
        "the domain mask of processors {mask} has none of those allowed ({allowed}) and is left out; \
         allow them (mask of the job) to insist"
    );
    Warning::new(WarningCode::MaskElsewhere, [mask, allowed], text)
}

/// The same, where the rank of such a mask is not pinned.
pub(crate) fn mask_of_nobody(mask: &CpuSet, everything: &CpuSet) -> Warning {
    let text = format!(
        "the domain mask {} names no processor of this machine ({everything}): its ranks may use all of them; \
         give it some of these to insist",
        mask.mask()
    );
    Warning::new(WarningCode::MaskElsewhere, [mask, everything], text)
}

/// Processors of a list that are not there.
pub(crate) fn not_allowed(outside: &CpuSet, allowed: &CpuSet) -> Warning {
    let text = format!(
        "processors {outside} of the list are not allowed ({allowed} are) and are left out; \
         allow them (mask of the job) to insist"
    );
    Warning::new(WarningCode::NotAllowed, [outside, allowed], text)
}

/// The same, where they leave all ranks unpinned; `count` processors are there.
pub(crate) fn nobody_pinned(beyond: &CpuSet, count: usize, allowed: &CpuSet) -> Warning {
    let text = format!(
        "processors {beyond} of the list are not below {count}, the number of those allowed ({allowed}): no rank is \
         pinned; allow more (mask of the job) to insist"
    );
    Warning::new(WarningCode::NotAllowed, [beyond, allowed], text)
}

/// An exclude list that leaves nothing.
pub(crate) fn all_excluded(allowed: &CpuSet, exclude: &CpuSet) -> Warning {
    let text = format!(
        "the exclude list {exclude} has all allowed processors ({allowed}) and is ignored; \
         leave some out of it to insist"
    );
    Warning::new(WarningCode::AllExcluded, [exclude, allowed], text)
}
