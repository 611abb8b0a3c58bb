//! The cost forms of the catalog against the simulator, which runs every rank's plan on the same machine
//! model.

use oxmpi_coll::catalog::{Algorithm, Call, Collective, Parameters};
use oxmpi_coll::cost::Model;
use oxmpi_coll::machine::Machine;
use oxmpi_coll::sim::{Order, PathCosts, Placement, Setup, Simulation, Workload};
use proptest::prelude::*;
use proptest::sample::select;
use rayon::prelude::*;

const RANKS: [u32; 13] = [2, 3, 5, 8, 13, 16, 17, 32, 33, 48, 64, 65, 100];

const BYTES: [u64; 6] = [8, 256, 4 << 10, 32 << 10, 256 << 10, 2 << 20];

/// Small, medium and large parameters for an algorithm that takes a radix or a number of blocks; else the
/// defaults.
fn variants(algorithm: Algorithm, placement: Placement) -> impl Iterator<Item = Parameters> {
    let own = algorithm.row().parameters;
    let all = [(2, 4), (4, 16), (8, 64)].map(|(radix, blocks)| Parameters {
        radix,
        blocks,
        per_node: placement.per_node(),
        order: placement.order(),
        ..Parameters::NONE
    });
    let has_some = own.radix + own.blocks > 0;
    all.into_iter().take(if has_some { 3 } else { 1 })
}

/// Whether the simulator can run the algorithm with such blocks: it has equal blocks only, and in gatherv
/// and scatterv only blocks that go through the tree.
fn is_simulated(algorithm: Algorithm, bytes: u64) -> bool {
    let collective = algorithm.collective();
    let straight = bytes > algorithm.row().parameters.cutoff;
    match collective {
        Collective::Gatherv | Collective::Scatterv => !straight,
        Collective::Alltoallv => false,
        _ => !collective.is_neighborhood(),
    }
}

/// The form's time over the simulated time, for all ranks, bytes and parameters on all machines.
fn ratios(algorithm: Algorithm) -> Vec<f64> {
    let mut ratios = Vec::new();
    let machines = Machine::NAMED.map(|row| row.2);
    for (machine, ranks) in machines.into_iter().flat_map(|m| RANKS.map(|p| (m, p))) {
        let placement = Placement::new(Order::Block, ranks, machine.per_node);
        let (setup, model) = (
            Setup::new(machine, placement),
            Model::new(machine, placement),
        );
        for bytes in BYTES
            .into_iter()
            .filter(|&bytes| is_simulated(algorithm, bytes))
        {
            let work = Workload::new(algorithm.collective(), ranks, bytes);
            let call = work.blocking_call(0, placement).expect("a call");
            if algorithm.suits(&call).is_err() {
                continue;
            }
            for parameters in variants(algorithm, placement) {
                let report = Simulation::new(&setup).work(&work, algorithm, &parameters);
                let report =
                    report.unwrap_or_else(|why| panic!("{algorithm}, {ranks} ranks: {why}"));
                let form = algorithm.cost(&call, &parameters, &model);
                ratios.push(form as f64 / report.last() as f64);
            }
        }
    }
    ratios.sort_by(f64::total_cmp);
    ratios
}

#[test]
fn cost_forms_are_near_the_simulation() {
    let mut far = Vec::new();
    let all: Vec<_> = Algorithm::ALL.into_par_iter().map(ratios).collect();
    for (algorithm, ratios) in Algorithm::ALL.into_iter().zip(all) {
        if ratios.is_empty() {
            continue;
        }
        let at = |share: f64| ratios[((ratios.len() - 1) as f64 * share) as usize];
        let line = format!(
            "{algorithm}: {:.2} {:.2} {:.2} of the simulated time (5%, median, 95%)",
            at(0.05),
            at(0.5),
            at(0.95)
        );
        println!("{line}");
        if !(0.9..=1.15).contains(&at(0.5)) || at(0.05) < 0.33 || at(0.95) > 2.5 {
            far.push(line);
        }
    }
    assert!(far.is_empty(), "{}", far.join("\n"));
}

