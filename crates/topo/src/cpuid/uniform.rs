//! Computes the APIC ids of a machine whose processors are all alike.

use super::fields::Layout;
use alloc::vec::Vec;

/// The APIC ids of `count` processors that fill threads, cores and the other levels in order, with the
/// enabled number of each that one processor reports.
pub(super) fn apic_ids(layout: &Layout, count: usize) -> Vec<u32> {
    // Each level with its number of members: threads in a core, cores in a module, and so on.
    let mut inside = 1_u32;
    let mut digits = Vec::new();
    for level in &layout.counts {
        let members = (level.processors / inside).max(1);
        inside = inside.saturating_mul(members);
        digits.push((level.shift, members));
    }
    let id = |place: u32| {
        let mut left = place;
        let mut id = 0_u32;
        for (shift, members) in &digits {
            id |= (left % members).checked_shl(*shift).unwrap_or(0);
            left /= members;
        }
        id | left.checked_shl(layout.package).unwrap_or(0)
    };
    (0..count as u32).map(id).collect()
}
