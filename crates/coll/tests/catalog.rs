//! The checker on every algorithm of the catalog: a quick part of `cargo xtask ci plans`.

use oxmpi_coll::catalog::{Algorithm, Call, Parameters};
use oxmpi_coll::check::{Case, ProofReport, cases, check, draw, plain, promises_rounds};
use proptest::prelude::*;

/// Proves one case.
fn prove(algorithm: Algorithm, case: &Case) -> ProofReport {
    let checked = case.check(algorithm);
    checked.unwrap_or_else(|fault| panic!("{algorithm}: {fault}\n{case:?}"))
}

/// The rounds that the catalog states for the case.
fn rounds(algorithm: Algorithm, case: &Case) -> u64 {
    algorithm.rounds(&case.call(0, &case.arrays()), &case.parameters)
}

#[test]
fn every_algorithm_is_right_and_keeps_its_rounds_on_1_to_20_ranks() {
    for algorithm in Algorithm::ALL {
        for case in (1..=20).flat_map(|size| cases(algorithm, size)) {
            let (report, promised) = (prove(algorithm, &case), rounds(algorithm, &case));
            if promises_rounds(algorithm, &case) {
                assert!(
                    u64::from(report.rounds) <= promised,
                    "{algorithm}, {case:?}"
                );
            }
        }
    }
}

/// On unequal nodes the long strides of the linear alltoall still reach every rank once.
#[test]
fn linear_alltoalls_are_right_and_keep_their_rounds_on_nodes_filled_in_part() {
    for algorithm in [Algorithm::AlltoallLinear, Algorithm::AlltoallvLinear] {
        for (size, per_node) in (11..=40).flat_map(|size| [5, 8, 13].map(|most| (size, most))) {
            let plainest = plain(algorithm, size);
            let parameters = plainest.parameters.with_per_node(per_node);
            let case = Case {
                parameters,
                ..plainest
            };
            let report = prove(algorithm, &case);
            assert_eq!(
                u64::from(report.rounds),
                rounds(algorithm, &case),
                "{case:?}"
            );
            assert_eq!(report.messages, u64::from(size * (size - 1)), "{case:?}");
        }
    }
}

/// No count is kept in 32 bits: vectors and blocks have more than 2^32 elements, some odd numbers of
/// them.
#[test]
fn every_algorithm_is_right_with_counts_beyond_32_bits() {
    for algorithm in Algorithm::ALL {
        for (size, count) in [(2, (1 << 32) + 7), (5, (1 << 31) + 1), (8, (1 << 40) + 3)] {
            let Some(&drawn) = cases(algorithm, size).first() else {
                continue;
            };
            for seed in [0, drawn.seed] {
                let case = Case {
                    count,
                    seed,
                    ..drawn
                };
                prove(algorithm, &case);
            }
        }
    }
}

/// Where all ranks are alike, checking one of them gives the same report as checking all.
#[test]
fn one_representative_gives_the_report_of_all_ranks() {
    let mut alike = 0;
    for (algorithm, size) in Algorithm::ALL
        .into_iter()
        .flat_map(|algorithm| (2..=20).map(move |size| (algorithm, size)))
        .filter(|&(algorithm, size)| !cases(algorithm, size).is_empty())
    {
        let case = plain(algorithm, size);
        if let Some(checked) = case.check_by_symmetry(algorithm) {
            assert_eq!(checked, case.check(algorithm), "{algorithm}, {size} ranks");
            alike += 1;
        }
    }
    assert!(alike >= 2 * 19, "only {alike} cases have equivalent ranks");
}

#[test]
fn every_algorithm_is_right_on_some_larger_numbers_of_ranks() {
    for algorithm in Algorithm::ALL {
        for size in (0..3).map(|index| 21 + draw(algorithm as u64, index) as u32 % 80) {
            let all = cases(algorithm, size);
            // The plainest case and one more.
            for case in all.iter().rev().take(2) {
                prove(algorithm, case);
            }
        }
    }
}

#[test]
fn the_ring_sends_the_least_volume() {
    for size in 2..=64_u32 {
        let report = prove(
            Algorithm::AllreduceRing,
            &Case {
                count: 10 * u64::from(size),
                ..plain(Algorithm::AllreduceRing, size)
            },
        );
        assert_eq!(report.volume, 2 * (u64::from(size) - 1) * 10);
    }
}

/// A proptest configuration with few cases: each one is a proof for many ranks.
fn few(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(few(3))]

    #[test]
    fn the_ring_is_right_with_any_segments(
        size in 65_u32..=128, count in 1_u64..=1000, segment in 1_u64..=8,
    ) {
        let parameters = Parameters { segment, ..Parameters::NONE };
        prove(Algorithm::AllreduceRing, &Case {
            count,
            parameters,
            ..plain(Algorithm::AllreduceRing, size)
        });
    }
}

proptest! {
    #![proptest_config(few(1))]

    /// Most chunks are empty: with a full vector, a ring of 4,096 ranks sends 33 million messages.
    #[test]
    fn the_ring_is_right_on_up_to_4096_ranks(
        size in 65_u32..=4096, count in 1_u64..=4, in_place: bool,
    ) {
        let call = |rank| Call::allreduce(rank, size, count, 1).with_in_place(in_place);
        let calls: Vec<_> = (0..size).map(call).collect();
        let whole = Parameters { segment: u64::MAX, ..Parameters::NONE };
        prop_assert!(check(Algorithm::AllreduceRing, &calls, &[], &whole).is_ok());
    }
}