/// Lengths of vectors up to 2^60, four per power of two, and whether it is such a step. Just below each
/// step come, if they are beyond the step before, the longest length that gives all ranks equally many
/// bytes, and that length less one.
fn lengths(ranks: u32) -> impl Iterator<Item = (u64, bool)> {
    let step = |log: u64| (1 << (log / 4)) * (4 + log % 4) / 4;
    (0..240_u64).flat_map(move |log| {
        let (before, bytes) = (log.checked_sub(1).map_or(0, step), step(log));
        let even = bytes - bytes % u64::from(ranks);
        let all = [even.saturating_sub(1), even, bytes];
        let beyond = all.into_iter().filter(move |&length| length > before);
        beyond.map(move |length| (length, length == bytes))
    })
}

#[test]
fn a_longer_vector_never_costs_less() {
    let machine = Machine::GEMINI;
    // A form with a cutoff falls where the user set the cutoff too high.
    let smooth = |algorithm: &Algorithm| algorithm.row().parameters.cutoff == 0;
    for algorithm in Algorithm::ALL.into_iter().filter(smooth) {
        for ranks in [2, 3, 16, 17, 33, 48, 1000, 12_000] {
            let placement = Placement::new(Order::Block, ranks, machine.per_node);
            let model = Model::new(machine, placement);
            for parameters in variants(algorithm, placement) {
                let mut last = 0;
                for (bytes, is_step) in lengths(ranks) {
                    let work = Workload::new(Collective::Barrier, ranks, 0);
                    let mut call = work.call(0).expect("a call");
                    (call.collective, call.count) = (algorithm.collective(), bytes);
                    let cost = algorithm.cost(&call, &parameters, &model);
                    // One form falls by 0.2 % between two steps.
                    let least = if is_step { last } else { last - last / 256 };
                    assert!(
                        cost >= least,
                        "{algorithm} {parameters:?}: {ranks} ranks, {bytes} B"
                    );
                    last = last.max(cost);
                }
            }
        }
    }
}

/// The parameters of a path, in every combination of extremes that a user may write.
fn paths() -> impl Strategy<Value = PathCosts> {
    let time = || select(vec![0, 1, 50, 1_000, 100_000, 4_000_000]);
    let byte = select(vec![0, 1, 50, 1_000]);
    let all = (time(), time(), time(), time(), byte);
    all.prop_map(|(latency, send, recv, gap, byte)| PathCosts {
        latency,
        send,
        recv,
        gap,
        byte,
    })
}

fn machines() -> impl Strategy<Value = Machine> {
    let eager = select(vec![0, 8 << 10, u64::MAX]);
    (paths(), paths(), eager).prop_map(|(network, node, eager)| Machine {
        network,
        node,
        per_node: 1,
        eager,
    })
}

