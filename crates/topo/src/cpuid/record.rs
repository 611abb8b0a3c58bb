//! The list of cpuid leaves that a recording of a processor contains.

use super::Registers;
use alloc::collections::BTreeMap;

/// The most subleaves that are recorded of a leaf.
const MOST: u32 = 32;

/// Whether an answer is the last subleaf of a leaf.
type End = fn(&Registers) -> bool;

/// Two ranges of leaves, each beginning with the leaf that names the highest. A leaf with an `End` has
/// subleaves, recorded up to the first for which it is true.
const RANGES: [&[(u32, Option<End>)]; 2] = [
    &[
        (0x0, None),
        (0x1, None),
        // Caches in the older format, before leaf 4.
        (0x2, None),
        (0x4, Some(no_cache)),
        (0x6, None),
        (0x7, Some(at_first)),
        (0xb, Some(no_level)),
        // Frequencies.
        (0x16, None),
        (0x1a, Some(at_first)),
        (0x1f, Some(no_level)),
    ],
    &[
        (0x8000_0000, None),
        (0x8000_0001, None),
        // The processor's name.
        (0x8000_0002, None),
        (0x8000_0003, None),
        (0x8000_0004, None),
        (0x8000_0005, None),
        (0x8000_0006, None),
        (0x8000_0007, None),
        (0x8000_0008, None),
        (0x8000_001d, Some(no_cache)),
        (0x8000_001e, None),
        (0x8000_0026, Some(no_level)),
    ],
];

/// Asks for all leaves of the list and returns the answers.
pub(super) fn answers(
    mut ask: impl FnMut(u32, u32) -> Registers,
) -> BTreeMap<(u32, Option<u32>), Registers> {
    let mut answers = BTreeMap::new();
    for range in RANGES {
        let highest = range.first().map_or(0, |(first, _)| ask(*first, 0).eax);
        for (leaf, end) in range.iter().filter(|(leaf, _)| *leaf <= highest) {
            let Some(is_last) = end else {
                answers.insert((*leaf, None), ask(*leaf, 0));
                continue;
            };
            for subleaf in 0..MOST {
                let answer = ask(*leaf, subleaf);
                answers.insert((*leaf, Some(subleaf)), answer);
                if is_last(&answer) {
                    break;
                }
            }
        }
    }
    answers
}

fn no_cache(answer: &Registers) -> bool {
    answer.eax & 0x1f == 0
}

fn no_level(answer: &Registers) -> bool {
    answer.ecx & 0xff00 == 0
}

fn at_first(_: &Registers) -> bool {
    true
}
