//! Performance guidelines in the simulator: what is part of something else is not slower than it,
//! and fewer ranks are not slower than more. Of each collective the best algorithm of the catalog
//! is taken. Hunold and Traeff, "Tuning MPI collectives by verifying performance guidelines", 2018.

use oxmpi_coll::catalog::{Algorithm, Collective, Parameters};
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
