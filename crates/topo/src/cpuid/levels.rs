//! The fields of APIC ids from leaves that list the levels of a package: 1Fh and 0Bh of Intel, 80000026h of
//! AMD.

use super::fields::{Count, Layout, Level, Part};
use super::processor::Processor;
use super::{Cpuid, Registers};
use crate::kind::Kind;
use alloc::vec::Vec;

/// A limit above the number of kinds of levels.
const MOST: u32 = 16;

/// A leaf, and for each type of level, from 1 on, the part that the level's field numbers.
struct Leaf {
    number: u32,
    parts: &'static [Option<Part>],
}

const MODULE: Part = Part::group("Module");
const TILE: Part = Part::group("Tile");
const DIE_GROUP: Part = Part::group("DieGrp");
const COMPLEX: Part = Part::group("Complex");
/// A level of a type that is newer than this crate.
const NAMELESS: Part = Part {
    kind: Kind::Group,
    subtype: None,
};

/// The leaves, newest first.
const LEAVES: [Leaf; 3] = [
    // Intel names a level after the objects that its field numbers: threads, cores, modules, tiles, dies, die
    // groups.
    Leaf {
        number: 0x1f,
        parts: &[
            None,
            Some(Part::CORE),
            Some(MODULE),
            Some(TILE),
            Some(Part::DIE),
            Some(DIE_GROUP),
        ],
    },
    // AMD names a level after the object that contains those of its field: core, complex, die and socket. So
    // the fields number threads, cores, complexes and dies.
    Leaf {
        number: 0x8000_0026,
        parts: &[None, Some(Part::CORE), Some(COMPLEX), Some(Part::DIE)],
    },
    Leaf {
        number: 0xb,
        parts: &[None, Some(Part::CORE)],
    },
];

/// The levels of the newest leaf that the processor fills in.
pub(super) fn read(processor: &Processor<'_, impl Cpuid>) -> Option<Layout> {
    let leaf = LEAVES.iter().find(|leaf| is_filled(processor, leaf))?;
    let mut layout = Layout {
        package: 0,
        levels: Vec::new(),
        counts: Vec::new(),
        caches: Vec::new(),
    };
    for subleaf in 0..MOST {
        let Some(level) = processor
            .subleaf(leaf.number, subleaf)
            .filter(|level| kind(level) != 0)
        else {
            break;
        };
        // Each field begins where the previous one ends.
        let shift = layout.package;
        let part = leaf.parts.get(kind(&level) as usize - 1).copied();
        if let Some(part) = part.unwrap_or(Some(NAMELESS)) {
            layout.levels.push(Level { part, shift });
        }
        let processors = level.ebx & 0xffff;
        layout.counts.push(Count { shift, processors });
        layout.package = level.eax & 0x1f;
    }
    Some(layout)
}

/// The x2APIC id from the same leaf.
pub(super) fn apic_id(processor: &Processor<'_, impl Cpuid>) -> Option<u32> {
    let leaf = LEAVES.iter().find(|leaf| is_filled(processor, leaf))?;
    processor.leaf(leaf.number).map(|level| level.edx)
}

/// Whether the first level has processors: a processor may have the leaf but leave it empty.
fn is_filled(processor: &Processor<'_, impl Cpuid>, leaf: &Leaf) -> bool {
    let first = processor.leaf(leaf.number);
    first.is_some_and(|level| kind(&level) != 0 && level.ebx & 0xffff != 0)
}

fn kind(level: &Registers) -> u32 {
    level.ecx >> 8 & 0xff
}