fn numbers() -> impl Strategy<Value = Parameters> {
    let small = || select(vec![0, 1, 2, 3, 8, 63, 256, 1 << 20, u32::MAX]);
    let long = || select(vec![0, 1, 8 << 10, u64::MAX]);
    let all = (small(), small(), small(), small(), long(), long());
    all.prop_map(
        |(radix, gather_radix, blocks, window, segment, cutoff)| Parameters {
            radix,
            gather_radix,
            blocks,
            window,
            segment,
            cutoff,
            ..Parameters::NONE
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Machines come from files and numbers from settings: no form overflows, whatever the user writes.
    #[test]
    fn no_cost_form_overflows(
        machine in machines(),
        parameters in numbers(),
        size in select(vec![2, 3, 5, 8, 33, 64, 129, 1_000, 65_537, 1_000_003, 1 << 30, u32::MAX]),
        per_node in select(vec![0, 1, 2, 3, 16, 64, 1_000, u32::MAX]),
        count in select(vec![0, 1, 8, 100, 8 << 10, 1 << 20, 1 << 40, u64::MAX]),
        element in select(vec![1, 4, 16]),
        is_cyclic in any::<bool>(),
        serial in any::<bool>(),
    ) {
        let order = if is_cyclic { Order::Cyclic } else { Order::Block };
        let placement = Placement::new(order, size, per_node);
        let model = Model::new(machine, placement).with_serial_copies(serial);
        let parameters = Parameters { per_node, order, ..parameters };
        for algorithm in Algorithm::ALL {
            let mut call = Call::barrier(0, size).exactly();
            (call.collective, call.count) = (algorithm.collective(), count);
            call.element_bytes = element;
            if algorithm.suits(&call).is_ok() {
                algorithm.cost(&call, &parameters, &model);
            }
        }
    }
}

/// A message just beyond the eager limit costs no less than a shorter one to or from a root, also where
/// the last node is partly filled.
#[test]
fn a_long_message_of_a_root_costs_no_less_than_a_short_one() {
    const EDGES: [u64; 5] = [4 << 10, 8 << 10, (8 << 10) + 8, 16 << 10, 64 << 10];
    let rooted = [Collective::Gather, Collective::Scatter, Collective::Bcast];
    let placed = [1, 2, 4, 16, 24, 64].map(|per_node| {
        let ranks = [2, 3, 5, 9, 17, 18, 25, 33, 65, 67, 100];
        ranks.map(|ranks| Placement::new(Order::Block, ranks, per_node))
    });
    let models = Machine::NAMED.into_iter().flat_map(|(_, _, machine)| {
        let placed = placed.into_iter().flatten();
        placed.map(move |placement| Model::new(machine, placement))
    });
    let each = models.flat_map(|model| [false, true].map(|all| model.with_serial_copies(all)));
    for (model, collective) in each.flat_map(|model| rooted.map(|one| (model, one))) {
        for algorithm in collective.algorithms() {
            for parameters in variants(algorithm, model.place).filter(|by| by.blocks < 64) {
                let costs = EDGES.map(|bytes| {
                    let call = Workload::new(collective, model.place.size(), bytes).call(0);
                    algorithm.cost(&call.expect("a call"), &parameters, &model)
                });
                assert!(
                    costs.is_sorted(),
                    "{algorithm} {parameters:?} {model:?}: {costs:?}"
                );
            }
        }
    }
}

/// With two ranks on the last node, the second one's block waits behind the first one's if both paths
/// take equally long.
#[test]
fn a_ring_form_covers_two_ranks_on_the_last_node() {
    let machines = [
        (Machine::GEMINI, [28_000, 29_000, 30_000]),
        (Machine::SLINGSHOT, [76_000, 81_000, 82_000]),
    ];
    for (machine, blocks) in machines {
        let placement = Placement::new(Order::Block, 18, 16);
        let (setup, model) = (
            Setup::new(machine, placement),
            Model::new(machine, placement),
        );
        let parameters = Parameters::NONE.with_blocks(1).with_per_node(16);
        for block in blocks {
            let work = Workload::new(Collective::Allreduce, 18, 18 * block);
            let report = Simulation::new(&setup).work(&work, Algorithm::AllreduceRing, &parameters);
            let time = report.expect("a time").last();
            let call = work.call(0).expect("a call");
            let form = Algorithm::AllreduceRing.cost(&call, &parameters, &model);
            let ratio = form as f64 / time as f64;
            assert!((0.95..1.03).contains(&ratio), "{block} B: {ratio}");
        }
    }
}

/// The form of postal trees with short vectors equals the simulation on one node and is near it on equal
/// nodes.
#[test]
fn postal_tree_forms_are_near_the_simulation_for_short_vectors() {
    let placed = [(16, 16), (64, 64), (100, 100), (33, 1), (48, 16), (64, 16)];
    for (machine, (ranks, per_node)) in Machine::NAMED
        .into_iter()
        .flat_map(|(_, _, machine)| placed.map(|placed| (machine, placed)))
    {
        let placement = Placement::new(Order::Block, ranks, per_node);
        for (serial, bytes) in [8, 512, 4 << 10]
            .into_iter()
            .flat_map(|b| [(false, b), (true, b)])
        {
            let setup = Setup::new(machine, placement).with_serial_copies(serial);
            let model = Model::new(machine, placement).with_serial_copies(serial);
            for (algorithm, radix) in [Algorithm::BcastPostal, Algorithm::ReducePostal]
                .into_iter()
                .flat_map(|one| [2, 3, 4, 5, 8].map(|radix| (one, radix)))
            {
                let parameters = Parameters::NONE.with_radix(radix).with_per_node(per_node);
                let work = Workload::new(algorithm.collective(), ranks, bytes);
                let report = Simulation::new(&setup).work(&work, algorithm, &parameters);
                let time = report.expect("a time").last();
                let form = algorithm.cost(&work.call(0).expect("a call"), &parameters, &model);
                let ratio = form as f64 / time as f64;
                assert!(
                    (0.97..1.03).contains(&ratio),
                    "{algorithm} to {radix}, {bytes} B, {placement:?}, serial {serial}: {ratio}"
                );
            }
        }
    }
}
