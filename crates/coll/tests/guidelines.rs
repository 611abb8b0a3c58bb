//! Performance guidelines in the simulator: what is part of something else is not slower than it,
//! and fewer ranks are not slower than more. Of each collective the best algorithm of the catalog
//! is taken. Hunold and Traeff, "Tuning MPI collectives by verifying performance guidelines", 2018.

use oxmpi_coll::catalog::{Algorithm, Collective, Parameters};
use oxmpi_coll::choice::{Tuning, choose};
use oxmpi_coll::sim::{Machine, Order, Placement, Setup, Simulation, Workload};

/// Picoseconds of the best algorithm, and which one it is.
fn best(machine: Machine, collective: Collective, ranks: u32, bytes: u64) -> (u64, String) {
    let setup = Setup::new(
        machine,
        Placement::new(Order::Block, ranks, machine.per_node),
    );
    let work = Workload::new(collective, ranks, bytes);
    let call = work.call(0).expect("a call");
    let suiting = collective
        .algorithms()
        .filter(|one| one.suits(&call).is_ok());
    let time = |algorithm: Algorithm, parameters: Parameters| {
        let report = Simulation::new(&setup).work(&work, algorithm, &parameters);
        let time = report.unwrap_or_else(|why| panic!("{algorithm}, {ranks} ranks: {why}"));
        let Parameters { radix, blocks, .. } = parameters;
        (
            time.last(),
            format!("{algorithm}, radix {radix}, {blocks} blocks"),
        )
    };
    let all = suiting.flat_map(|one| tuned(one).map(move |parameters| time(one, parameters)));
    all.min().expect("an algorithm")
}

/// The parameters that an algorithm may be given: radixes and numbers of blocks, if it has such.
fn tuned(algorithm: Algorithm) -> impl Iterator<Item = Parameters> {
    let own = algorithm.row().parameters;
    let some = |own: u32, all: &'static [u32]| if own == 0 { &[0] } else { all };
    let radixes = some(own.radix, &[2, 3, 4, 5, 8]).iter();
    let blocks = some(own.blocks, &[1, 2, 4, 8, 16, 32, 64]).iter();
    radixes.flat_map(move |&radix| {
        blocks.clone().map(move |&blocks| Parameters {
            radix,
            blocks,
            ..Parameters::NONE
        })
    })
}

const MACHINES: [Machine; 2] = [Machine::GEMINI, Machine::NDR];
/// Short messages; `docs/simulations` says where the rules are broken today.
const SIZES: [u64; 3] = [8, 64, 1 << 10];

