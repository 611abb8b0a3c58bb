//! The simulator against times computed by hand, and with symmetry against without.

use oxmpi_coll::catalog::{Algorithm, Collective, Parameters};
use oxmpi_coll::plan::{Acts, Buf, Part, Plan, PlanInputs};
use oxmpi_coll::sim::{
    Classical, Error, Machine, Order, PathCosts, Placement, Setup, SimReport, Simulation, Workload,
    is_node_symmetric,
};

/// Constants whose sums show which of them they consist of.
const MACHINE: Machine = Machine {
    network: PathCosts {
        latency: 1_000_000,
        send: 10_000,
        recv: 1_000,
        gap: 200,
        byte: 3,
    },
    node: PathCosts {
        latency: 100_000,
        send: 5_000,
        recv: 500,
        gap: 0,
        byte: 7,
    },
    per_node: 2,
    eager: 64,
};

/// Rank 0 sends each message to the rank named; the other ranks receive theirs.
#[derive(Clone)]
struct Sends {
    rank: u32,
    messages: Vec<(u32, u64)>,
}

impl Plan for Sends {
    fn steps(&self) -> u32 {
        self.messages.len() as u32
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let (to, bytes) = self.messages[i as usize];
        let part = Part::new(Buf::In, 0, bytes);
        match self.rank {
            0 => acts.send(to, 0, part),
            rank if rank == to => acts.recv(0, 0, part),
            _ => {}
        }
        Some(0)
    }
}

fn sends(setup: &Setup, messages: &[(u32, u64)]) -> Result<SimReport, Error> {
    let messages = messages.to_vec();
    Simulation::new(setup).run(|rank| {
        let messages = messages.clone();
        Ok(Sends { rank, messages })
    })
}

fn on(size: u32) -> Setup {
    Setup::new(MACHINE, Placement::new(Order::Block, size, 2))
}

/// The same machine with an eager limit above every message.
fn all_eager(size: u32) -> Setup {
    let eager = 1 << 20;
    Setup::new(Machine { eager, ..MACHINE }, on(size).placement)
}

#[test]
fn one_message_costs_the_constants_of_its_path() {
    let times = |to, bytes| sends(&on(4), &[(to, bytes)]).unwrap().times;
    assert_eq!(
        times(2, 8)[0],
        10_000,
        "eager: an eager sender is done once the message has left its processor"
    );
    assert_eq!(times(2, 8)[2], 10_000 + 1_000_000 + 8 * 3 + 1_000);
    assert_eq!(times(1, 8)[1], 5_000 + 100_000 + 8 * 7 + 500);
    let asked = 10_000 + 1_000_000 + 1_000;
    let granted = asked + 10_000 + 1_000_000;
    assert_eq!(times(2, 100)[2], granted + 1_000_000 + 100 * 3 + 1_000);
    assert_eq!(
        times(2, 100)[0],
        granted + 100 * 3,
        "the sender is done once the last byte has left"
    );
    assert_eq!(times(1, 100)[1], 5_000 + 100_000 + 500 + 100 * 7 + 500);
}

#[test]
fn an_adapter_serves_one_message_after_another() {
    let times = sends(&on(4), &[(2, 64), (3, 64)]).unwrap().times;
    let first = 10_000 + 1_000_000 + 64 * 3 + 1_000;
    assert_eq!(
        (times[2], times[3]),
        (first, first + 10_000),
        "the sender's processor is slower than the adapter"
    );
    // Both ranks of node 0 send at the same time to the ranks of node 1.
    let pairs = |rank: u32| {
        let (peer, bytes) = (2 + rank % 2 - 2 * (rank / 2), 3000);
        Ok(Pair { rank, peer, bytes })
    };
    let setup = all_eager(4);
    let times = Simulation::new(&setup).run(pairs).unwrap().times;
    let alone = 10_000 + 1_000_000 + 9_000 + 1_000;
    assert_eq!(times[2..], [alone, alone + 9_000]);
}

/// Inside a node, an announced or shorter message could be copied before an earlier one; it waits for it
/// instead.
#[test]
fn messages_of_one_sender_and_tag_do_not_overtake() {
    let eager = 2_000;
    let setup = Setup::new(Machine { eager, ..MACHINE }, on(2).placement);
    let last = |messages: &[(u32, u64)]| sends(&setup, messages).unwrap().times[1];
    let first = 5_000 + 100_000 + 2_000 * 7 + 500;
    assert_eq!(last(&[(1, 2_000)]), first);
    assert_eq!(last(&[(1, 2_000), (1, 8)]), first + 500);
    let announced = first + 500 + 3_000 * 7 + 500;
    assert_eq!(last(&[(1, 2_000), (1, 3_000)]), announced);
    assert_eq!(
        last(&[(1, 2_000), (1, 3_000), (1, 8)]),
        announced,
        "the third message arrives while the second is copied"
    );
    let announced = 10_000 - 5_000 + 105_000 + 500 + 3_000 * 7 + 500;
    assert_eq!(last(&[(1, 8), (1, 3_000), (1, 2_000)]), announced);
}

