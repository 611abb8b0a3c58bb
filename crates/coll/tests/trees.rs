//! Rounds, volume and scratch of gather, scatter, allgather, alltoall and their irregular versions,
//! against the lower bounds.

use oxmpi_coll::catalog::{Algorithm, Parameters};
use oxmpi_coll::check::{Case, ProofReport};

/// The bytes of a block.
const BLOCK: u64 = 100;

/// Proves the algorithm on `size` ranks with equal blocks. `None` if the algorithm does not support the
/// call.
fn prove(
    algorithm: Algorithm,
    size: u32,
    root: u32,
    parameters: Parameters,
) -> Option<ProofReport> {
    let case = Case {
        root,
        parameters,
        ..Case::new(algorithm.collective(), size, BLOCK)
    };
    algorithm.suits(&case.call(0, &case.arrays())).ok()?;
    let report = case.check(algorithm);
    Some(report.unwrap_or_else(|fault| panic!("{algorithm}, {size} ranks, root {root}: {fault}")))
}

/// `ceil(log2 size)`, by counting.
fn logarithm(size: u32) -> u32 {
    (0..)
        .find(|&k| 1_u64 << k >= u64::from(size))
        .expect("some power of two is large enough")
}

fn sizes() -> impl Iterator<Item = u32> {
    (1..=40).chain([64, 100])
}

#[test]
fn trees_and_bruck_meet_the_bounds_on_rounds_and_volume() {
    for size in sizes() {
        let others = u64::from(size - 1) * BLOCK;
        for algorithm in [
            Algorithm::GatherBinomial,
            Algorithm::ScatterBinomial,
            Algorithm::AllgatherBruck,
            Algorithm::AllgathervBruck,
            Algorithm::AllgatherRecursiveDoubling,
        ] {
            for root in [0, size / 3, size - 1] {
                let is_gather = algorithm == Algorithm::GatherBinomial;
                if let Some(report) = prove(algorithm, size, root, Parameters::NONE) {
                    assert_eq!(report.rounds, logarithm(size), "{algorithm}, {size} ranks");
                    // In a gather the root only receives: no rank sends all blocks.
                    assert!(report.volume == others || is_gather && report.volume < others);
                }
            }
        }
    }
}

#[test]
fn algorithms_that_exchange_single_blocks_send_the_least_volume() {
    for size in sizes() {
        for algorithm in [
            Algorithm::AllgatherRing,
            Algorithm::AllgatherLinear,
            Algorithm::AllgatherNeighborExchange,
            Algorithm::AlltoallPairwise,
            Algorithm::AlltoallLinear,
            Algorithm::AlltoallvPairwise,
            Algorithm::AlltoallvLinear,
        ] {
            if let Some(report) = prove(algorithm, size, 0, Parameters::NONE) {
                // With an odd number of ranks the folded rank costs one more block.
                let has_folded_rank = algorithm == Algorithm::AllgatherNeighborExchange
                    && size > 3
                    && !size.is_multiple_of(2);
                let volume = u64::from(size - 1 + u32::from(has_folded_rank)) * BLOCK;
                assert_eq!((report.volume, report.scratch), (volume, 0), "{algorithm}");
            }
        }
    }
}

#[test]
fn bruck_alltoall_sends_a_block_once_per_nonzero_digit() {
    for (size, radix) in sizes().flat_map(|size| [2, 3, 4, 7].map(|radix| (size, radix))) {
        let parameters = Parameters::NONE.with_radix(radix);
        let report = prove(Algorithm::AlltoallBruck, size, 0, parameters)
            .expect("the algorithm supports the call");
        let digits = |mut distance: u32| {
            let mut digits = 0;
            while distance > 0 {
                digits += u64::from(!distance.is_multiple_of(radix));
                distance /= radix;
            }
            digits
        };
        assert_eq!(
            report.volume,
            (0..size).map(digits).sum::<u64>() * BLOCK,
            "{size} ranks, radix {radix}"
        );
    }
}

#[test]
fn irregular_trees_take_no_more_rounds_and_messages_than_regular_ones() {
    for size in sizes() {
        let others = u64::from(size - 1);
        for root in [0, size / 3, size - 1] {
            let gather = |cutoff| {
                let parameters = Parameters::NONE.with_cutoff(cutoff);
                prove(Algorithm::GathervKnomial, size, root, parameters)
                    .expect("the algorithm supports the call")
            };
            let scatter = |cutoff| {
                let parameters = Parameters::NONE.with_cutoff(cutoff);
                prove(Algorithm::ScattervKnomial, size, root, parameters)
                    .expect("the algorithm supports the call")
            };
            let regular = prove(Algorithm::GatherBinomial, size, root, Parameters::NONE);
            let regular = regular.expect("the algorithm supports the call");
            let short = gather(BLOCK);
            assert_eq!(
                (short.rounds, short.messages, short.volume),
                (logarithm(size), others, regular.volume)
            );
            let short = scatter(BLOCK);
            assert_eq!((short.rounds, short.messages), (logarithm(size), others));
            // Each length takes 8 bytes; the first rank of a subtree knows its own length.
            assert!(short.volume <= others * (BLOCK + 8));
            // Long blocks skip the tree: only their owners and the root handle them.
            let long = gather(BLOCK - 1);
            assert_eq!(
                (long.volume, long.scratch),
                (BLOCK * others.min(1), 0),
                "{size} ranks"
            );
            let long = scatter(BLOCK - 1);
            assert!(long.volume <= others * (BLOCK + 8));
            assert!(long.scratch <= 16 * u64::from(size));
        }
    }
}
