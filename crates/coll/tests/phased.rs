//! Proves collectives in phases on nodes of random sizes with ranks in random orders, and counts what crosses
//! between nodes.

use std::sync::Arc;

use oxmpi_coll::catalog::{Algorithm, Call, Collective, Parameters, SharedMemory, Unsuited};
use oxmpi_coll::check::{Case, Contract, Ranks, check_plans, draw};
use oxmpi_coll::choice::{Choice, Tuning, choose, expected};
use oxmpi_coll::nodes::{NodeMap, Nodes};
use oxmpi_coll::phased::{PhasedPlan, Strategies, Strategy, choose_phase};
use oxmpi_coll::placement::Placement;

use crate::crossings::counted;

const COLLECTIVES: [Collective; 7] = [
    Collective::Barrier,
    Collective::Bcast,
    Collective::Reduce,
    Collective::Allreduce,
    Collective::Allgather,
    Collective::Gather,
    Collective::Scatter,
];

/// The node of each of `size` ranks on up to `most` nodes, numbered by their first ranks. Node `n` is drawn about
/// `n + 1` times as often as node 0, so sizes differ; the ranks of a node are consecutive if `in_order`.
fn drawn(seed: u64, size: u32, most: u32, in_order: bool) -> Vec<u32> {
    let weights = u64::from(most) * u64::from(most + 1) / 2;
    let draw_node = |rank: u32| {
        let mut left = draw(seed, rank.into()) % weights;
        (0..most).find(|&node| {
            let here = left <= u64::from(node);
            left = left.saturating_sub(u64::from(node) + 1);
            here
        })
    };
    let mut nodes: Vec<u32> = (0..size).map(|rank| draw_node(rank).unwrap_or(0)).collect();
    if in_order {
        nodes.sort_unstable();
    }
    let mut numbers = Vec::new();
    let mut number = |node: u32| match numbers.iter().position(|&known| known == node) {
        Some(at) => at as u32,
        None => {
            numbers.push(node);
            numbers.len() as u32 - 1
        }
    };
    nodes.into_iter().map(&mut number).collect()
}

/// The plan of one rank as a runtime makes it.
fn plan(call: &Call, nodes: &Arc<NodeMap>) -> PhasedPlan {
    let by = |call: &Call, place: Placement| choose(call, &Tuning::default().placed(place));
    PhasedPlan::new(call, nodes, by).expect("every phase has an algorithm")
}

/// The plan of one rank whose phases go by algorithms that `seed` draws among all that suit.
fn drawn_plan(seed: u64, call: &Call, nodes: &Arc<NodeMap>) -> PhasedPlan {
    let by = |call: &Call, place: Placement| {
        let all: Vec<_> = expected(call, &Tuning::default().placed(place))?.collect();
        Ok(all[(draw(seed, all.len() as u64) % all.len() as u64) as usize].0)
    };
    PhasedPlan::new(call, nodes, by).expect("every phase has an algorithm")
}

/// Proves the plans that `plan` makes of the calls. False: it makes none.
fn prove(
    case: &Case,
    nodes: &Arc<NodeMap>,
    sharing: SharedMemory,
    plan: impl Fn(&Call) -> Result<PhasedPlan, Unsuited>,
) -> bool {
    let arrays = case.arrays();
    let calls: Vec<Call> = (0..case.size)
        .map(|rank| case.call(rank, &arrays).with_shared_memory(sharing))
        .collect();
    let Ok(plans) = calls.iter().map(plan).collect::<Result<Vec<_>, _>>() else {
        return false;
    };
    let ends = Ranks::range(0..2).union(&Ranks::one(case.size - 1));
    let contract = match case.collective {
        Collective::Allgather if case.size > 16 => Contract::following(&calls, &arrays, &ends),
        _ => Contract::of(&calls, &arrays),
    };
    let contract = Contract {
        nodes: Some(Nodes::Listed(Arc::clone(nodes))),
        ..contract
    };
    let proven = check_plans(&plans, &contract);
    proven.unwrap_or_else(|fault| panic!("{case:?} on {nodes:?}, {sharing:?}: {fault}"));
    true
}

