//! The checker on the algorithms that meet a lower bound, on up to 1,024 ranks: their results are right
//! and they take exactly the rounds and the volume that the catalog states.

use oxmpi_coll::catalog::{Algorithm, Call, Collective, Parameters};
use oxmpi_coll::check::{Arrays, Lengths, ProofReport, check};
use proptest::prelude::*;

const fn blocks(blocks: u32) -> Parameters {
    Parameters::NONE.with_blocks(blocks)
}

const fn radix(radix: u32) -> Parameters {
    Parameters::NONE.with_radix(radix)
}

/// `ceil(log2 p)`.
fn log(size: u32) -> u64 {
    size.next_power_of_two().ilog2().into()
}

/// A call of all ranks, and the algorithm that serves it.
#[derive(Clone, Debug)]
struct Case {
    algorithm: Algorithm,
    parameters: Parameters,
    size: u32,
    root: u32,
    count: u64,
    /// The lengths of blocks, for collectives whose blocks differ.
    lengths: Vec<u64>,
}

impl Case {
    fn new(algorithm: Algorithm, size: u32, count: u64) -> Self {
        Case {
            algorithm,
            parameters: Parameters::NONE,
            size,
            root: 0,
            count,
            lengths: Vec::new(),
        }
    }

    fn with(self, parameters: Parameters) -> Self {
        Case { parameters, ..self }
    }

    fn to(self, root: u32) -> Self {
        Case { root, ..self }
    }

    /// The call with blocks of these lengths, repeated over the ranks.
    fn of(self, lengths: &[u64]) -> Self {
        let lengths: Vec<_> = lengths
            .iter()
            .copied()
            .cycle()
            .take(self.size as usize)
            .collect();
        Case {
            count: lengths.iter().sum(),
            lengths,
            ..self
        }
    }

    fn call(&self, rank: u32) -> Call {
        let mut call = Call::barrier(rank, self.size);
        call.collective = self.algorithm.collective();
        call.root = if call.collective.has_root() {
            self.root
        } else {
            0
        };
        call.count = self.count;
        call
    }

    fn rounds(&self) -> u64 {
        self.algorithm.rounds(&self.call(0), &self.parameters)
    }

    /// Proves the call in place and not, and with an operation that does not commute where the algorithm
    /// keeps the order of ranks. Returns the report of the call that is not in place.
    fn prove(&self) -> ProofReport {
        let rooted = matches!(
            self.algorithm.collective(),
            Collective::Bcast | Collective::Reduce
        );
        let needs = self.algorithm.row().needs;
        let report = |in_place| {
            let call = |rank| {
                let call = self
                    .call(rank)
                    .with_in_place(in_place && (!rooted || rank == self.root));
                match needs.exact {
                    true => call.exactly(),
                    false => call.with_commutative(needs.commutative),
                }
            };
            let calls: Vec<_> = (0..self.size).map(call).collect();
            let lengths = Lengths::new(self.lengths.iter().copied());
            let arrays = Arrays {
                sends: lengths.clone(),
                recvs: lengths,
                ..Arrays::default()
            };
            let arrays = vec![arrays; self.size as usize];
            check(self.algorithm, &calls, &arrays, &self.parameters)
                .unwrap_or_else(|fault| panic!("{self:?}, in place {in_place}: {fault}"))
        };
        let apart = report(false);
        if self.algorithm.collective() != Collective::Bcast {
            assert_eq!(apart.rounds, report(true).rounds, "{self:?}");
        }
        // An empty block lets the later of two concurrent rounds finish first, so rounds may differ.
        let may_mix = self.algorithm == Algorithm::ReduceScatterPairwise;
        assert!(
            u64::from(apart.rounds) <= self.rounds() || may_mix && self.lengths.contains(&0),
            "{self:?}: {apart:?}"
        );
        apart
    }

    /// Proves the call and that it takes exactly the rounds that the catalog states.
    fn prove_exactly(&self) -> ProofReport {
        let report = self.prove();
        assert_eq!(u64::from(report.rounds), self.rounds(), "{self:?}");
        report
    }
}

