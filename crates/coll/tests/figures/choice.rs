//! How much slower the chosen algorithm is than the best one, in the simulator.

use crate::variants::{fastest, suiting, variants};
use oxmpi_coll::catalog::{Collective, SharedMemory};
use oxmpi_coll::check::draw;
use oxmpi_coll::choice::{Tuning, choose};
use oxmpi_coll::machine::Machine;
use oxmpi_coll::sim::{Order, Placement, Setup, Simulation, Workload};
use rayon::prelude::*;
use std::iter::once;

const COLLECTIVES: [Collective; 13] = [
    Collective::Barrier,
    Collective::Bcast,
    Collective::Gather,
    Collective::Scatter,
    Collective::Allgather,
    Collective::Allgatherv,
    Collective::Alltoall,
    Collective::Reduce,
    Collective::Allreduce,
    Collective::ReduceScatter,
    Collective::ReduceScatterBlock,
    Collective::Scan,
    Collective::Exscan,
];

/// The numbers of blocks and the windows that are tried with an algorithm that takes them.
const BLOCKS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
const WINDOWS: [u32; 2] = [0, 64];

/// The chosen algorithm's time over the best one's, less 1, and a description of both. The chosen one
/// counts among the candidates because its parameters may be none of those tried.
fn regret(setup: &Setup, work: &Workload, sharing: SharedMemory) -> (f64, String) {
    let tuning = Tuning {
        machine: setup.machine,
        serial_copies: setup.serial_copies,
        ..Tuning::default()
    };
    let tuning = tuning.placed(setup.placement);
    let call = work.call(0).expect("a call").with_shared_memory(sharing);
    let chosen = choose(&call, &tuning).expect("some algorithm supports the call");
    let report = Simulation::new(setup).work(work, chosen.algorithm, &chosen.parameters);
    let took = report
        .unwrap_or_else(|why| panic!("{}: {why}", chosen.algorithm))
        .last();
    let all = suiting(&call)
        .flat_map(|one| variants(one, &BLOCKS, &WINDOWS).map(move |parameters| (one, parameters)));
    let all = once((chosen.algorithm, chosen.parameters)).chain(all);
    let (least, best, parameters) = fastest(setup, work, all);
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

/// The configurations over which the choice is judged.
struct Grid {
    ranks: &'static [u32],
    bytes: &'static [u64],
    /// Ranks per node; `None` stands for the machine's number.
    per_node: &'static [Option<u32>],
    /// Whether a rank copies one message after another; each value given is tried.
    serial_copies: &'static [bool],
}

impl Grid {
    fn machines(&self) -> impl Iterator<Item = (String, Machine, bool)> {
        let machines = Machine::NAMED.into_iter();
        let placed = machines.flat_map(|(name, _, machine)| {
            self.per_node.iter().map(move |own| {
                let per_node = own.unwrap_or(machine.per_node);
                let machine = Machine {
                    per_node,
                    ..machine
                };
                (format!("{name}, {per_node} a node"), machine)
            })
        });
        placed.flat_map(|(name, machine)| {
            let copies = self.serial_copies.iter();
            copies.map(move |&serial| {
                let copies = if serial { "one by one" } else { "at once" };
                (format!("{name}, copies {copies}"), machine, serial)
            })
        })
    }

    /// Asserts that the 95th percentile of the losses is at most `bound`.
    fn assert_within(&self, bound: f64) {
        let mut all = Vec::new();
        for (name, machine, serial) in self.machines() {
            for collective in COLLECTIVES {
                let sizes = |&ranks: &u32| self.bytes.iter().map(move |&bytes| (ranks, bytes));
                let cells: Vec<_> = self.ranks.iter().flat_map(sizes).collect();
                let lost = cells.into_par_iter().map(|(ranks, bytes)| {
                    let work = Workload::new(collective, ranks, bytes);
                    let placement = Placement::new(Order::Block, ranks, machine.per_node);
                    let setup = Setup::new(machine, placement).with_serial_copies(serial);
                    let (regret, description) = regret(&setup, &work, SharedMemory::None);
                    (
                        regret,
                        format!("{name}, {ranks} ranks, {bytes} B: {description}"),
                    )
                });
                let mut lost: Vec<_> = lost.collect();
                lost.sort_by(|one, other| one.0.total_cmp(&other.0));
                let (most, description) = &lost[lost.len() - 1];
                println!(
                    "{name} {collective}: median {:.1}%, 95% {:.1}%; most {:.1}%: {description}",
                    100.0 * percentile(&lost, 0.5),
                    100.0 * percentile(&lost, 0.95),
                    100.0 * most,
                );
                all.extend(lost);
            }
        }
        assert_losses_within(all, bound);
    }
}

/// Prints the losses and asserts that their 95th percentile is at most `bound`.
fn assert_losses_within(mut all: Vec<(f64, String)>, bound: f64) {
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (most, description) = &all[all.len() - 1];
    let [half, more, nearly] = [0.5, 0.9, 0.95].map(|share| percentile(&all, share));
    println!(
        "{} cells: median {:.1}%, 90% {:.1}%, 95% {:.1}%, most {:.1}%: {description}",
        all.len(),
        100.0 * half,
        100.0 * more,
        100.0 * nearly,
        100.0 * most
    );
    for (lost, description) in all.iter().rev().take(40) {
        println!("{:.0}% {description}", 100.0 * lost);
    }
    assert!(nearly <= bound, "{nearly:.3} at the 95th percentile");
}

/// The loss at this percentile of the sorted cells.
fn percentile(cells: &[(f64, String)], share: f64) -> f64 {
    cells[((cells.len() - 1) as f64 * share).round() as usize].0
}

#[test]
fn the_choice_is_near_the_best_algorithm() {
    let grid = Grid {
        ranks: &[2, 3, 4, 8, 16, 17, 33, 64],
        bytes: &[8, 512, 8 << 10, 64 << 10, 512 << 10, 4 << 20],
        per_node: &[None],
        serial_copies: &[false],
    };
    grid.assert_within(0.01);
}

/// Configurations to which no cost form was fitted.
#[test]
fn the_choice_is_near_the_best_where_no_form_was_fitted() {
    let grid = Grid {
        ranks: &[5, 6, 7, 12, 24],
        bytes: &[100, 20_000, 1_000_000],
        per_node: &[None],
        serial_copies: &[false, true],
    };
    grid.assert_within(0.01);
}

/// The cost forms are least precise where the last node is partly filled.
#[test]
fn the_choice_is_near_the_best_on_unequal_nodes() {
    let grid = Grid {
        ranks: &[18, 31, 45],
        bytes: &[100, 300_000],
        per_node: &[Some(7), Some(16)],
        serial_copies: &[false, true],
    };
    grid.assert_within(0.10);
}

/// The nodes, ranks a node, ranks that the last node lacks, order and copies of a group, drawn.
fn drawn_setup(machine: Machine, at: u64) -> Setup {
    let number = |index, below: u32| (draw(at, index) % u64::from(below)) as u32;
    let (nodes, each) = (1 + number(0, 14), 1 + number(1, machine.per_node.min(20)));
    let missing = if number(2, 2) == 0 {
        0
    } else {
        number(3, each)
    };
    let order = [Order::Block, Order::Cyclic][number(4, 2) as usize];
    let size = (nodes * each - missing).max(2);
    let serial = number(5, 2) == 0;
    Setup::new(machine, Placement::new(order, size, each)).with_serial_copies(serial)
}

/// What collectives may lose at the 95th percentile on drawn groups: little above what they lose. Those with decision trees
/// lose less than by the cost forms, by which it was 28 % for bcast, 46 % for gather and 38 % for scatter.
const MOST_ON_DRAWN_GROUPS: [f64; COLLECTIVES.len()] = [
    0.06, 0.18, 0.15, 0.05, 0.065, 0.08, 0.085, 0.20, 0.14, 0.13, 0.09, 0.09, 0.07,
];

/// Any numbers of nodes and of ranks a node, in blocks and in turn, with a last node that may lack ranks, none of which a
/// form was fitted to or a tree was learned from.
#[test]
fn the_choice_is_near_the_best_on_drawn_groups() {
    let mut all = Vec::new();
    for (collective, most) in COLLECTIVES.into_iter().zip(MOST_ON_DRAWN_GROUPS) {
        let losses = drawn_losses(collective, |drawn| (drawn, true, SharedMemory::None));
        assert_nearly_within(&collective.to_string(), &losses, most);
        all.extend(losses);
    }
    assert_losses_within(all, 0.10);
}

/// Other kinds of calls for which trees are learned: the collective, whether the operation commutes, and which ranks share
/// memory; and what they may lose at the 95th percentile.
const MOST_OF_OTHER_CALLS: [(Collective, bool, SharedMemory, f64); 6] = [
    (Collective::Reduce, false, SharedMemory::None, 0.37),
    (
        Collective::ReduceScatterBlock,
        false,
        SharedMemory::None,
        0.07,
    ),
    (Collective::Bcast, true, SharedMemory::OnNodes, 0.50),
    (Collective::Gather, true, SharedMemory::OnNodes, 0.24),
    (Collective::Scatter, true, SharedMemory::OnNodes, 0.05),
    (Collective::Reduce, true, SharedMemory::OnNodes, 0.38),
];

#[test]
fn the_choice_is_near_the_best_for_other_calls_in_cyclic_placement() {
    for (collective, commutative, sharing, most) in MOST_OF_OTHER_CALLS {
        let kind = format!("{collective}, commutes: {commutative}, memory: {sharing:?}");
        let losses = drawn_losses(collective, |drawn| {
            let place = drawn.placement;
            let place = Placement::new(Order::Cyclic, place.size(), place.per_node());
            let setup = Setup::new(drawn.machine, place).with_serial_copies(drawn.serial_copies);
            (setup, commutative, sharing)
        });
        assert_nearly_within(&kind, &losses, most);
    }
}

/// The sorted losses of a collective on drawn groups, with lengths that are drawn, too. `kind` says how each group is placed,
/// whether operations commute, and which ranks share memory.
fn drawn_losses(
    collective: Collective,
    kind: impl Fn(Setup) -> (Setup, bool, SharedMemory) + Sync,
) -> Vec<(f64, String)> {
    let cells: Vec<_> = (0..60_u64)
        .flat_map(|at| Machine::NAMED.map(|named| (at, named)))
        .collect();
    let losses = cells.into_par_iter().map(|(at, (name, _, machine))| {
        let (setup, commutative, sharing) = kind(drawn_setup(machine, at));
        let log = draw(at, 6 + collective as u64) % 2_000;
        let bytes = 4.0 * (log as f64 / 100.0).exp2();
        let work = Workload::new(collective, setup.placement.size(), bytes as u64);
        let work = work.with_commutative(commutative);
        let (lost, description) = regret(&setup, &work, sharing);
        let (place, serial) = (setup.placement, setup.serial_copies);
        let text = format!("{name}, {place:?}, {serial}, {bytes:.0} B: {description}");
        (lost, text)
    });
    let mut losses: Vec<_> = losses.collect();
    losses.sort_by(|one, other| one.0.total_cmp(&other.0));
    losses
}

/// Prints and checks the 95th percentile of sorted losses.
fn assert_nearly_within(kind: &str, losses: &[(f64, String)], most: f64) {
    let [half, nearly] = [0.5, 0.95].map(|share| percentile(losses, share));
    println!(
        "{kind}: median {:.1}%, 95% {:.1}%",
        100.0 * half,
        100.0 * nearly
    );
    assert!(nearly <= most, "{kind}: {nearly:.3} at the 95th percentile");
}
