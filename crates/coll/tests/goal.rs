//! GOAL schedules, parsed and run as other simulators would: every send matches a receive of its length,
//! every rank ends, and the messages are those of our own simulator.

use std::collections::{BTreeSet, HashMap, VecDeque};

use oxmpi_coll::catalog::{Algorithm, Collective, Parameters};
use oxmpi_coll::sim::{Machine, Order, Placement, Setup, Simulation, Workload, write_goal};

/// What an operation does; `peer` and `tag` are those of its message.
#[derive(Clone, Copy)]
enum OperationKind {
    Calc,
    Send { bytes: u64, peer: u32, tag: u32 },
    Recv { bytes: u64, peer: u32, tag: u32 },
}

/// An operation, and the indexes of the operations of its rank that it waits for.
struct Operation {
    kind: OperationKind,
    requires: Vec<usize>,
}

/// The index of a label: `l1` is 0.
fn place(label: &str) -> usize {
    let number = label.strip_prefix('l').expect("a label");
    number.parse::<usize>().expect("a number") - 1
}

fn number<T: std::str::FromStr>(word: &str) -> T {
    let number = word.trim_end_matches('b').parse();
    number.unwrap_or_else(|_| panic!("`{word}` is no number"))
}

/// Parses a schedule: the operations of each rank.
fn read(text: &str) -> Vec<Vec<Operation>> {
    let mut ranks: Vec<Vec<Operation>> = Vec::new();
    for line in text.lines().skip(1) {
        let words: Vec<_> = line
            .split([' ', ':'])
            .filter(|word| !word.is_empty())
            .collect();
        let kind = match words[..] {
            [] | ["}"] => continue,
            ["rank", rank, "{"] => {
                assert_eq!(number::<usize>(rank), ranks.len());
                ranks.push(Vec::new());
                continue;
            }
            [label, "requires", other] => {
                let operations = ranks.last_mut().expect("a rank");
                operations[place(label)].requires.push(place(other));
                continue;
            }
            [_, "calc", _] => OperationKind::Calc,
            [_, "send", bytes, "to", peer, "tag", tag] => OperationKind::Send {
                bytes: number(bytes),
                peer: number(peer),
                tag: number(tag),
            },
            [_, "recv", bytes, "from", peer, "tag", tag] => OperationKind::Recv {
                bytes: number(bytes),
                peer: number(peer),
                tag: number(tag),
            },
            _ => panic!("this line is no operation: {line}"),
        };
        let operations = ranks.last_mut().expect("a rank");
        assert_eq!(
            place(words[0]),
            operations.len(),
            "labels are numbered in order"
        );
        let requires = Vec::new();
        operations.push(Operation { kind, requires });
    }
    ranks
}

/// Runs a schedule to its end. Returns the number of messages and their bytes.
fn run(text: &str) -> (u64, u64) {
    let ranks = read(text);
    let mut in_flight: HashMap<(u32, u32, u32), VecDeque<u64>> = HashMap::new();
    let mut done: Vec<_> = ranks.iter().map(|all| vec![false; all.len()]).collect();
    let (mut messages, mut sum, mut moves) = (0, 0, true);
    while moves {
        moves = false;
        for ((rank, operations), done) in (0..).zip(&ranks).zip(&mut done) {
            for (at, operation) in operations.iter().enumerate() {
                if done[at] || operation.requires.iter().any(|&other| !done[other]) {
                    continue;
                }
                match operation.kind {
                    OperationKind::Calc => {}
                    OperationKind::Send { bytes, peer, tag } => {
                        let queue = in_flight.entry((rank, peer, tag)).or_default();
                        queue.push_back(bytes);
                        (messages, sum) = (messages + 1, sum + bytes);
                    }
                    OperationKind::Recv { bytes, peer, tag } => {
                        let queue = in_flight.get_mut(&(peer, rank, tag));
                        let Some(sent) = queue.and_then(VecDeque::pop_front) else {
                            continue;
                        };
                        assert_eq!(sent, bytes, "from {peer} to {rank}, tag {tag}");
                    }
                }
                (done[at], moves) = (true, true);
            }
        }
    }
    let waiting = done.iter().position(|done| done.contains(&false));
    assert_eq!(
        waiting, None,
        "a rank waits for a message that no rank sends"
    );
    let lost: usize = in_flight.values().map(VecDeque::len).sum();
    assert_eq!(lost, 0, "messages that no rank receives");
    (messages, sum)
}

