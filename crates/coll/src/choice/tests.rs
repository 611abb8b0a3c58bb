//! Tests of the choice: tables, rules and requirements.

use super::candidates::radixes;
use super::{ChoiceTable, ChoiceTables, Rule, Tuning, choose};
use crate::call::{Algorithm, Call, Collective, Parameters};
use crate::catalog::Unsuited;
use crate::machine::Machine;
use crate::placement::Order;

fn algorithm(call: &Call, tuning: &Tuning) -> Result<Algorithm, Unsuited> {
    choose(call, tuning).map(|choice| choice.algorithm)
}

/// A call of the collective on `size` ranks, with a length that all ranks know.
fn call(collective: Collective, size: u32) -> Call {
    Call {
        collective,
        ..Call::barrier(0, size)
    }
}

fn machines() -> impl Iterator<Item = Tuning> {
    Machine::NAMED.into_iter().map(|(_, _, machine)| Tuning {
        machine,
        per_node: machine.per_node,
        ..Tuning::default()
    })
}

#[test]
fn a_longer_vector_never_costs_less() {
    for tuning in machines() {
        for collective in Collective::ALL {
            for size in [1, 2, 3, 4, 7, 8, 16, 17, 48, 100, 1000, 4096] {
                let call = call(collective, size);
                let Ok(table) = ChoiceTable::new(&call, &tuning) else {
                    continue;
                };
                let steps = table.steps();
                assert!(steps.len() < super::STEPS);
                assert!(steps.is_sorted_by(|one, next| one.from < next.from));
                let cost = |bytes| {
                    let call = Call {
                        count: bytes,
                        ..call
                    };
                    let choice = table.choice(bytes);
                    choice
                        .algorithm
                        .cost(&call, &choice.parameters, &tuning.model(size))
                };
                let around = |step: &super::ChoiceStep| [step.from.saturating_sub(1), step.from];
                for [before, after] in steps[1..].iter().map(around) {
                    let (less, more) = (cost(before), cost(after));
                    assert!(less <= more, "{collective}, {size} ranks, {after} B");
                }
            }
        }
    }
}

/// It is tried where all messages of a level can be under way.
#[test]
fn a_radix_of_two_levels_is_tried() {
    for size in 5..=256 {
        let radixes = radixes(size, 256);
        let makes_two = |&radix: &u32| radix < size && radix * radix >= size;
        assert!(radixes.iter().any(makes_two), "{size}: {radixes:?}");
    }
}

/// A table does not evaluate all candidates at all sizes, but still finds the cheapest.
#[test]
fn no_candidate_costs_less_than_the_chosen_one() {
    for tuning in machines().flat_map(|one| {
        [false, true].map(|serial_copies| Tuning {
            serial_copies,
            ..one.clone()
        })
    }) {
        for collective in Collective::ALL {
            for size in [2, 3, 5, 8, 17, 33, 66, 128, 1000] {
                let call = call(collective, size);
                let Ok(table) = ChoiceTable::new(&call, &tuning) else {
                    continue;
                };
                if !collective.has_known_length() {
                    continue;
                }
                for bytes in (0..27).map(|at| 1 << at) {
                    let call = Call {
                        count: bytes,
                        ..call
                    };
                    let choice = table.choice(bytes);
                    let cost =
                        choice
                            .algorithm
                            .cost(&call, &choice.parameters, &tuning.model(size));
                    let all = super::expected(&call, &tuning).expect("there are candidates");
                    let least = all.map(|one| one.1).min();
                    assert_eq!(Some(cost), least, "{collective}, {size} ranks, {bytes} B");
                }
            }
        }
    }
}

#[test]
fn the_chosen_algorithm_supports_the_call() {
    for tuning in machines() {
        for size in 1..70 {
            for bytes in [0, 8, 4096, 1 << 20, 1 << 40] {
                let ordered = Call::allreduce(0, size, bytes / 8, 8).with_commutative(false);
                let chosen =
                    algorithm(&ordered, &tuning).expect("some algorithm supports the call");
                assert_eq!(chosen.suits(&ordered), Ok(()));
                let within = Call::alltoall(0, size, bytes).with_in_place(true);
                let chosen = algorithm(&within, &tuning).expect("some algorithm supports the call");
                assert_eq!(chosen.suits(&within), Ok(()));
            }
        }
    }
}