/// Each rank of node 0 sends one message to a rank of node 1.
struct Pair {
    rank: u32,
    peer: u32,
    bytes: u64,
}

impl Plan for Pair {
    fn steps(&self) -> u32 {
        1
    }

    fn step(&self, _: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let part = Part::new(Buf::In, 0, self.bytes);
        if self.rank < 2 {
            acts.send(self.peer, 0, part);
        } else {
            acts.recv(self.peer, 0, part);
        }
        Some(0)
    }
}

#[test]
fn a_flag_costs_sender_and_receiver_their_overhead_inside_a_node() {
    let setup = on(4).with_flags(true).with_matching(1_000_000);
    let times = sends(&setup, &[(2, 0)]).unwrap().times;
    assert_eq!((times[0], times[2]), (5_000, 5_000 + 1_000_000 + 500));
}

#[test]
fn matching_at_a_root_costs_a_walk_along_its_posted_receives() {
    let root = |matching| {
        let setup = on(8).with_matching(matching);
        let report = Simulation::new(&setup)
            .run_classical(Classical::Gatherv, 8)
            .unwrap();
        (report.times[0], report.counts.walked)
    };
    // Rank 1's message arrives first, through shared memory; then those of ranks 2, 4 and 6, then 3, 5
    // and 7. The match of the first rank of each node passes over the receives of the second ranks of the
    // nodes before.
    let walked = 1 + (1 + 2 + 3) + (1 + 1 + 1);
    assert_eq!(root(0).1, walked);
    assert_eq!(
        root(5).0,
        root(0).0 + 5 * (walked - 1),
        "rank 1's match is over before the next message arrives"
    );
}

#[test]
fn serial_copies_keep_the_receiver_busy() {
    let times = |serial| {
        let setup = on(2).with_serial_copies(serial);
        sends(&setup, &[(1, 64), (1, 64)]).unwrap().times[1]
    };
    let second = 10_000 + 100_000 + 500;
    assert_eq!(times(false), second + 64 * 7);
    assert_eq!(times(true), second + 64 * 7);
    let long = |serial| {
        let setup = all_eager(2).with_serial_copies(serial);
        sends(&setup, &[(1, 1000), (1, 1000)]).unwrap().times[1]
    };
    assert_eq!(long(false), second + 7_000);
    assert_eq!(long(true), 5_000 + 100_000 + 2 * (500 + 7_000));
}

#[test]
fn faults_of_plans_are_errors() {
    let length = Error::Length {
        rank: 2,
        from: 0,
        sent: 0,
        room: 2,
    };
    let deadlock = Error::Deadlock { rank: 0, others: 3 };
    /// The rank that a rank's plan is made for, its peer, and the bytes.
    type PairOf = fn(u32) -> [u32; 3];
    let cases: [(PairOf, Error); 4] = [
        (|rank| [rank, 9, 1], Error::Peer { rank: 0, peer: 9 }),
        (|rank| [rank.max(2), 0, 1], Error::Peer { rank: 0, peer: 0 }),
        (|rank| [rank, (rank + 2) % 4, rank], length),
        (|rank| [rank.max(2), (rank + 1) % 4, 1], deadlock),
    ];
    for (of_rank, expected) in cases {
        let plan = |rank| {
            let [rank, peer, bytes] = of_rank(rank);
            let bytes = bytes.into();
            Ok(Pair { rank, peer, bytes })
        };
        let found = Simulation::new(&on(4)).run(plan).unwrap_err();
        assert_eq!(found, expected);
    }
    let (size, per_node) = (5, 2);
    let uneven = Error::Uneven { size, per_node };
    assert_eq!(on(5).by_symmetry(), Err(uneven));
}

fn simulate(algorithm: Algorithm, setup: &Setup, bytes: u64) -> SimReport {
    let work = Workload::new(algorithm.collective(), setup.placement.size(), bytes);
    let simulation = Simulation::new(setup);
    simulation
        .work(&work, algorithm, &Parameters::NONE)
        .unwrap()
}

