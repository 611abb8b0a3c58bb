//! The volume and rounds of reduce_scatter against the lower bounds.

use oxmpi_coll::catalog::{Algorithm, Collective};
use oxmpi_coll::check::Case;

/// All algorithms by messages, but those that reduce whole vectors to one rank first.
#[test]
fn every_algorithm_sends_the_least_volume() {
    let collectives = [Collective::ReduceScatter, Collective::ReduceScatterBlock];
    let all = collectives.into_iter().flat_map(Collective::algorithms);
    let sends = |one: &Algorithm| one.row().parameters.stages[0].is_none() && one.is_by_messages();
    for algorithm in all.filter(sends) {
        for size in 1..=33 {
            let case = Case::new(algorithm.collective(), size, 7);
            let call = case.call(0, &case.arrays());
            if algorithm.suits(&call).is_err() {
                continue;
            }
            let report = case.check(algorithm);
            let report = report.unwrap_or_else(|fault| panic!("{algorithm}, {size}: {fault}"));
            assert_eq!(report.volume, u64::from(size - 1) * 7, "{algorithm}");
            if algorithm.name() == "halving" {
                assert_eq!(report.rounds, size.ilog2(), "{size} ranks");
            }
        }
    }
}