#[test]
fn all_ranks_and_roots_choose_the_same() {
    let tuning = Tuning::default();
    for bytes in [8, 5000, 1 << 20] {
        let chosen = choose(&Call::bcast(0, 13, 0, bytes), &tuning);
        for rank in 0..13 {
            assert_eq!(choose(&Call::bcast(rank, 13, 5, bytes), &tuning), chosen);
        }
        // Only the root knows the lengths of others.
        let chosen = choose(&Call::gatherv(0, 13, 0, 0), &tuning);
        assert_eq!(choose(&Call::gatherv(3, 13, 0, bytes), &tuning), chosen);
    }
}

/// A rank makes the table from whichever call comes first; it is that of all ranks.
#[test]
fn calls_of_one_kind_have_the_same_table() {
    let cyclic = machines().map(|one| Tuning {
        per_node: 4,
        order: Order::Cyclic,
        ..one
    });
    for tuning in machines().chain(cyclic) {
        for collective in Collective::ALL {
            for size in [2, 3, 8, 13, 64] {
                for one in [
                    call(collective, size),
                    call(collective, size).exactly(),
                    call(collective, size).with_commutative(false),
                ] {
                    let table = ChoiceTable::new(&one, &tuning);
                    for element_bytes in [0, 2, 8, 1000, 1 << 20] {
                        let other = Call {
                            rank: size - 1,
                            root: size / 2,
                            count: 77,
                            element_bytes,
                            in_place: !collective.is_in_place_everywhere(),
                            sources: 3,
                            destinations: 9,
                            cartesian: true,
                            ..one
                        };
                        assert_eq!(ChoiceTable::new(&other, &tuning), table, "{other:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_non_commutative_operation_is_not_exact() {
    let mut tables = ChoiceTables::new(Tuning::default());
    for call in [
        Call::allreduce(0, 6, 8, 8),
        Call::allreduce(0, 6, 8, 8)
            .exactly()
            .with_commutative(false),
    ] {
        let chosen = tables
            .choose(&call)
            .copied()
            .expect("some algorithm supports the call");
        assert_eq!(chosen.algorithm.suits(&call), Ok(()));
        assert_eq!(Ok(chosen), choose(&call, &Tuning::default()));
    }
}

#[test]
fn a_rule_for_unknown_lengths_applies_to_all_lengths() {
    const RULES: &[Rule] = &[Rule {
        algorithm: Algorithm::GathervLinear,
        parameters: Parameters::NONE.with_window(3),
        bytes: (100, 200),
        ranks: (1, 8),
    }];
    let tuning = Tuning {
        rules: RULES.into(),
        ..Tuning::default()
    };
    let mut tables = ChoiceTables::new(tuning.clone());
    for bytes in [0, 150, 1 << 20] {
        let chosen = tables.choose(&Call::gatherv(1, 8, 0, bytes));
        assert_eq!(chosen.map(|one| one.parameters.window), Ok(3), "{bytes} B");
    }
    assert!(tuning.requires_messages(&Call::gatherv(1, 8, 0, 0)));
    assert!(!tuning.requires_messages(&Call::gatherv(1, 9, 0, 150)));
    assert!(!tuning.requires_messages(&Call::scatterv(1, 8, 0, 150)));
}

#[test]
fn cached_tables_give_the_same_choice() {
    let tuning = Tuning::default();
    let mut tables = ChoiceTables::new(tuning.clone());
    for _ in 0..2 {
        for bytes in [0, 8, 1 << 10, 1 << 14, 1 << 24] {
            for call in [
                Call::barrier(2, 6),
                Call::bcast(2, 6, 1, bytes),
                Call::allreduce(2, 6, bytes, 1),
                Call::allreduce(2, 6, bytes, 1).exactly(),
                Call::allreduce(2, 6, bytes, 1).with_commutative(false),
                Call::alltoall(2, 6, bytes),
                Call::alltoall(2, 6, bytes).with_in_place(true),
            ] {
                assert_eq!(tables.choose(&call).copied(), choose(&call, &tuning));
            }
        }
    }
}

#[test]
fn a_required_algorithm_is_chosen_where_it_supports_the_call() {
    let mut tuning = Tuning::default();
    tuning.forced.set(Algorithm::AllreduceRing);
    let call = Call::allreduce(0, 4, 1, 8);
    assert_eq!(algorithm(&call, &tuning), Ok(Algorithm::AllreduceRing));
    let ordered = call.with_commutative(false);
    assert_ne!(algorithm(&ordered, &tuning), Ok(Algorithm::AllreduceRing));
    assert!(tuning.requires_messages(&call) && !tuning.requires_messages(&ordered));
    tuning.forced.unset(call.collective);
    assert_ne!(algorithm(&call, &tuning), Ok(Algorithm::AllreduceRing));
}

#[test]
fn a_rule_applies_within_its_ranges() {
    const RULES: &[Rule] = &[
        Rule {
            algorithm: Algorithm::BcastChain,
            parameters: Parameters::NONE.with_blocks(5),
            bytes: (100, 200),
            ranks: (4, 8),
        },
        Rule {
            algorithm: Algorithm::BcastScatterAllgather,
            parameters: Parameters::NONE,
            bytes: (150, u64::MAX),
            ranks: (2, 8),
        },
    ];
    let usual = Tuning::default();
    let tuning = Tuning {
        rules: RULES.into(),
        ..usual.clone()
    };
    let chosen = |size, bytes| {
        choose(&Call::bcast(0, size, 0, bytes), &tuning).expect("the algorithm supports the call")
    };
    for bytes in [100, 150, 200] {
        let choice = chosen(8, bytes);
        assert_eq!(
            (choice.algorithm, choice.parameters.blocks),
            (Algorithm::BcastChain, 5)
        );
    }
    for bytes in [201, 1 << 30] {
        assert_eq!(chosen(8, bytes).algorithm, Algorithm::BcastScatterAllgather);
    }
    assert!(tuning.requires_messages(&Call::bcast(1, 8, 0, 100)));
    for (size, bytes) in [(8, 99), (8, 0), (9, 150), (9, 1 << 30)] {
        let call = Call::bcast(0, size, 0, bytes);
        assert!(!tuning.requires_messages(&call), "{call:?}");
        assert_eq!(choose(&call, &tuning), choose(&call, &usual));
    }
    assert_eq!(chosen(3, 150).algorithm, Algorithm::BcastScatterAllgather);
}

/// As if there were no rule: also in the memory of a node, without messages.
#[test]
fn a_call_that_the_algorithm_of_a_rule_does_not_suit_requires_nothing() {
    const RULES: &[Rule] = &[Rule {
        algorithm: Algorithm::AllreduceRing,
        parameters: Parameters::NONE,
        bytes: (0, u64::MAX),
        ranks: (1, u32::MAX),
    }];
    let usual = Tuning::default();
    let tuning = Tuning {
        rules: RULES.into(),
        ..usual.clone()
    };
    let call = Call::allreduce(0, 4, 1, 8);
    assert!(tuning.requires_messages(&call) && tuning.requires_algorithm(&call));
    let ordered = call.with_commutative(false);
    assert!(!tuning.requires_messages(&ordered) && !tuning.requires_algorithm(&ordered));
    assert_eq!(choose(&ordered, &tuning), choose(&ordered, &usual));
}

#[test]
fn an_invalid_call_is_refused() {
    let tuning = Tuning::default();
    let wrong = |call: Call| choose(&call, &tuning).expect_err("the call is wrong");
    let rank = |rank, size| Unsuited::Rank { rank, size };
    assert_eq!(wrong(Call::barrier(3, 3)), rank(3, 3));
    assert_eq!(wrong(Call::barrier(0, 0)), rank(0, 0));
    let root = Unsuited::Root { root: 7, size: 3 };
    assert_eq!(wrong(Call::bcast(0, 3, 7, 1)), root);
}
