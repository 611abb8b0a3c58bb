//! Caches from cpuid: Intel's leaf 4 or AMD's leaf 8000001Dh, which list them; or AMD's leaves 80000005h
//! (level 1) and 80000006h (levels 2 and 3).

use super::fields::{Layout, Shared, Sharing, width};
use super::processor::{Processor, VendorManual};
use super::{Cpuid, Registers, amd};
use crate::facts::Cache;
use crate::kind::Kind;
use alloc::vec::Vec;

/// A limit above the number of kinds of caches.
const MOST: u32 = 32;

/// The caches of this processor, at most one of each kind.
pub(super) fn read(processor: &Processor<'_, impl Cpuid>, layout: &Layout) -> Vec<Shared> {
    let mut caches = match processor.manual {
        VendorManual::Intel => listed(processor, 4),
        VendorManual::Amd if processor.has_topology_extensions() => listed(processor, 0x8000_001d),
        VendorManual::Amd => fixed(processor, layout),
    };
    caches.sort_by_key(|cache| cache.kind);
    caches.dedup_by_key(|cache| cache.kind);
    caches
}

fn listed(processor: &Processor<'_, impl Cpuid>, leaf: u32) -> Vec<Shared> {
    let subleaves = (0..MOST).map_while(|subleaf| processor.subleaf(leaf, subleaf));
    let caches = subleaves.take_while(|registers| registers.eax & 0x1f != 0);
    let caches =
        caches.filter_map(|registers| deterministic(&registers, amd::is_packed(processor)));
    caches
        .filter(|cache| !is_imaginary(processor, cache))
        .collect()
}

/// Whether the cache does not exist: Xeon Phi x200 and 72x5 report a third level that they do not have.
fn is_imaginary(processor: &Processor<'_, impl Cpuid>, cache: &Shared) -> bool {
    let phi = processor.identity.family == 6 && matches!(processor.identity.model, 0x57 | 0x85);
    phi && processor.manual == VendorManual::Intel && cache.kind.cache_level() == Some(3)
}

/// Decodes one cache from a subleaf, whose format is the same for Intel and AMD.
fn deterministic(registers: &Registers, packed: bool) -> Option<Shared> {
    let (instructions, unified) = match registers.eax & 0x1f {
        1 => (false, false),
        2 => (true, false),
        _ => (false, true),
    };
    let line = (registers.ebx & 0xfff) + 1;
    let partitions = (registers.ebx >> 12 & 0x3ff) + 1;
    let ways = (registers.ebx >> 22) + 1;
    let sets = u64::from(registers.ecx) + 1;
    let sharing = (registers.eax >> 14 & 0xfff) + 1;
    Some(Shared {
        kind: Kind::cache(registers.eax >> 5 & 7, instructions)?,
        cache: Cache {
            size: u64::from(line * partitions)
                .saturating_mul(ways.into())
                .saturating_mul(sets),
            line: Some(line),
            ways: Some(ways),
            unified,
            inclusive: Some(registers.edx >> 1 & 1 == 1),
        },
        sharing: match packed {
            true => Sharing::Packed(sharing),
            false => Sharing::Aligned(width(sharing)),
        },
    })
}

/// The caches of AMD processors before family 15h: two levels in each core, a third in each node.
fn fixed(processor: &Processor<'_, impl Cpuid>, layout: &Layout) -> Vec<Shared> {
    let first = processor.leaf(0x8000_0005).unwrap_or_default();
    let further = processor.leaf(0x8000_0006).unwrap_or_default();
    let nodes = amd::nodes(processor);
    let cores = layout.counts.last().map_or(1, |count| count.processors);
    let own = Sharing::Aligned(0);
    let node = Sharing::Packed((cores / nodes).max(1));
    let [data, instructions] = [first.ecx, first.edx].map(|register| Cache {
        size: u64::from(register >> 24) << 10,
        line: Some(register & 0xff),
        ways: ways_in_full(register >> 16 & 0xff),
        inclusive: Some(false),
        ..Cache::default()
    });
    let second = unified(further.ecx, u64::from(further.ecx >> 16) << 10);
    // The leaf describes the caches of all nodes of the package as one.
    let mut third = unified(further.edx, u64::from(further.edx >> 18) << 19);
    third.size /= u64::from(nodes);
    third.ways = third.ways.map(|ways| ways / nodes);
    let caches = [
        (Kind::L1, data, own),
        (Kind::L1i, instructions, own),
        (Kind::L2, second, own),
        (Kind::L3, third, node),
    ];
    let shared = |(kind, cache, sharing)| Shared {
        kind,
        cache,
        sharing,
    };
    caches
        .map(shared)
        .into_iter()
        .filter(|shared| shared.cache.size > 0)
        .collect()
}

/// Decodes a cache of leaf 80000006h; size 0 means disabled.
fn unified(register: u32, size: u64) -> Cache {
    let code = register >> 12 & 0xf;
    Cache {
        size: if code == 0 { 0 } else { size },
        line: Some(register & 0xff),
        ways: ways_in_code(code),
        unified: true,
        inclusive: Some(false),
    }
}

/// Decodes ways given as a number; `None` for a fully associative cache.
fn ways_in_full(ways: u32) -> Option<u32> {
    (ways != 0xff).then_some(ways)
}

/// Decodes ways given as a 4-bit code; `None` for a fully associative cache and for invalid codes.
fn ways_in_code(code: u32) -> Option<u32> {
    match code {
        1 | 2 => Some(code),
        4 => Some(4),
        6 => Some(8),
        8 => Some(16),
        0xa => Some(32),
        0xb => Some(48),
        0xc => Some(64),
        0xd => Some(96),
        0xe => Some(128),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Registers, deterministic};

    /// Bit 1 of edx, beside other flags (Intel's manual, volume 2, CPUID leaf 4).
    #[test]
    fn one_bit_says_whether_a_cache_is_inclusive() {
        for (edx, inclusive) in [(0, false), (0b010, true), (0b101, false), (0b110, true)] {
            let registers = Registers {
                eax: 0x63,
                ebx: 0,
                ecx: 0,
                edx,
            };
            let read = deterministic(&registers, false).expect("a unified cache of level 3");
            assert_eq!(read.cache.inclusive, Some(inclusive), "{edx:#b}");
        }
    }
}
