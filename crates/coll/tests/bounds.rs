//! The lower bounds of collectives, and the algorithms that meet them for every number of ranks.
//!
//! The tests compare what the catalog states with the bounds: rounds for up to 1,024 ranks and some
//! numbers to 2^20, volumes for up to 1,024. They prove for some numbers that the plans keep to it;
//! `cargo xtask ci plans` proves it for all numbers to 1,024 and for random larger ones.
//!
//! Bar-Noy and Kipnis, "Designing broadcasting algorithms in the postal model for message-passing
//! systems", 1994; Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication: theory,
//! practice, and experience", 2007; Traeff, arXiv 2410.14234.

use oxmpi_coll::catalog::{Algorithm, AnyPlan, Collective, Parameters};
use oxmpi_coll::check::{Case, ProofReport, least_volume, plain};
use oxmpi_coll::exec::Execution;

/// The pieces of a vector in the pipelined algorithms.
const PIECES: u32 = 5;

/// `ceil(log2 p)`: the number of ranks with which one rank can have exchanged data doubles at most in
/// each round.
fn log(size: u32) -> u64 {
    size.next_power_of_two().ilog2().into()
}

/// A case whose vector or block has a multiple of the elements that any algorithm cuts it into.
fn case(algorithm: Algorithm, size: u32) -> Case {
    let whole = matches!(
        algorithm.collective(),
        Collective::Bcast | Collective::Reduce | Collective::Allreduce | Collective::Scan
    );
    let pieces = u64::from(PIECES);
    Case {
        count: if whole {
            pieces * u64::from(size)
        } else {
            pieces
        },
        parameters: Parameters {
            blocks: PIECES,
            radix: 2,
            ..plain(algorithm, size).parameters
        },
        ..plain(algorithm, size)
    }
}

/// A lower bound on rounds, and the algorithms that meet it for every number of ranks.
struct Rounds {
    bound: fn(u32) -> u64,
    met_by: &'static [Algorithm],
}

const ROUNDS: &[Rounds] = &[
    // One piece or block to or from every rank.
    Rounds {
        bound: log,
        met_by: &[
            Algorithm::BarrierDissemination,
            Algorithm::BcastBinomial,
            Algorithm::ReduceBinomial,
            Algorithm::GatherBinomial,
            Algorithm::ScatterBinomial,
            Algorithm::AllgatherBruck,
            Algorithm::AllgatherCirculant,
            Algorithm::AllgathervBruck,
            Algorithm::AllreduceCensus,
            Algorithm::AllreduceGatherReduce,
            Algorithm::AlltoallBruck,
            Algorithm::ReduceScatterCirculant,
            Algorithm::ReduceScatterBlockCirculant,
            Algorithm::ScanDoubling,
        ],
    },
    // One root; a vector of `PIECES` pieces, each sent as a whole.
    Rounds {
        bound: |size| match size {
            1 => 0,
            _ => u64::from(PIECES) - 1 + log(size),
        },
        met_by: &[Algorithm::BcastCirculant, Algorithm::ReduceCirculant],
    },
    // A reduction of a vector cut into one piece per rank, then an exchange of the pieces.
    Rounds {
        bound: |size| 2 * log(size),
        met_by: &[Algorithm::AllreduceCirculant],
    },
];

/// Numbers of ranks beyond 1,024 on which stated rounds are compared with bounds.
const MANY: [u32; 6] = [1025, 4096, 65_535, 700_000, 1_000_003, 1 << 20];

#[test]
fn rounds_meet_their_bounds_for_every_number_of_ranks() {
    for Rounds { bound, met_by } in ROUNDS {
        for (&algorithm, size) in met_by
            .iter()
            .flat_map(|one| (1..=1024).chain(MANY).map(move |p| (one, p)))
        {
            let case = case(algorithm, size);
            let arrays = case.arrays();
            let call = case.call(0, &arrays);
            assert_eq!(algorithm.suits(&call), Ok(()), "{size} ranks");
            let promised = algorithm.rounds(&call, &case.parameters);
            assert_eq!(promised, bound(size), "{algorithm}, {size} ranks");
        }
    }
}

