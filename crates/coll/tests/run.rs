//! Runs algorithms on N ranks of one thread with an operation that does not commute, and compares the
//! results.

use crate::common::driver::{TestRank, run};
use oxmpi_coll::catalog::{Algorithm, AnyPlan, Call, Collective, Parameters};

const SIZES: [u32; 9] = [1, 2, 3, 4, 5, 7, 8, 12, 17];
const COUNTS: [u64; 5] = [0, 1, 2, 5, 40];

fn sizes_and_counts() -> impl Iterator<Item = (u32, u64)> {
    let sizes = SIZES.into_iter();
    sizes.flat_map(|size| COUNTS.map(|count| (size, count)))
}

/// A word that names a rank and an element index.
fn word(rank: u32, index: u64) -> String {
    format!("{rank}.{index} ")
}

fn words(rank: u32, count: u64) -> Vec<String> {
    (0..count).map(|index| word(rank, index)).collect()
}

/// The reduction of all ranks' words in rank order.
fn reduced(size: u32, count: u64) -> Vec<String> {
    (0..count)
        .map(|index| (0..size).map(|rank| word(rank, index)).collect())
        .collect()
}

/// Runs `algorithm` on the calls of all ranks. In place, the input starts in the output buffer.
fn run_all(algorithm: Algorithm, size: u32, call: impl Fn(u32) -> Call) -> Vec<TestRank> {
    let parameters = Parameters::NONE.with_segment(3);
    let ranks = (0..size).map(|rank| {
        let call = call(rank);
        let plan: AnyPlan = algorithm
            .plan(&call, &parameters)
            .expect("the algorithm supports the call");
        let (input, blank) = (
            words(rank, call.count),
            vec![String::new(); call.count as usize],
        );
        if call.in_place {
            (plan, vec![], input)
        } else {
            (plan, input, blank)
        }
    });
    run(ranks.collect())
}

#[test]
fn barrier_completes_on_every_rank() {
    for size in SIZES {
        run_all(Algorithm::BarrierDissemination, size, |rank| {
            Call::barrier(rank, size)
        });
    }
}

#[test]
fn bcast_delivers_the_root_s_elements() {
    for (size, count) in sizes_and_counts() {
        for root in 0..size {
            let ends = run_all(Algorithm::BcastBinomial, size, |rank| {
                Call::bcast(rank, size, root, count)
            });
            for (_, end) in (0..).zip(&ends).filter(|&(rank, _)| rank != root) {
                assert_eq!(end.output, words(root, count), "{size} ranks, root {root}");
            }
        }
    }
}

#[test]
fn reduce_keeps_the_order_of_the_ranks_under_every_root() {
    for (size, count) in sizes_and_counts() {
        for (root, in_place) in (0..size).flat_map(|root| [(root, false), (root, true)]) {
            let call = |rank| {
                let call = Call::reduce(rank, size, root, count, 1).with_commutative(false);
                call.with_in_place(in_place && rank == root)
            };
            let ends = run_all(Algorithm::ReduceBinomial, size, call);
            assert_eq!(
                ends[root as usize].output,
                reduced(size, count),
                "{size} ranks, root {root}"
            );
        }
    }
}

#[test]
fn allreduce_gives_every_rank_the_same_result() {
    for (size, count) in sizes_and_counts() {
        for (algorithm, in_place) in Collective::Allreduce
            .algorithms()
            .filter(|algorithm| algorithm.is_by_messages())
            .flat_map(|algorithm| [(algorithm, false), (algorithm, true)])
        {
            let needs = algorithm.row().needs;
            let commutative = needs.commutative || needs.exact;
            let call = |rank| {
                let call = Call::allreduce(rank, size, count, 1).with_in_place(in_place);
                if needs.exact {
                    call.exactly()
                } else {
                    call.with_commutative(commutative)
                }
            };
            let ends = run_all(algorithm, size, call);
            let expected = if commutative {
                sorted(&ends[0].output)
            } else {
                reduced(size, count)
            };
            assert_eq!(sorted(&expected), sorted(&reduced(size, count)));
            for end in &ends {
                assert_eq!(sorted(&end.output), sorted(&expected), "{algorithm}");
                let same_bits = needs.exact || end.output == ends[0].output;
                assert!(same_bits, "{algorithm}, {size} ranks");
                if !commutative {
                    assert_eq!(end.output, expected, "{algorithm}, {size} ranks");
                }
            }
        }
    }
}

/// The elements with their words sorted.
fn sorted(elements: &[String]) -> Vec<String> {
    let sort = |element: &String| {
        let mut words: Vec<_> = element.split_inclusive(' ').collect();
        words.sort_unstable();
        words.concat()
    };
    elements.iter().map(sort).collect()
}