/// A random case of the collective.
fn drawn_case(seed: u64, collective: Collective, size: u32) -> Case {
    Case {
        root: match collective.has_root() {
            true => (draw(seed, 4) % u64::from(size)) as u32,
            false => 0,
        },
        in_place: collective != Collective::Bcast && draw(seed, 5).is_multiple_of(2),
        ..Case::new(
            collective,
            size,
            [0, 1, 7, 1000][(draw(seed, 3) % 4) as usize],
        )
    }
}

#[test]
fn phases_are_right_on_any_nodes() {
    for seed in 0..60 {
        let size = match seed % 15 {
            0 => 2 + (draw(seed, 1) % 255) as u32,
            _ => 2 + (draw(seed, 1) % 24) as u32,
        };
        let most = 2 + (draw(seed, 2) % 12) as u32;
        let in_order = seed % 3 == 0;
        let nodes = Arc::new(NodeMap::new(&drawn(seed, size, most, in_order)));
        for collective in COLLECTIVES {
            let case = Case {
                commutative: !in_order,
                ..drawn_case(seed, collective, size)
            };
            for sharing in [SharedMemory::None, SharedMemory::OnNodes] {
                if PhasedPlan::serves(&case.call(0, &case.arrays()), &nodes) {
                    assert!(prove(&case, &nodes, sharing, |call| Ok(plan(call, &nodes))));
                    let drawn = |call: &Call| Ok(drawn_plan(seed, call, &nodes));
                    assert!(prove(&case, &nodes, sharing, drawn));
                }
            }
        }
    }
}

/// Every algorithm without phases, with ranks in the order of slots.
#[test]
fn one_algorithm_is_right_in_the_order_of_slots() {
    let mut unproven: Vec<Algorithm> = Algorithm::ALL.into_iter().collect();
    unproven.retain(|one| !one.row().on_nodes && COLLECTIVES.contains(&one.collective()));
    for seed in 0..12 {
        let size = match seed {
            0 => 16,
            _ => 2 + (draw(seed, 1) % 20) as u32,
        };
        let in_order = seed % 4 == 0;
        let nodes = Arc::new(NodeMap::new(&drawn(seed, size, 4, in_order)));
        for collective in COLLECTIVES {
            let case = Case {
                exact: seed == 0,
                commutative: !in_order || seed == 0,
                ..drawn_case(seed, collective, size)
            };
            for algorithm in collective.algorithms().filter(|one| !one.row().on_nodes) {
                let choice = Choice {
                    algorithm,
                    parameters: Parameters::NONE.with_per_node(2),
                };
                let plan = |call: &Call| PhasedPlan::in_slots(call, &nodes, choice);
                if prove(&case, &nodes, SharedMemory::None, plan) {
                    unproven.retain(|&one| one != algorithm);
                }
            }
        }
    }
    assert_eq!(unproven, []);
}