/// All numbers of ranks to 64, then ever fewer to 256.
fn sizes() -> impl Iterator<Item = u32> {
    (1..=64)
        .chain((65..=128).step_by(3))
        .chain([129, 191, 192, 193, 255, 256])
}

#[test]
fn pipelined_bcast_and_reduce_take_the_fewest_rounds() {
    for algorithm in [Algorithm::BcastCirculant, Algorithm::ReduceCirculant] {
        for size in sizes().skip(1) {
            let case = Case::new(algorithm, size, 40).with(blocks(1 + size % 7));
            let report = case.prove_exactly();
            assert_eq!(u64::from(report.rounds), u64::from(size % 7) + log(size));
            let messages = (1 + size % 7) * (size - 1);
            assert_eq!(
                report.messages,
                u64::from(messages),
                "every block is sent once"
            );
        }
        for (size, n) in sizes().flat_map(|size| [1, 2, 17, 40].map(|n| (size, n))) {
            let root = n * 5 % size;
            Case::new(algorithm, size, 50)
                .with(blocks(n))
                .to(root)
                .prove_exactly();
        }
        for (size, root) in (1..=16).flat_map(|size| (0..size).map(move |root| (size, root))) {
            Case::new(algorithm, size, 40)
                .with(blocks(6))
                .to(root)
                .prove_exactly();
        }
    }
}

#[test]
fn reduce_scatter_and_allgather_reach_both_bounds() {
    for size in sizes() {
        for algorithm in [
            Algorithm::ReduceScatterBlockCirculant,
            Algorithm::AllgatherCirculant,
        ] {
            let report = Case::new(algorithm, size, 10).prove_exactly();
            assert_eq!(u64::from(report.rounds), log(size));
            assert_eq!(report.volume, 10 * u64::from(size - 1), "{size} ranks");
        }
    }
}

const TREES: [Algorithm; 4] = [
    Algorithm::BcastKnomial,
    Algorithm::ReduceKnomial,
    Algorithm::BcastPostal,
    Algorithm::ReducePostal,
];

#[test]
fn trees_take_their_rounds() {
    for (size, k) in sizes().flat_map(|size| [2, 3, 4, 8].map(|k| (size, k))) {
        for algorithm in TREES {
            let case = Case::new(algorithm, size, 3).with(radix(k));
            case.to(size / k).prove_exactly();
        }
    }
    for (size, root) in (1..=16).flat_map(|size| (0..size).map(move |root| (size, root))) {
        for algorithm in TREES {
            Case::new(algorithm, size, 3)
                .with(radix(3))
                .to(root)
                .prove_exactly();
        }
    }
}

#[test]
fn allreduce_reaches_both_bounds() {
    for size in sizes() {
        let count = 10 * u64::from(size);
        let report = Case::new(Algorithm::AllreduceCirculant, size, count).prove_exactly();
        assert_eq!(u64::from(report.rounds), 2 * log(size));
        assert_eq!(report.volume, 20 * u64::from(size - 1), "{size} ranks");
        assert!(report.scratch <= count / 2);
    }
}

#[test]
fn algorithms_for_short_vectors_take_the_fewest_rounds() {
    for size in sizes() {
        for algorithm in [
            Algorithm::AllreduceGatherReduce,
            Algorithm::AllreduceCensus,
            Algorithm::ScanDoubling,
        ] {
            let report = Case::new(algorithm, size, 3).prove_exactly();
            assert_eq!(
                u64::from(report.rounds),
                log(size),
                "{algorithm}, {size} ranks"
            );
        }
        for algorithm in [Algorithm::ExscanDoubling123, Algorithm::ExscanShift] {
            Case::new(algorithm, size, 3).prove_exactly();
        }
    }
}

#[test]
fn chains_and_pairwise_exchanges_take_their_rounds() {
    for size in 1..=64 {
        for n in [1, 7] {
            for algorithm in [Algorithm::BcastChain, Algorithm::ReduceChain] {
                Case::new(algorithm, size, 40)
                    .with(blocks(n))
                    .to(size / 2)
                    .prove_exactly();
            }
        }
        Case::new(Algorithm::ReduceScatterBlockPairwise, size, 3).prove_exactly();
    }
}

