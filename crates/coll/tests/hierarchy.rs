//! The checker on plans for ranks on nodes: nodes of several sizes, in both orders, full and not.

use oxmpi_coll::catalog::{Algorithm, Call, Collective, Parameters};
use oxmpi_coll::check::{Report, check};
use oxmpi_coll::placement::Order;

const ALGORITHMS: [Algorithm; 19] = [
    Algorithm::BarrierNodeAware,
    Algorithm::GatherNodeAware,
    Algorithm::ScatterNodeAware,
    Algorithm::ScanNodeAware,
    Algorithm::ExscanNodeAware,
    Algorithm::BcastNodeAware,
    Algorithm::BcastPostal,
    Algorithm::BcastLaneKnomial,
    Algorithm::BcastLaneChain,
    Algorithm::BcastLaneCirculant,
    Algorithm::ReduceNodeAware,
    Algorithm::ReducePostal,
    Algorithm::AllreduceNodeAware,
    Algorithm::AllreducePostal,
    Algorithm::AllgatherLaneBruck,
    Algorithm::AllgatherLaneRing,
    Algorithm::AlltoallNodeAware,
    Algorithm::AllreduceLaneCirculant,
    Algorithm::ReduceScatterBlockLaneCirculant,
];

fn call(collective: Collective, rank: u32, size: u32, root: u32, count: u64) -> Call {
    match collective {
        Collective::Barrier => Call::barrier(rank, size),
        Collective::Gather => Call::gather(rank, size, root, count),
        Collective::Scatter => Call::scatter(rank, size, root, count),
        Collective::Scan => Call::scan(rank, size, count, 1),
        Collective::Exscan => Call::exscan(rank, size, count, 1),
        Collective::Allgather => Call::allgather(rank, size, count),
        Collective::Alltoall => Call::alltoall(rank, size, count),
        Collective::Bcast => Call::bcast(rank, size, root, count),
        Collective::Reduce => Call::reduce(rank, size, root, count, 1),
        Collective::Allreduce => Call::allreduce(rank, size, count, 1),
        Collective::ReduceScatterBlock => Call::reduce_scatter_block(rank, size, count, 1),
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

/// Proves the algorithm from some roots, in both orders, in place and not; `None` where it suits
/// none.
fn prove(algorithm: Algorithm, size: u32, count: u64, parameters: &Parameters) -> Option<Report> {
    let collective = algorithm.collective();
    let roots: &[u32] = match collective.has_root() {
        true => &[0, size / 2, size - 1],
        false => &[0],
    };
    let orders: &[bool] = match collective.reduces() {
        true => &[true, false],
        false => &[true],
    };
    let mut last = None;
    for (&root, &commutative) in roots
        .iter()
        .flat_map(|r| orders.iter().map(move |o| (r, o)))
    {
        for in_place in [false, true] {
            let call = |rank| {
                let placed = in_place && (!collective.has_root() || rank == root);
                call(collective, rank, size, root, count)
                    .with_commutative(commutative)
                    .with_in_place(placed && collective != Collective::Bcast)
            };
            let calls: Vec<_> = (0..size).map(call).collect();
            if algorithm.suits(&calls[root as usize]).is_err() {
                continue;
            }
            let report = check(algorithm, &calls, &[], parameters);
            last = Some(report.unwrap_or_else(|fault| {
                panic!("{algorithm}, {:?}, {parameters:?}: {fault}", calls[0])
            }));
        }
    }
    last
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
                        let first = call(algorithm.collective(), 0, size, 0, count);
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
        for algorithm in [
            Algorithm::AllgatherLaneBruck,
            Algorithm::AllgatherLaneRing,
            Algorithm::AllreduceLaneCirculant,
            Algorithm::ReduceScatterBlockLaneCirculant,
        ] {
            let parameters = on(per_node, Order::Block);
            let count = 2 * u64::from(size);
            let report = prove(algorithm, size, count, &parameters).expect("it suits");
            let call = call(algorithm.collective(), 0, size, 0, count);
            assert_eq!(
                u64::from(report.rounds),
                algorithm.rounds(&call, &parameters)
            );
        }
    }
}

/// One message into each node but the root's, or out of it; two of each leader and round in
/// allreduce.
#[test]
fn only_leaders_talk_to_other_nodes() {
    let (nodes, ranks) = (8, 5);
    let inside = u64::from(nodes * (ranks - 1));
    let messages = |algorithm| {
        let report = prove(algorithm, nodes * ranks, 3, &on(ranks, Order::Block));
        report.expect("it suits").messages
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
    let messages = report.expect("it suits").messages;
    assert_eq!(messages, u64::from(nodes * (nodes - 1)) + inside);
}