/// What was decided before does not matter: ranks that have made other calls decide alike.
#[test]
fn all_ranks_decide_alike() {
    let tuning = Tuning::default();
    let shares = |call: &Call| (1..=64).contains(&call.element_bytes);
    let decide = |strategies: &mut Strategies, call: &Call, nodes: &Arc<NodeMap>| {
        let strategy = strategies.strategy(call, nodes, &tuning, |call, place, choosable| {
            choose_phase(
                call,
                tuning.clone().placed(place).choosing(choosable),
                shares,
            )
        });
        strategy.expect("algorithms suit")
    };
    let nodes = [
        &[0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2][..],
        &[0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 2],
    ];
    let nodes = nodes.map(|nodes| Arc::new(NodeMap::new(nodes)));
    let mut calls = Vec::new();
    for (nodes, element_bytes) in nodes.iter().flat_map(|nodes| {
        [0, 1, 3, 8, 12, 64, 65, 3 << 20].map(|element_bytes| (nodes, element_bytes))
    }) {
        for count in [0, 1, 8, 12, 1000, 1 << 20] {
            for root in [0, 10] {
                calls.push((nodes, Call::reduce(root, 11, root, count, element_bytes)));
            }
            calls.push((nodes, Call::allreduce(3, 11, count, element_bytes)));
        }
    }
    let mut once = Strategies::new();
    let first: Vec<Strategy> = calls
        .iter()
        .map(|(nodes, call)| decide(&mut once, call, nodes))
        .collect();
    let mut warmed = Strategies::new();
    for ((nodes, call), strategy) in calls.iter().zip(&first).rev() {
        assert_eq!(decide(&mut warmed, call, nodes), *strategy, "{call:?}");
        assert_eq!(
            decide(&mut Strategies::new(), call, nodes),
            *strategy,
            "{call:?}"
        );
    }
    let phased = first
        .iter()
        .filter(|strategy| **strategy == Strategy::Phased)
        .count();
    assert!(
        (1..first.len()).contains(&phased),
        "both strategies are taken"
    );
}

/// Which algorithm the leaders use is a matter of time: among three of them a short allreduce is an exchange of all
/// with all in one round, and a long reduce cuts the vector; such calls send more than they must, by the factor given.
#[test]
fn bytes_cross_between_nodes_as_often_as_they_must() {
    let short = 8;
    let long = 4 << 20;
    for nodes in [
        [0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2],
        [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 2],
        [0, 1, 1, 2, 0, 2, 0, 1, 2, 2, 0],
    ] {
        let map = Arc::new(NodeMap::new(&nodes));
        let missing = |node: u32| u64::from(map.size()) - map.ranks_on(node).len() as u64;
        let (missing, others) = ((0..3).map(missing).sum::<u64>(), 2);
        for (collective, bytes, least, most_factor) in [
            (Collective::Barrier, short, 0, 1.0),
            (Collective::Bcast, short, others, 1.0),
            (Collective::Bcast, long, others, 1.0),
            (Collective::Reduce, short, others, 1.0),
            (Collective::Reduce, long, others, 4.0 / 3.0),
            (Collective::Allreduce, short, 2 * others, 1.5),
            (Collective::Allreduce, long, 2 * others, 1.0),
            (Collective::Allgather, short, missing, 1.0),
            (Collective::Allgather, long, missing, 1.0),
        ] {
            let case = Case::new(collective, map.size(), bytes);
            let call = |rank| case.call(rank, &[]).with_shared_memory(SharedMemory::None);
            let plan = |rank| plan(&call(rank), &map);
            let (_, crossed) = counted(plan, &Nodes::Listed(Arc::clone(&map)), map.size());
            let (least, most) = (least * bytes, (least * bytes) as f64 * most_factor);
            let is_few = crossed >= least && crossed as f64 <= most;
            assert!(
                is_few,
                "{collective} of {bytes} B on {nodes:?}: {crossed} B of {least} B"
            );
        }
    }
}

#[test]
fn an_operation_that_does_not_commute_needs_nodes_of_consecutive_ranks() {
    let reduce = Call::allreduce(0, 5, 1, 8).with_commutative(false);
    let [in_order, mixed] = [[0, 1, 1, 1, 2], [0, 1, 0, 1, 1]].map(|nodes| NodeMap::new(&nodes));
    assert!(PhasedPlan::serves(&reduce, &in_order) && !PhasedPlan::serves(&reduce, &mixed));
    assert!(PhasedPlan::serves(&reduce.with_commutative(true), &mixed));
}

#[test]
fn a_rank_or_root_outside_the_group_is_refused() {
    let nodes = Arc::new(NodeMap::new(&[0, 1, 1]));
    let by = |call: &Call, place: Placement| choose(call, &Tuning::default().placed(place));
    for call in [Call::bcast(3, 3, 0, 1), Call::bcast(0, 3, 3, 1)] {
        assert!(PhasedPlan::new(&call, &nodes, by).is_err());
    }
}
