//! The checker on node-aware plans: nodes of several sizes, in block and cyclic order, with full and
//! partly filled nodes.

use oxmpi_coll::catalog::{Algorithm, Collective, Parameters};
use oxmpi_coll::check::{Case, ProofReport};
use oxmpi_coll::placement::{Order, Placement};
use rayon::prelude::*;

/// The algorithms with phases between and inside nodes.
fn algorithms() -> Vec<Algorithm> {
    let names = ["node-aware", "postal", "rail"];
    let is_named = |one: &Algorithm| names.iter().any(|name| one.name().contains(name));
    Algorithm::ALL.into_iter().filter(is_named).collect()
}

fn on(per_node: u32, order: Order) -> Parameters {
    Parameters::NONE.with_per_node(per_node).with_order(order)
}

/// Proves the algorithm for several roots, with and without a commutative operation, in place and not.
/// `None` if it supports none of these calls.
fn prove(
    algorithm: Algorithm,
    size: u32,
    count: u64,
    parameters: &Parameters,
) -> Option<ProofReport> {
    let collective = algorithm.collective();
    let roots: &[u32] = match collective.has_root() {
        true => &[0, size / 2, size - 1],
        false => &[0],
    };
    let orders: &[bool] = match collective.reduces() {
        true => &[true, false],
        false => &[true],
    };
    let places: &[bool] = match collective {
        Collective::Barrier | Collective::Bcast => &[false],
        _ => &[false, true],
    };
    let mut last = None;
    for (&root, &commutative) in roots
        .iter()
        .flat_map(|r| orders.iter().map(move |o| (r, o)))
    {
        for &in_place in places {
            let case = Case {
                root,
                commutative,
                in_place,
                parameters: *parameters,
                ..Case::new(collective, size, count)
            };
            if algorithm.suits(&case.call(root, &case.arrays())).is_err() {
                continue;
            }
            let report = case.check(algorithm);
            last = Some(report.unwrap_or_else(|fault| panic!("{algorithm}, {case:?}: {fault}")));
        }
    }
    last
}

/// The rounds that the catalog states for the algorithm.
fn rounds(algorithm: Algorithm, size: u32, count: u64, parameters: &Parameters) -> u64 {
    let case = Case::new(algorithm.collective(), size, count);
    algorithm.rounds(&case.call(0, &case.arrays()), parameters)
}

#[test]
fn every_plan_is_right_on_nodes_of_every_size_in_block_and_cyclic_order() {
    algorithms().into_par_iter().for_each(|algorithm| {
        for size in (1..=24).chain([40, 64]) {
            for order in [Order::Block, Order::Cyclic] {
                let mut sizes = vec![1, 2, 3, 4, 5, 8, 16, 64];
                // In cyclic order several make the same nodes.
                sizes.dedup_by_key(|&mut per_node| Placement::new(order, size, per_node));
                for per_node in sizes {
                    for (count, blocks) in [(0, 0), (1, 0), (3, 1), (3, 0)] {
                        let parameters = Parameters {
                            blocks,
                            ..on(per_node, order)
                        };
                        let Some(report) = prove(algorithm, size, count, &parameters) else {
                            continue;
                        };
                        // The ranks of a node send to different numbers of nodes, so phases overlap.
                        if algorithm == Algorithm::AlltoallNodeAware && per_node > 1 {
                            continue;
                        }
                        let most = rounds(algorithm, size, count, &parameters);
                        assert!(
                            u64::from(report.rounds) <= most,
                            "{algorithm}, {size} ranks, {parameters:?}: {} rounds, not {most}",
                            report.rounds
                        );
                    }
                }
            }
        }
    });
}

#[test]
fn rails_take_their_rounds_exactly() {
    for (size, per_node) in [(12, 3), (16, 4), (35, 5), (64, 8)] {
        for algorithm in [
            Algorithm::AllgatherRailBruck,
            Algorithm::AllgatherRailRing,
            Algorithm::AllreduceRailCirculant,
            Algorithm::ReduceScatterBlockRailCirculant,
        ] {
            let parameters = on(per_node, Order::Block);
            let count = 2 * u64::from(size);
            let report = prove(algorithm, size, count, &parameters)
                .expect("the algorithm supports the call");
            let promised = rounds(algorithm, size, count, &parameters);
            assert_eq!(u64::from(report.rounds), promised);
        }
    }
}

/// Bcast and reduce send one message into or out of each node but the root's; in an allreduce a leader
/// sends one in each of three rounds.
#[test]
fn only_leaders_send_to_other_nodes() {
    let (nodes, ranks) = (8, 5);
    let inside = u64::from(nodes * (ranks - 1));
    let messages = |algorithm| {
        let report = prove(algorithm, nodes * ranks, 3, &on(ranks, Order::Block));
        report.expect("the algorithm supports the call").messages
    };
    assert_eq!(messages(Algorithm::BcastNodeAware), 7 + inside);
    assert_eq!(messages(Algorithm::ReduceNodeAware), 7 + inside);
    assert_eq!(messages(Algorithm::BcastPostal), 7 + inside);
    assert_eq!(messages(Algorithm::ReducePostal), 7 + inside);
    assert_eq!(messages(Algorithm::AllreduceNodeAware), 3 * 8 + 2 * inside);
}

#[test]
fn each_node_sends_each_other_one_message_in_alltoall() {
    let (nodes, ranks) = (10, 4);
    let report = prove(
        Algorithm::AlltoallNodeAware,
        nodes * ranks,
        1,
        &on(ranks, Order::Block),
    );
    let inside = 2 * u64::from(nodes * ranks * (ranks - 1));
    let messages = report.expect("the algorithm supports the call").messages;
    assert_eq!(messages, u64::from(nodes * (nodes - 1)) + inside);
}

/// 12 nodes of 4 ranks exchange in two phases: each node with 4 others, then with the 2 nodes 5 and 10
/// away, whose data are 5 nodes' blocks and 2. One rank handles each message, or two ranks share it.
#[test]
fn every_rank_of_a_node_sends_to_other_nodes() {
    let (nodes, ranks) = (12, 4);
    let messages = |algorithm, blocks| {
        let parameters = Parameters {
            radix: ranks,
            blocks,
            ..on(ranks, Order::Block)
        };
        let report = prove(algorithm, nodes * ranks, 3, &parameters);
        report.expect("the algorithm supports the call").messages
    };
    for algorithm in [
        Algorithm::AllgatherNodeAware,
        Algorithm::AllgathervNodeAware,
    ] {
        // With radix 4 a node gets a block in one message from each rank that received a share of it.
        let spread = |owners: u32| u64::from(nodes * owners * (ranks - 1));
        let crossed = |ports: u32| u64::from(nodes * ports);
        assert_eq!(messages(algorithm, 1), spread(4 + 4 + 2) + crossed(4 + 2));
        assert_eq!(messages(algorithm, 2), spread(4 + 4 + 4) + crossed(4 + 4));
    }
}