#[test]
fn simulating_one_node_by_symmetry_gives_the_times_of_all() {
    for algorithm in Algorithm::ALL
        .into_iter()
        .filter(|&algorithm| is_node_symmetric(algorithm))
    {
        for (nodes, per_node) in [(1, 3), (2, 1), (3, 2), (4, 4), (5, 4), (8, 3), (13, 2)] {
            let placement = Placement::new(Order::Block, nodes * per_node, per_node);
            for bytes in [1, 100] {
                for matching in [0, 300] {
                    let setup = Setup::new(MACHINE, placement).with_matching(matching);
                    let all = simulate(algorithm, &setup, bytes);
                    let one = simulate(algorithm, &setup.by_symmetry().unwrap(), bytes);
                    let of_node = &all.times[..per_node as usize];
                    assert_eq!(
                        one.times, of_node,
                        "{algorithm}, {nodes} nodes of {per_node}"
                    );
                    assert_eq!(one.counts, all.counts, "{algorithm}");
                }
            }
        }
    }
}

#[test]
fn every_algorithm_ends_and_simulates_deterministically() {
    let setup = Setup::new(Machine::NDR, Placement::new(Order::Cyclic, 100, 16));
    // Blocks below and above the cutoff of the gatherv and scatterv trees.
    for (algorithm, bytes) in Algorithm::ALL
        .into_iter()
        .flat_map(|one| [(one, 40), (one, 1 << 16)])
    {
        let work = Workload::new(algorithm.collective(), 100, bytes);
        let suits = |call| algorithm.suits(&call).is_ok();
        if work.blocking_call(0, setup.placement).is_some_and(suits) {
            let once = simulate(algorithm, &setup, bytes);
            assert_eq!(
                once,
                simulate(algorithm, &setup, bytes),
                "{algorithm}, {bytes} B"
            );
        }
    }
}

#[test]
fn a_time_limit_ends_what_takes_longer_and_changes_nothing_else() {
    let setup = Setup::new(Machine::GEMINI, Placement::new(Order::Block, 33, 16));
    for algorithm in Algorithm::ALL {
        let work = Workload::new(algorithm.collective(), 33, 40_000);
        let call = work.blocking_call(0, setup.placement);
        if call.is_none_or(|call| algorithm.suits(&call).is_err()) {
            continue;
        }
        let within = |limit| {
            let simulation = Simulation::new(&setup).time_limit(limit);
            simulation.work(&work, algorithm, &Parameters::NONE)
        };
        let report = within(u64::MAX).expect("no limit");
        let last = report.last();
        assert_eq!(within(last), Ok(report), "{algorithm}");
        for limit in [last - 1, last / 2, 0] {
            let refused = Err(Error::Time { limit });
            assert_eq!(within(limit), refused, "{algorithm}, {last} ps");
        }
    }
}

/// With any limit a simulation either fits, or is refused with what it needs.
#[test]
fn a_simulation_fits_in_its_memory_or_is_refused() {
    let setup = Setup::new(
        Machine::GEMINI,
        Placement::new(Order::Block, 2_000, Machine::GEMINI.per_node),
    );
    let work = Workload::new(Collective::Allreduce, 2_000, 8);
    let simulation = |limit| Simulation::new(&setup).memory_limit(limit);
    let run = |which, limit| match which {
        0 => simulation(limit).run_classical(Classical::Gatherv, 8),
        1 => simulation(limit).run_classical(Classical::Scatterv, 64 << 10),
        _ => simulation(limit).work(
            &work,
            Algorithm::AllreduceRecursiveDoubling,
            &Parameters::NONE,
        ),
    };
    for which in 0..3 {
        let right = run(which, u64::MAX).expect("no limit");
        let Err(Error::Memory { needed: start, .. }) = run(which, 0) else {
            panic!("{which} is not refused before it starts");
        };
        let mut refused = 0;
        for limit in (0..80).map(|part| start + part * start / 20) {
            match run(which, limit) {
                Ok(report) => assert_eq!(report, right, "{which} {limit}"),
                Err(Error::Memory {
                    needed, limit: at, ..
                }) => {
                    assert!(at == limit && needed > limit, "{which} {limit}: {needed}");
                    refused += 1;
                }
                Err(why) => panic!("{which} {limit}: {why}"),
            }
        }
        // The plans of the allreduce keep no more under way than is counted before.
        assert_eq!(refused > 0, which < 2, "{which}: {refused} are refused");
        assert!(
            refused < 80,
            "{which} fits in four times of what is counted before"
        );
    }
}
