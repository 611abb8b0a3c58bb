use super::candidates::radixes;
use super::{ChoiceTable, ChoiceTables, Rule, Tuning, choose};
use crate::call::{Algorithm, Call, Collective, Parameters};
use crate::catalog::Unsuited;
use crate::machine::Machine;

fn algorithm(call: &Call, tuning: &Tuning) -> Result<Algorithm, Unsuited> {
    choose(call, tuning).map(|choice| choice.algorithm)
}

/// A call of the collective by all of `size` ranks, where ranks give lengths that all know.
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

/// As long as a level's messages have room.
#[test]
fn a_radix_of_two_levels_is_tried() {
    for size in 5..=256 {
        let radixes = radixes(size, 256);
        let makes_two = |&radix: &u32| radix < size && radix * radix >= size;
        assert!(radixes.iter().any(makes_two), "{size}: {radixes:?}");
    }
}

/// A table does not ask all candidates at all sizes.
#[test]
fn nothing_costs_less_than_what_is_chosen() {
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
                    let all = super::expected(&call, &tuning).expect("there is one");
                    let least = all.map(|one| one.1).min();
                    assert_eq!(Some(cost), least, "{collective}, {size} ranks, {bytes} B");
                }
            }
        }
    }
}

#[test]
fn only_what_suits_is_chosen() {
    for tuning in machines() {
        for size in 1..70 {
            for bytes in [0, 8, 4096, 1 << 20, 1 << 40] {
                let ordered = Call::allreduce(0, size, bytes / 8, 8).with_commutative(false);
                let chosen = algorithm(&ordered, &tuning).expect("something suits");
                assert_eq!(chosen.suits(&ordered), Ok(()));
                let within = Call::alltoall(0, size, bytes).with_in_place(true);
                let chosen = algorithm(&within, &tuning).expect("something suits");
                assert_eq!(chosen.suits(&within), Ok(()));
            }
        }
    }
}

#[test]
fn every_rank_and_root_chooses_the_same() {
    let tuning = Tuning::default();
    for bytes in [8, 5000, 1 << 20] {
        let chosen = choose(&Call::bcast(0, 13, 0, bytes), &tuning);
        for rank in 0..13 {
            assert_eq!(choose(&Call::bcast(rank, 13, 5, bytes), &tuning), chosen);
        }
        // Only the root knows what others give.
        let chosen = choose(&Call::gatherv(0, 13, 0, 0), &tuning);
        assert_eq!(choose(&Call::gatherv(3, 13, 0, bytes), &tuning), chosen);
    }
}

/// The table that one rank makes from its own call, whichever comes first there, is every rank's.
#[test]
fn a_table_is_that_of_all_calls_of_its_kind() {
    for tuning in machines() {
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
fn an_operation_in_no_order_is_not_exact() {
    let mut tables = ChoiceTables::new(Tuning::default());
    for call in [
        Call::allreduce(0, 6, 8, 8),
        Call::allreduce(0, 6, 8, 8)
            .exactly()
            .with_commutative(false),
    ] {
        let chosen = tables.choose(&call).copied().expect("something suits");
        assert_eq!(chosen.algorithm.suits(&call), Ok(()));
        assert_eq!(Ok(chosen), choose(&call, &Tuning::default()));
    }
}

#[test]
fn a_rule_for_lengths_that_not_all_know_is_for_all() {
    const RULES: &[Rule] = &[Rule {
        algorithm: Algorithm::GathervLinear,
        parameters: Parameters {
            window: 3,
            ..Parameters::NONE
        },
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
    assert!(tuning.asks_for(&Call::gatherv(1, 8, 0, 0)));
    assert!(!tuning.asks_for(&Call::gatherv(1, 9, 0, 150)));
    assert!(!tuning.asks_for(&Call::scatterv(1, 8, 0, 150)));
}

#[test]
fn tables_that_are_kept_say_the_same() {
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
fn what_is_asked_for_is_taken_where_it_suits() {
    let mut tuning = Tuning::default();
    tuning.forced.set(Algorithm::AllreduceRing);
    let call = Call::allreduce(0, 4, 1, 8);
    assert_eq!(algorithm(&call, &tuning), Ok(Algorithm::AllreduceRing));
    let ordered = call.with_commutative(false);
    assert_ne!(algorithm(&ordered, &tuning), Ok(Algorithm::AllreduceRing));
    tuning.forced.unset(call.collective);
    assert_ne!(algorithm(&call, &tuning), Ok(Algorithm::AllreduceRing));
}

#[test]
fn a_rule_holds_within_its_bounds() {
    const RULES: &[Rule] = &[
        Rule {
            algorithm: Algorithm::BcastChain,
            parameters: Parameters {
                blocks: 5,
                ..Parameters::NONE
            },
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
    let chosen = |size, bytes| choose(&Call::bcast(0, size, 0, bytes), &tuning).expect("it suits");
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
    assert!(tuning.asks_for(&Call::bcast(1, 8, 0, 100)));
    for (size, bytes) in [(8, 99), (8, 0), (9, 150), (9, 1 << 30)] {
        let call = Call::bcast(0, size, 0, bytes);
        assert!(!tuning.asks_for(&call), "{call:?}");
        assert_eq!(choose(&call, &tuning), choose(&call, &usual));
    }
    assert_eq!(chosen(3, 150).algorithm, Algorithm::BcastScatterAllgather);
}

#[test]
fn a_wrong_call_is_refused() {
    let tuning = Tuning::default();
    let wrong = |call: Call| choose(&call, &tuning).expect_err("the call is wrong");
    let rank = |rank, size| Unsuited::Rank { rank, size };
    assert_eq!(wrong(Call::barrier(3, 3)), rank(3, 3));
    assert_eq!(wrong(Call::barrier(0, 0)), rank(0, 0));
    let root = Unsuited::Root { root: 7, size: 3 };
    assert_eq!(wrong(Call::bcast(0, 3, 7, 1)), root);
}
