//! Which leaves a record of a processor has.

use super::Registers;
use alloc::collections::BTreeMap;

/// The most subleaves that are asked of a leaf.
const MOST: u32 = 32;

/// The first leaf of the two ranges, which names the highest of its range.
const FIRST: [u32; 2] = [0, 0x8000_0000];

/// A leaf whose subleaves are asked until the answer says that there is no more.
struct Listed {
    leaf: u32,
    is_last: fn(&Registers) -> bool,
}

const fn listed(leaf: u32, is_last: fn(&Registers) -> bool) -> Listed {
    Listed { leaf, is_last }
}

/// The leaves with subleaves; all others up to `LAST` of their range have none.
const LISTED: [Listed; 7] = [
    listed(0x4, no_cache),
    listed(0x7, first_is_last),
    listed(0xb, no_level),
    listed(0x1a, first_is_last),
    listed(0x1f, no_level),
    listed(0x8000_001d, no_cache),
    listed(0x8000_0026, no_level),
];

/// Leaves that say nothing of topology or identity, or whose subleaves do not end of themselves.
const LEFT_OUT: [u32; 11] = [
    0xd,
    0xf,
    0x10,
    0x12,
    0x14,
    0x17,
    0x18,
    0x1d,
    0x1e,
    0x20,
    0x8000_0020,
];

/// Asks a processor. Leaves above 26h of either range are not known to say anything of topology.
pub(super) fn answers(
    mut ask: impl FnMut(u32, u32) -> Registers,
) -> BTreeMap<(u32, Option<u32>), Registers> {
    let mut answers = BTreeMap::new();
    for first in FIRST {
        let highest = ask(first, 0).eax;
        for leaf in first..=highest.clamp(first, first + 0x26) {
            if LEFT_OUT.contains(&leaf) {
                continue;
            }
            match LISTED.iter().find(|listed| listed.leaf == leaf) {
                None => {
                    answers.insert((leaf, None), ask(leaf, 0));
                }
                Some(listed) => {
                    for subleaf in 0..MOST {
                        let answer = ask(leaf, subleaf);
                        answers.insert((leaf, Some(subleaf)), answer);
                        if (listed.is_last)(&answer) {
                            break;
                        }
                    }
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

fn first_is_last(_: &Registers) -> bool {
    true
}