/// Asserts that the schedule sends what the simulator sends. `false` if the algorithm does not support
/// the workload.
fn schedule_matches_simulator(
    work: &Workload,
    algorithm: Algorithm,
    parameters: &Parameters,
) -> bool {
    let call = work.call(0);
    if call.is_none_or(|call| algorithm.suits(&call).is_err()) {
        return false;
    }
    let mut text = String::new();
    write_goal(&mut text, &Machine::GEMINI, work, algorithm, parameters)
        .unwrap_or_else(|why| panic!("{algorithm}, {work:?}: {why}"));
    // Each rank has its own node, so that the simulator counts every byte as remote.
    let alone = Placement::new(Order::Block, work.ranks(), 1);
    let setup = Setup::new(Machine::GEMINI, alone);
    let report = Simulation::new(&setup).work(work, algorithm, parameters);
    let counts = report.expect("the simulator runs the algorithm").counts;
    let sent = (counts.messages, counts.remote_bytes);
    assert_eq!(run(&text), sent, "{algorithm}, {parameters:?}, {work:?}");
    true
}

/// Parameters for nodes of four ranks.
const NODES: Parameters = Parameters::NONE.with_per_node(4);

#[test]
fn every_algorithm_has_a_schedule_that_completes() {
    for algorithm in Algorithm::ALL {
        let mut some = false;
        for ranks in [1, 2, 3, 4, 7, 8, 13, 16, 18] {
            for bytes in [0, 8, 144, 1 << 16] {
                let work = Workload::new(algorithm.collective(), ranks, bytes);
                some |= schedule_matches_simulator(&work, algorithm, &NODES);
            }
        }
        let calls = Workload::new(algorithm.collective(), 2, 8).call(0);
        // Workloads have no exact operation, and schedules no intra-node phase.
        let needs_more = algorithm.row().needs.exact || !algorithm.is_by_messages();
        let simulated = calls.is_some() && !needs_more;
        assert_eq!(some, simulated, "{algorithm}");
    }
}

/// Ranks learn lengths from messages where blocks go through a tree, and not where long blocks go
/// straight.
#[test]
fn gatherv_and_scatterv_trees_have_a_schedule_for_each_radix_and_length() {
    for algorithm in [Algorithm::GathervKnomial, Algorithm::ScattervKnomial] {
        for ranks in (1..=20).chain([27, 64, 65]) {
            for radix in 2..=4 {
                for (bytes, cutoff) in [(0, 8), (1, 8), (8, 8), (9, 8), (5000, 5000)] {
                    let work = Workload::new(algorithm.collective(), ranks, bytes);
                    let parameters = NODES.with_radix(radix).with_cutoff(cutoff);
                    assert!(schedule_matches_simulator(&work, algorithm, &parameters));
                }
            }
        }
    }
}

#[test]
fn a_gatherv_rank_forwards_its_subtree_once_all_of_it_has_arrived() {
    let work = Workload::new(Collective::Gatherv, 8, 24);
    let binary = Parameters { radix: 2, ..NODES };
    let mut text = String::new();
    let knomial = Algorithm::GathervKnomial;
    write_goal(&mut text, &Machine::GEMINI, &work, knomial, &binary).expect("a schedule");
    let ranks = read(&text);
    let is_receive = |one: &Operation| matches!(one.kind, OperationKind::Recv { .. });
    // For each rank: its parent, the blocks that a rank sends there, and the receives that this send waits
    // for.
    let handed = ranks.iter().skip(1).map(|rank| {
        let sends = rank.iter().enumerate().map(|(at, one)| (at, one.kind));
        let mut sends = sends.filter_map(|(at, kind)| match kind {
            OperationKind::Send { bytes, peer, .. } => Some((at, peer, bytes / 24)),
            _ => None,
        });
        let (at, parent, blocks) = sends.next().expect("a rank sends");
        assert!(sends.next().is_none(), "a rank sends once");
        let awaited = awaited(rank, at)
            .into_iter()
            .filter(|&at| is_receive(&rank[at]));
        let received = rank.iter().filter(|one| is_receive(one));
        assert_eq!(awaited.count(), received.count());
        (parent, blocks)
    });
    let handed: Vec<_> = handed.collect();
    assert_eq!(
        handed,
        [(0, 1), (0, 2), (2, 1), (0, 4), (4, 1), (4, 2), (6, 1)]
    );
}

/// The operations that an operation of a rank waits for, directly or through others.
fn awaited(rank: &[Operation], at: usize) -> BTreeSet<usize> {
    let direct = rank[at].requires.iter();
    direct
        .flat_map(|&other| awaited(rank, other).into_iter().chain([other]))
        .collect()
}
