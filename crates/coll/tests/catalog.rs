//! The checker on every algorithm of the catalog: all numbers of ranks to 64, and random ones to
//! 4,096.

use oxmpi_coll::catalog::{Algorithm, Call, Collective, Parameters};
use oxmpi_coll::check::{Report, check};
use proptest::prelude::*;

/// Messages of the ring are not cut.
fn whole() -> Parameters {
    in_segments(u64::MAX)
}

/// Messages carry at most so many bytes.
fn in_segments(segment: u64) -> Parameters {
    Parameters {
        segment,
        ..Parameters::NONE
    }
}

/// One rank's call of the algorithm's collective.
fn call(algorithm: Algorithm, rank: u32, size: u32, root: u32, count: u64) -> Call {
    match algorithm.collective() {
        Collective::Barrier => Call::barrier(rank, size),
        Collective::Bcast => Call::bcast(rank, size, root, count),
        Collective::Reduce => Call::reduce(rank, size, root, count, 1),
        Collective::Allreduce => Call::allreduce(rank, size, count, 1),
        other => panic!("{other} has no call here"),
    }
}

/// The algorithms that are proved here; the others have tests of their own.
fn proved() -> impl Iterator<Item = Algorithm> {
    [
        Algorithm::BarrierDissemination,
        Algorithm::BarrierKnomial,
        Algorithm::BcastBinomial,
        Algorithm::ReduceBinomial,
        Algorithm::AllreduceRecursiveDoubling,
        Algorithm::AllreduceRing,
    ]
    .into_iter()
}

/// Proves the algorithm with and without order, in place and not.
fn prove(
    algorithm: Algorithm,
    size: u32,
    root: u32,
    count: u64,
    parameters: &Parameters,
) -> Report {
    let on_all_ranks = algorithm.collective() == Collective::Allreduce;
    let mut reports = [(true, false), (true, true), (false, false), (false, true)]
        .into_iter()
        .filter(|&(commutative, _)| commutative || !algorithm.row().needs.commutative)
        .map(|(commutative, in_place)| {
            let call = |rank| {
                call(algorithm, rank, size, root, count)
                    .with_commutative(commutative)
                    .with_in_place(in_place && (rank == root || on_all_ranks))
            };
            let calls: Vec<_> = (0..size).map(call).collect();
            check(algorithm, &calls, &[], parameters).unwrap_or_else(|fault| {
                panic!("{algorithm}, {count} elements, in place {in_place}, root {root}: {fault}")
            })
        });
    let report = reports.next().expect("one case at least");
    for other in reports {
        assert_eq!(
            (other.rounds, other.messages),
            (report.rounds, report.messages),
            "{algorithm}, {size} ranks"
        );
    }
    report
}

/// The roots worth trying: all of few ranks; the ends and the middle of many.
fn roots(algorithm: Algorithm, size: u32) -> Vec<u32> {
    match algorithm.collective() {
        Collective::Bcast | Collective::Reduce if size <= 16 => (0..size).collect(),
        Collective::Bcast | Collective::Reduce => vec![0, 1, size / 2, size - 2, size - 1],
        _ => vec![0],
    }
}

/// The rounds that the algorithm promises to so many ranks.
fn rounds(algorithm: Algorithm, size: u32) -> u64 {
    algorithm.rounds(&call(algorithm, 0, size, 0, 1 << 40), &whole())
}

/// What the algorithm promises, with no vector too short for it.
fn promised(algorithm: Algorithm, size: u32, count: u64) -> Option<u64> {
    let full = algorithm != Algorithm::AllreduceRing || count >= u64::from(size);
    match algorithm.collective() {
        Collective::Barrier => Some(rounds(algorithm, size)),
        _ if count == 0 => Some(0),
        _ => full.then(|| rounds(algorithm, size)),
    }
}

#[test]
fn every_algorithm_is_right_and_keeps_its_rounds_on_1_to_64_ranks() {
    for algorithm in proved() {
        for size in 1..=64 {
            for root in roots(algorithm, size) {
                let size_long = u64::from(size);
                for count in [
                    0,
                    1,
                    2,
                    size_long - 1,
                    size_long,
                    size_long + 1,
                    40,
                    1 << 40,
                ] {
                    let report = prove(algorithm, size, root, count, &whole());
                    if let Some(rounds) = promised(algorithm, size, count) {
                        assert_eq!(
                            u64::from(report.rounds),
                            rounds,
                            "{algorithm}, {size} ranks, {count} elements"
                        );
                    }
                    assert!(report.scratch <= 2 * count);
                }
            }
        }
    }
}

#[test]
fn the_textbook_s_numbers_of_rounds() {
    let logarithm = |size: u32| {
        (0..)
            .find(|&k| 1 << k >= u64::from(size))
            .expect("there is one")
    };
    for size in 1..=4096 {
        let up = logarithm(size);
        let doubling = if size.is_power_of_two() {
            up
        } else {
            u64::from(size.ilog2()) + 2
        };
        let expected = [up, 2 * up, up, up, doubling, 2 * (u64::from(size) - 1)];
        assert_eq!(
            Vec::from_iter(proved().map(|algorithm| rounds(algorithm, size))),
            expected
        );
    }
}

#[test]
fn the_ring_sends_the_least_volume() {
    for size in 2..=64_u32 {
        let report = prove(
            Algorithm::AllreduceRing,
            size,
            0,
            10 * u64::from(size),
            &whole(),
        );
        assert_eq!(report.volume, 2 * (u64::from(size) - 1) * 10);
    }
}

#[test]
fn the_ring_is_right_in_segments() {
    for size in 1..=16 {
        for segment in [1, 2, 3, 7] {
            // A vector of 2^40 elements is cut into as many segments as are allowed.
            let last = if size <= 4 { 1 << 40 } else { 7 };
            for count in [1, 5, u64::from(size) * 6, u64::from(size) * 7 + 1, last] {
                let report = prove(
                    Algorithm::AllreduceRing,
                    size,
                    0,
                    count,
                    &in_segments(segment),
                );
                assert!(report.scratch <= count);
            }
        }
    }
}

/// Few cases, since each one is a proof for many ranks.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(6))]

    #[test]
    fn every_algorithm_of_few_rounds_is_right_on_up_to_4096_ranks(
        size in 65_u32..=4096, root in any::<prop::sample::Index>(), count in 0_u64..=1 << 50,
    ) {
        let root = root.index(size as usize) as u32;
        for algorithm in proved() {
            if algorithm != Algorithm::AllreduceRing {
                let report = prove(algorithm, size, root, count, &whole());
                prop_assert_eq!(Some(u64::from(report.rounds)), promised(algorithm, size, count));
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(3))]

    #[test]
    fn the_ring_is_right_with_any_segments(
        size in 65_u32..=128, count in 1_u64..=1000, segment in 1_u64..=8,
    ) {
        prove(Algorithm::AllreduceRing, size, 0, count, &in_segments(segment));
    }
}

proptest! {
    #![proptest_config(cases(1))]

    /// Most chunks are empty here: with a full vector the ring of 4,096 ranks carries 33 million
    /// messages.
    #[test]
    fn the_ring_is_right_on_up_to_4096_ranks(
        size in 65_u32..=4096, count in 1_u64..=4, in_place: bool,
    ) {
        let call = |rank| Call::allreduce(rank, size, count, 1).with_in_place(in_place);
        let calls: Vec<_> = (0..size).map(call).collect();
        prop_assert!(check(Algorithm::AllreduceRing, &calls, &[], &whole()).is_ok());
    }
}
