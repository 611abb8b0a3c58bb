//! The checker on reduce_scatter and reduce_scatter_block: every number of ranks to 64, blocks of one
//! length, of none and of many, in place and not, with operations that commute and that do not.

use oxmpi_coll::catalog::{Algorithm, Call, Collective, Parameters};
use oxmpi_coll::check::{Arrays, Lengths, Report, check};

/// Proves the algorithm for blocks of these lengths, or of one length; `None` where it does not
/// suit.
fn prove(algorithm: Algorithm, lengths: &[u64], in_place: bool, ordered: bool) -> Option<Report> {
    let size = lengths.len() as u32;
    let is_block = algorithm.collective() == Collective::ReduceScatterBlock;
    let arrays = Arrays {
        sends: Lengths::new(lengths.iter().copied()),
        ..Arrays::default()
    };
    let calls = (0..size).map(|rank| {
        let call = if is_block {
            Call::reduce_scatter_block(rank, size, lengths[0], 8)
        } else {
            Call::reduce_scatter(rank, size, lengths.iter().sum(), 8)
        };
        call.with_in_place(in_place).with_commutative(!ordered)
    });
    let calls: Vec<_> = calls.collect();
    algorithm.suits(&calls[0]).ok()?;
    let arrays = if is_block {
        vec![]
    } else {
        vec![arrays; lengths.len()]
    };
    let report = check(algorithm, &calls, &arrays, &Parameters::NONE);
    let report = report.unwrap_or_else(|fault| {
        panic!("{algorithm}, {lengths:?}, in place {in_place}, ordered {ordered}: {fault}")
    });
    let promised = algorithm.rounds(&calls[0], &Parameters::NONE);
    assert!(
        u64::from(report.rounds) <= promised,
        "{algorithm}, {lengths:?}"
    );
    Some(report)
}

#[test]
fn every_number_of_ranks() {
    let algorithms = [Collective::ReduceScatter, Collective::ReduceScatterBlock];
    for algorithm in algorithms.into_iter().flat_map(Collective::algorithms) {
        for size in 1..=64_u64 {
            for (in_place, ordered) in [(false, false), (true, false), (false, true), (true, true)]
            {
                for count in [0, 1, 7] {
                    let lengths = vec![count; size as usize];
                    let report = prove(algorithm, &lengths, in_place, ordered);
                    if let Some(report) = report {
                        assert_eq!(report.volume, (size - 1) * count, "{algorithm}");
                    }
                }
                if algorithm.collective() == Collective::ReduceScatter {
                    let lengths: Vec<_> = (0..size).map(|rank| rank * size % 5).collect();
                    prove(algorithm, &lengths, in_place, ordered);
                }
            }
        }
    }
}