/// Numbers of ranks near powers of two and far from them.
const SOME: [u32; 14] = [1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 33, 48, 63];

fn prove(algorithm: Algorithm, size: u32) -> ProofReport {
    let case = case(algorithm, size);
    let checked = case.check_by_symmetry(algorithm);
    let checked = checked.unwrap_or_else(|| case.check(algorithm));
    checked.unwrap_or_else(|fault| panic!("{algorithm}, {size} ranks: {fault}"))
}

#[test]
fn plans_take_the_rounds_of_the_bounds() {
    for Rounds { bound, met_by } in ROUNDS {
        for (&algorithm, size) in met_by.iter().flat_map(|one| SOME.map(|size| (one, size))) {
            let rounds = prove(algorithm, size).rounds;
            assert_eq!(u64::from(rounds), bound(size), "{algorithm}, {size} ranks");
        }
    }
}

/// A lower bound on the volume of the rank that sends most, in blocks of one rank, and the algorithms
/// that meet it for every number of ranks.
struct Volumes {
    bound: fn(u64) -> u64,
    met_by: &'static [Algorithm],
}

const VOLUMES: &[Volumes] = &[
    // Every rank receives, or sends away to be reduced, all blocks but its own.
    Volumes {
        bound: |size| size - 1,
        met_by: &[
            Algorithm::AllgatherRing,
            Algorithm::AllgatherBruck,
            Algorithm::AllgatherCirculant,
            Algorithm::AllgatherLinear,
            Algorithm::ReduceScatterCirculant,
            Algorithm::ReduceScatterPairwise,
            Algorithm::ReduceScatterBlockCirculant,
            Algorithm::ReduceScatterBlockPairwise,
            Algorithm::AllgathervRing,
            Algorithm::AllgathervBruck,
            Algorithm::AllgathervCirculant,
            Algorithm::AllgathervLinear,
            Algorithm::AlltoallPairwise,
            Algorithm::AlltoallLinear,
            Algorithm::AlltoallvPairwise,
            Algorithm::AlltoallvLinear,
        ],
    },
    // One after the other.
    Volumes {
        bound: |size| 2 * (size - 1),
        met_by: &[Algorithm::AllreduceCirculant, Algorithm::AllreduceRing],
    },
];

#[test]
fn promised_volumes_meet_their_bounds_for_every_number_of_ranks() {
    let all = || VOLUMES.iter().flat_map(|volumes| volumes.met_by);
    for Volumes { bound, met_by } in VOLUMES {
        for (&algorithm, size) in met_by
            .iter()
            .flat_map(|one| (1..=1024).map(move |p| (one, p)))
        {
            let promised = least_volume(algorithm, &case(algorithm, size));
            let bound = u64::from(PIECES) * bound(size.into());
            assert_eq!(promised, Some(bound), "{algorithm}, {size} ranks");
        }
    }
    for algorithm in Algorithm::ALL {
        let promises = least_volume(algorithm, &case(algorithm, 8)).is_some();
        assert_eq!(promises, all().any(|&one| one == algorithm), "{algorithm}");
    }
}

#[test]
fn volumes_meet_their_bounds() {
    for Volumes { bound, met_by } in VOLUMES {
        for (&algorithm, size) in met_by.iter().flat_map(|one| SOME.map(|size| (one, size))) {
            let expected = u64::from(PIECES) * bound(size.into());
            let volume = prove(algorithm, size).volume;
            assert_eq!(volume, expected, "{algorithm}, {size} ranks");
        }
    }
}

/// The state of a collective under way, besides the caller's buffers and scratch, does not grow with the
/// number of ranks.
#[test]
fn the_state_of_an_execution_is_small() {
    assert!(size_of::<Execution<AnyPlan, [u64; 4]>>() <= 64 << 10);
}
