//! Groups against an oracle of plain lists.

use proptest::prelude::*;

use super::{Comparison, PROC_NULL, ProcessGroup};
use crate::error::Error;

/// Processes that the tests use; few, so that two groups share some.
const PROCESSES: u32 = 12;
const OWN: u32 = 3;

fn group(processes: &[u32]) -> ProcessGroup {
    ProcessGroup::new(processes.iter().copied(), OWN)
}

fn list(group: &ProcessGroup) -> Vec<u32> {
    group.processes.to_vec()
}

/// Some processes in any order, each once.
fn processes() -> impl Strategy<Value = Vec<u32>> {
    let all: Vec<u32> = (0..PROCESSES).collect();
    prop::sample::subsequence(all, 0..=PROCESSES as usize).prop_shuffle()
}

proptest! {
    #[test]
    fn combinations_equal_those_of_lists(a in processes(), b in processes()) {
        let (left, right) = (group(&a), group(&b));
        let only_in = |a: &[u32], b: &[u32]| -> Vec<u32> {
            a.iter().copied().filter(|process| !b.contains(process)).collect()
        };
        let both: Vec<u32> = a.iter().copied().filter(|process| b.contains(process)).collect();
        prop_assert_eq!(list(&left.union(&right)), [a.clone(), only_in(&b, &a)].concat());
        prop_assert_eq!(list(&left.intersection(&right)), both);
        prop_assert_eq!(list(&left.difference(&right)), only_in(&a, &b));
        prop_assert_eq!(left.rank(), a.iter().position(|&process| process == OWN));
        prop_assert_eq!(left.size(), a.len());
    }

    #[test]
    fn comparison_sees_order_and_members(a in processes(), b in processes(), steps in 0usize..12) {
        let sorted = |list: &[u32]| {
            let mut list = list.to_vec();
            list.sort_unstable();
            list
        };
        let mut rotated = a.clone();
        rotated.rotate_left(steps % a.len().max(1));
        for b in [b, rotated] {
            let expected = match () {
                () if a == b => Comparison::Identical,
                () if sorted(&a) == sorted(&b) => Comparison::Similar,
                () => Comparison::Unequal,
            };
            prop_assert_eq!(group(&a).compare(&group(&b)), expected);
            prop_assert_eq!(group(&b).compare(&group(&a)), expected);
        }
    }

    #[test]
    fn ranks_translate_to_where_the_process_is(a in processes(), b in processes()) {
        let expected: Vec<_> = a.iter().map(|process| b.iter().position(|other| other == process)).collect();
        prop_assert_eq!(group(&a).translate(0..a.len(), &group(&b)).expect("its ranks"), expected);
    }

    #[test]
    fn chosen_and_left_out_ranks_make_the_whole(
        a in processes(),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let whole = group(&a);
        let mut ranks = Vec::new();
        for pick in picks.iter().filter(|_| !a.is_empty()).map(|pick| pick.index(a.len())) {
            if !ranks.contains(&pick) {
                ranks.push(pick);
            }
        }
        let chosen = whole.incl(ranks.iter().copied()).expect("its ranks");
        let rest = whole.excl(ranks.iter().copied()).expect("its ranks");
        prop_assert_eq!(list(&chosen), ranks.iter().map(|&rank| a[rank]).collect::<Vec<_>>());
        let others = (0..a.len()).filter(|rank| !ranks.contains(rank));
        prop_assert_eq!(list(&rest), others.map(|rank| a[rank]).collect::<Vec<_>>());
        prop_assert_ne!(chosen.union(&rest).compare(&whole), Comparison::Unequal);

        for (named, ranks) in [
            (a.len(), vec![a.len()]),
            (0, vec![0, 0]),
        ] {
            let named = if a.is_empty() { ranks[0] } else { named };
            for refused in [whole.incl(ranks.clone()), whole.excl(ranks)] {
                let refused = refused.expect_err("no such rank, or named twice");
                let is_named = matches!(refused, Error::GroupRank { named: it, size } if it == named && size == a.len());
                prop_assert!(is_named, "{}", refused);
            }
        }
        prop_assert!(whole.translate([a.len()], &whole).is_err());
        prop_assert_eq!(whole.translate([PROC_NULL], &whole).expect("stays"), [Some(PROC_NULL)]);
    }
}

/// The triplets (first, last, stride) of a range are iterators, also downwards.
#[test]
fn ranges_are_iterators_of_ranks() {
    let whole = group(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // (8, 8, 1), (1, 6, 2) and (9, 4, -3)
    let ranks = || {
        (8..=8)
            .chain((1..=6).step_by(2))
            .chain((4..=9).rev().step_by(3))
    };
    assert_eq!(
        list(&whole.incl(ranks()).expect("once each")),
        [8, 1, 3, 5, 9, 6]
    );
    assert_eq!(list(&whole.excl(ranks()).expect("once each")), [0, 2, 4, 7]);
    assert_eq!(whole.incl([]).expect("the empty group").size(), 0);
}
