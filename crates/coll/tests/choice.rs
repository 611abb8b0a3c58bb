//! What the choice loses against the best candidate, in the simulator.

use oxmpi_coll::catalog::{Algorithm, Collective, Parameters};
use oxmpi_coll::choice::{Tuning, choose};
use oxmpi_coll::machine::Machine;
use oxmpi_coll::sim::{Order, Placement, Setup, Simulation, Workload};

const COLLECTIVES: [Collective; 12] = [
    Collective::Barrier,
    Collective::Bcast,
    Collective::Gather,
    Collective::Scatter,
    Collective::Allgather,
    Collective::Allgatherv,
    Collective::Alltoall,
    Collective::Reduce,
    Collective::Allreduce,
    Collective::ReduceScatterBlock,
    Collective::Scan,
    Collective::Exscan,
];

const BYTES: [u64; 6] = [8, 512, 8 << 10, 64 << 10, 512 << 10, 4 << 20];

/// Radixes and numbers of blocks that an algorithm may be given, if it has such.
fn variants(algorithm: Algorithm) -> impl Iterator<Item = Parameters> {
    let own = algorithm.row().parameters;
    let some = |own: u32, all: &'static [u32]| if own == 0 { &[0] } else { all };
    let radixes = some(own.radix, &[2, 3, 4, 5, 8]).iter();
    let blocks = some(own.blocks, &[2, 4, 8, 16, 32, 64, 128]).iter();
    radixes.flat_map(move |&radix| {
        blocks.clone().map(move |&blocks| Parameters {
            radix,
            blocks,
            ..Parameters::NONE
        })
    })
}

/// The time of the chosen one over the best one's, less 1, and what they are.
fn regret(machine: Machine, work: &Workload) -> (f64, String) {
    let placement = Placement::new(Order::Block, work.ranks(), machine.per_node);
    let setup = Setup::new(machine, placement);
    let tuning = Tuning {
        machine,
        per_node: machine.per_node,
        serial_copies: false,
        ..Tuning::default()
    };
    let call = work.call(0).expect("a call");
    let time = |algorithm, parameters: &Parameters| {
        let report = Simulation::new(&setup).work(work, algorithm, parameters);
        report
            .unwrap_or_else(|why| panic!("{algorithm}: {why}"))
            .last()
    };
    let chosen = choose(&call, &tuning).expect("something suits");
    let took = time(chosen.algorithm, &chosen.parameters);
    let suiting = work
        .collective()
        .algorithms()
        .filter(|one| one.suits(&call).is_ok());
    let all = suiting.flat_map(|one| variants(one).map(move |parameters| (one, parameters)));
    let all = all.map(|(one, parameters)| (time(one, &parameters), one, parameters));
    let (least, best, parameters) = all.min_by_key(|one| one.0).expect("a candidate");
    let line = format!(
        "{} chosen with radix {} and {} blocks, best {} with {} and {}",
        chosen.algorithm,
        chosen.parameters.radix,
        chosen.parameters.blocks,
        best.name(),
        parameters.radix,
        parameters.blocks
    );
    (took as f64 / least.max(1) as f64 - 1.0, line)
}

/// Prints what is lost on these groups, and holds it against the bound.
fn hold(ranks: &[u32], bytes: &[u64]) {
    let mut all = Vec::new();
    for (name, _, machine) in Machine::NAMED {
        for collective in COLLECTIVES {
            let mut lost = Vec::new();
            for &ranks in ranks {
                for &bytes in bytes {
                    let work = Workload::new(collective, ranks, bytes);
                    let (regret, what) = regret(machine, &work);
                    lost.push((regret, format!("{name}, {ranks} ranks, {bytes} B: {what}")));
                }
            }
            lost.sort_by(|one, other| one.0.total_cmp(&other.0));
            let at = |share: f64| lost[((lost.len() - 1) as f64 * share).round() as usize].0;
            println!(
                "{name} {collective}: median {:.1}%, 95% {:.1}%; most {:.1}%: {}",
                100.0 * at(0.5),
                100.0 * at(0.95),
                100.0 * at(1.0),
                lost[lost.len() - 1].1
            );
            all.extend(lost);
        }
    }
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    let at = |share: f64| all[((all.len() - 1) as f64 * share).round() as usize].0;
    let (most, what) = &all[all.len() - 1];
    println!(
        "{} cells: median {:.1}%, 90% {:.1}%, 95% {:.1}%, most {:.1}%: {what}",
        all.len(),
        100.0 * at(0.5),
        100.0 * at(0.9),
        100.0 * at(0.95),
        100.0 * most
    );
    let worst = all
        .iter()
        .rev()
        .take(40)
        .map(|(lost, what)| format!("{:.0}% {what}", 100.0 * lost));
    let worst: Vec<_> = worst.collect();
    println!("{}", worst.join("\n"));
    assert!(at(0.95) <= 0.10, "{:.3} at the 95th percentile", at(0.95));
}

#[test]
fn the_choice_is_near_the_best() {
    hold(&[2, 3, 4, 8, 16, 17, 33, 64], &BYTES);
}