#[test]
fn halving_and_rings_take_their_rounds() {
    for size in sizes() {
        let vector = u64::from(size) * 4;
        for algorithm in [
            Algorithm::BcastScatterAllgather,
            Algorithm::ReduceRabenseifner,
        ] {
            for root in [0, size / 2, size - 1] {
                Case::new(algorithm, size, vector).to(root).prove_exactly();
            }
        }
        Case::new(Algorithm::AllreduceRabenseifner, size, vector).prove_exactly();
    }
}

#[test]
fn recursive_multiplying_takes_its_rounds() {
    for size in sizes() {
        for k in [2, 3, 4] {
            let case = Case::new(Algorithm::AllreduceRecursiveMultiplying, size, 3);
            case.with(radix(k)).prove_exactly();
        }
        for k in [5, 6, 7, 8] {
            let case = Case::new(Algorithm::AllreduceRecursiveMultiplying, size, 3);
            case.with(radix(k)).prove();
        }
    }
}

#[test]
fn recursive_splitting_takes_its_rounds() {
    for size in sizes() {
        for k in 2..=8_u32 {
            let case = Case::new(Algorithm::AllreduceRecursiveSplitting, size, 3);
            let case = case.with(radix(k));
            // With radix 5 and more, ranks wait for each other's send ports.
            if k <= 4 && (1..9).any(|phases| k.pow(phases) == size) {
                case.prove_exactly();
            } else {
                case.prove();
            }
        }
    }
}

#[test]
fn short_vectors_send_no_empty_messages() {
    let algorithms = Algorithm::ALL.into_iter().filter(|algorithm| {
        use Collective::{Allreduce, Bcast, Exscan, Reduce, Scan};
        matches!(
            algorithm.collective(),
            Bcast | Reduce | Allreduce | Scan | Exscan
        )
    });
    for algorithm in algorithms {
        for size in (1..=12).chain([17, 33]) {
            for count in [0, 1, 2, u64::from(size) - 1, u64::from(size) + 1] {
                let case = Case::new(algorithm, size, count).to(size / 2);
                // Some algorithms support even numbers of ranks only.
                if algorithm.suits(&case.call(0)).is_ok() {
                    case.prove();
                }
            }
        }
    }
}

#[test]
fn blocks_of_unequal_lengths() {
    for algorithm in [
        Algorithm::AllgathervCirculant,
        Algorithm::ReduceScatterCirculant,
        Algorithm::ReduceScatterPairwise,
    ] {
        for size in 1..=24 {
            for lengths in [
                &[0][..],
                &[1],
                &[3, 0, 5],
                &[0, 9],
                &[7, 1, 0, 0],
                &[1, 1 << 40],
            ] {
                Case::new(algorithm, size, 0).of(lengths).prove();
            }
        }
        Case::new(algorithm, 40, 0).of(&[2]).prove_exactly();
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn many_ranks(
        size in 257_u32..=1024, root in any::<prop::sample::Index>(), n in 1_u32..40, k in 2_u32..=4,
    ) {
        let root = root.index(size as usize) as u32;
        let parameters = Parameters { blocks: n, radix: k, ..Parameters::NONE };
        for algorithm in [
            Algorithm::BcastCirculant,
            Algorithm::ReduceCirculant,
            Algorithm::BcastKnomial,
            Algorithm::ReduceKnomial,
            Algorithm::BcastPostal,
            Algorithm::ReducePostal,
            Algorithm::ReduceRabenseifner,
            Algorithm::AllreduceRecursiveMultiplying,
            Algorithm::AllreduceCensus,
            Algorithm::AllreduceCirculant,
            Algorithm::AllreduceRabenseifner,
            Algorithm::ScanDoubling,
            Algorithm::ExscanDoubling123,
        ] {
            Case::new(algorithm, size, 1 << 40).with(parameters).to(root).prove_exactly();
        }
        let splitting = Algorithm::AllreduceRecursiveSplitting;
        Case::new(splitting, size, 1 << 40).with(parameters).prove();
    }
}