#[test]
fn a_part_is_not_slower_than_the_whole() {
    let mut broken = Vec::new();
    for machine in MACHINES {
        for ranks in [2, 3, 7, 16, 24, 33, 64, 100] {
            for bytes in SIZES {
                let best = |collective, bytes| best(machine, collective, ranks, bytes).0;
                let share = bytes.div_ceil(u64::from(ranks));
                let rules = [
                    (
                        "gather <= allgather",
                        best(Collective::Gather, bytes),
                        best(Collective::Allgather, bytes),
                    ),
                    (
                        "bcast <= scatter + allgather",
                        best(Collective::Bcast, bytes),
                        best(Collective::Scatter, share) + best(Collective::Allgather, share),
                    ),
                    (
                        "allreduce <= reduce + bcast",
                        best(Collective::Allreduce, bytes),
                        best(Collective::Reduce, bytes) + best(Collective::Bcast, bytes),
                    ),
                ];
                for (rule, part, whole) in rules {
                    if part > whole {
                        broken.push(format!(
                            "{rule}: {part} > {whole}, {ranks} ranks, {bytes} B"
                        ));
                    }
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn fewer_ranks_are_not_slower() {
    let mut broken = Vec::new();
    for machine in MACHINES {
        for collective in [
            Collective::Barrier,
            Collective::Bcast,
            Collective::Gather,
            Collective::Scatter,
            Collective::Reduce,
        ] {
            for bytes in [8, 1 << 10] {
                let times: Vec<_> = (2..=40)
                    .map(|p| best(machine, collective, p, bytes))
                    .collect();
                for (p, pair) in (2..).zip(times.windows(2)) {
                    if pair[0].0 as f64 > 1.05 * pair[1].0 as f64 {
                        broken.push(format!(
                            "{collective} {bytes} B: {:?} on {p} ranks, {:?} on one more",
                            pair[0], pair[1]
                        ));
                    }
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Whether a rank copies what comes from its node one after another, or all of it at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copies {
    Serial,
    AtOnce,
}

/// Picoseconds of the chosen algorithm.
fn chosen(machine: Machine, copies: Copies, collective: Collective, ranks: u32, bytes: u64) -> u64 {
    let serial_copies = copies == Copies::Serial;
    let placement = Placement::new(Order::Block, ranks, machine.per_node);
    let setup = Setup::new(machine, placement).with_serial_copies(serial_copies);
    let work = Workload::new(collective, ranks, bytes);
    let tuning = Tuning {
        machine,
        per_node: machine.per_node,
        serial_copies,
        ..Tuning::default()
    };
    let choice = choose(&work.call(0).expect("a call"), &tuning).expect("something suits");
    let report = Simulation::new(&setup).work(&work, choice.algorithm, &choice.parameters);
    report.expect("a time").last()
}

/// Powers of two and the three numbers after each.
const GROUPS: [u32; 22] = [
    2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 32, 33, 34, 35, 64, 65, 66, 67,
];

const ALL_SIZES: [u64; 6] = [8, 512, 8 << 10, 64 << 10, 512 << 10, 4 << 20];

/// How often a rule holds, and the worst cell in which it does not.
#[derive(Default)]
struct Tally {
    cells: u32,
    broken: u32,
    worst: f64,
    at: String,
}

impl Tally {
    fn hold(&mut self, part: u64, whole: u64, at: impl Fn() -> String) {
        self.cells += 1;
        let over = part as f64 / whole.max(1) as f64;
        if over > 1.0 {
            self.broken += 1;
            if over > self.worst {
                (self.worst, self.at) = (over, at());
            }
        }
    }

    /// Prints what was found, and holds it against the most that may be broken, in percent.
    fn settle(&self, rule: &str, most: u32) {
        let &Tally {
            cells,
            broken,
            worst,
            ref at,
        } = self;
        let line = format!(
            "{rule}: {broken} of {cells} cells are broken, the worst {worst:.2} times: {at}"
        );
        println!("{line}");
        assert!(100 * broken <= most * cells, "{line}");
    }
}

#[test]
fn what_is_chosen_for_a_part_is_not_slower_than_for_the_whole() {
    let (mut gather, mut bcast) = (Tally::default(), Tally::default());
    let mut allreduce = Tally::default();
    for (name, _, machine) in Machine::NAMED {
        for ranks in GROUPS {
            for bytes in ALL_SIZES {
                let time =
                    |collective, bytes| chosen(machine, Copies::AtOnce, collective, ranks, bytes);
                let at = || format!("{name}, {ranks} ranks, {bytes} B");
                let share = bytes.div_ceil(ranks.into());
                gather.hold(
                    time(Collective::Gather, bytes),
                    time(Collective::Allgather, bytes),
                    at,
                );
                bcast.hold(
                    time(Collective::Bcast, bytes),
                    time(Collective::Scatter, share) + time(Collective::Allgather, share),
                    at,
                );
                allreduce.hold(
                    time(Collective::Allreduce, bytes),
                    time(Collective::Reduce, bytes) + time(Collective::Bcast, bytes),
                    at,
                );
            }
        }
    }
    gather.settle("gather <= allgather", 0);
    bcast.settle("bcast <= scatter + allgather", 6);
    allreduce.settle("allreduce <= reduce + bcast", 11);
}

#[test]
fn what_is_chosen_for_fewer_ranks_is_not_slower() {
    for collective in [
        Collective::Barrier,
        Collective::Bcast,
        Collective::Gather,
        Collective::Scatter,
        Collective::Allgather,
        Collective::Alltoall,
        Collective::Reduce,
        Collective::Allreduce,
        Collective::ReduceScatterBlock,
    ] {
        for copies in [Copies::Serial, Copies::AtOnce] {
            // Of copies at once both rules cannot hold: 4 MiB to one other rank take the time of one
            // link, 1,049 us on gemini, and in parts to two others, as scatter and allgather send
            // them, 701 us.
            let most = match (copies, collective) {
                (Copies::AtOnce, Collective::Bcast) => 15,
                _ => 5,
            };
            let rule = format!("{collective} of p <= 1.05 of p + 1, copies {copies:?}");
            beside_one_more(copies, collective).settle(&rule, most);
        }
    }
}

/// How often the chosen algorithm is not slower than on one rank more.
fn beside_one_more(copies: Copies, collective: Collective) -> Tally {
    let mut tally = Tally::default();
    for (name, _, machine) in Machine::NAMED {
        for bytes in ALL_SIZES {
            let times = GROUPS.map(|ranks| chosen(machine, copies, collective, ranks, bytes));
            for (at, pair) in GROUPS
                .windows(2)
                .enumerate()
                .filter(|(_, pair)| pair[0] + 1 == pair[1])
            {
                let what = || format!("{name}, {} ranks against {}, {bytes} B", pair[0], pair[1]);
                tally.hold(times[at], times[at + 1] + times[at + 1] / 20, what);
            }
        }
    }
    tally
}
