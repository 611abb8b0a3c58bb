//! The checker on plans for ranks on nodes: nodes of several sizes, in both orders, full and not.

use oxmpi_coll::catalog::{Algorithm, Call, Collective, Parameters};
use oxmpi_coll::check::{Report, check};
use oxmpi_coll::placement::Order;

const ALGORITHMS: [Algorithm; 4] = [
    Algorithm::BarrierNodeAware,
    Algorithm::AllgatherLaneBruck,
    Algorithm::AllgatherLaneRing,
    Algorithm::AlltoallNodeAware,
];

fn call(collective: Collective, rank: u32, size: u32, count: u64) -> Call {
    match collective {
        Collective::Barrier => Call::barrier(rank, size),
        Collective::Allgather => Call::allgather(rank, size, count),
        Collective::Alltoall => Call::alltoall(rank, size, count),
        other => panic!("{other} has no call here"),
    }
}

fn on(per_node: u32, order: Order) -> Parameters {
    Parameters {
        per_node,
        order,
        ..Parameters::NONE
    }
}

/// Proves the algorithm in place and not; `None` where it suits neither.
fn prove(algorithm: Algorithm, size: u32, count: u64, parameters: &Parameters) -> Option<Report> {
    let reports = [false, true].into_iter().filter_map(|in_place| {
        let call = |rank| call(algorithm.collective(), rank, size, count).with_in_place(in_place);
        let calls: Vec<_> = (0..size).map(call).collect();
        algorithm.suits(&calls[0]).ok()?;
        let report = check(algorithm, &calls, &[], parameters);
        Some(report.unwrap_or_else(|fault| {
            panic!("{algorithm}, {size} ranks, {count} elements, {parameters:?}: {fault}")
        }))
    });
    reports.fold(None, |_, report| Some(report))
}

#[test]
fn every_plan_is_right_on_nodes_of_every_size_in_both_orders() {
    for algorithm in ALGORITHMS {
        for size in (1..=24).chain([40, 64]) {
            for per_node in [1, 2, 3, 4, 5, 8, 16, 64] {
                for order in [Order::Block, Order::Cyclic] {
                    for count in [0, 1, 3] {
                        let parameters = on(per_node, order);
                        let Some(report) = prove(algorithm, size, count, &parameters) else {
                            continue;
                        };
                        // The ranks of a node do not have equally many nodes to send to, so
                        // phases do not end at once.
                        if algorithm == Algorithm::AlltoallNodeAware && per_node > 1 {
                            continue;
                        }
                        let first = call(algorithm.collective(), 0, size, count);
                        let most = algorithm.rounds(&first, &parameters);
                        assert!(
                            u64::from(report.rounds) <= most,
                            "{algorithm}, {size} ranks, {parameters:?}: {} rounds, not {most}",
                            report.rounds
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn lanes_take_their_rounds_exactly() {
    for (size, per_node) in [(12, 3), (16, 4), (35, 5), (64, 8)] {
        for algorithm in [Algorithm::AllgatherLaneBruck, Algorithm::AllgatherLaneRing] {
            let parameters = on(per_node, Order::Block);
            let report = prove(algorithm, size, 2, &parameters).expect("it suits");
            let call = Call::allgather(0, size, 2);
            assert_eq!(
                u64::from(report.rounds),
                algorithm.rounds(&call, &parameters)
            );
        }
    }
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
    let messages = report.expect("it suits").messages;
    assert_eq!(messages, u64::from(nodes * (nodes - 1)) + inside);
}
