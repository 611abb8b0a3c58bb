//! Intra-node phases: the checker proves plans that contain them, cost forms equal the simulation, and
//! the choice uses them only where ranks share memory.

use oxmpi_coll::catalog::{Algorithm, Call, Collective, Parameters, SharedMemory};
use oxmpi_coll::check::FaultKind::{self, Deadlock, Length, PhaseMismatch};
use oxmpi_coll::check::{Case, Contract, Fault, check_plans};
use oxmpi_coll::choice::{Tuning, choose};
use oxmpi_coll::cost::Model;
use oxmpi_coll::machine::Machine;
use oxmpi_coll::plan::{Act, Acts, Buf, IntraNodeOp, NodeRanks, Part, Plan, PlanInputs};
use oxmpi_coll::sim::{Error, Order, Placement, Setup, Simulation, Workload};

use crate::common::script::{Script, Step};

/// The algorithms that contain an intra-node phase.
fn with_intra_node_phases() -> impl Iterator<Item = Algorithm> {
    Algorithm::ALL
        .into_iter()
        .filter(|one| !one.is_by_messages())
}

/// An alteration of an intra-node phase.
type Alter = fn(&mut IntraNodeOp);

/// A plan whose intra-node phase is altered by `change`.
#[derive(Clone)]
struct Changed<P> {
    plan: P,
    change: Option<Alter>,
}

impl<P: Plan> Plan for Changed<P> {
    fn steps(&self) -> u32 {
        self.plan.steps()
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        self.plan.scratch(inputs)
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let mut own = Acts::new();
        let needs = self.plan.step(i, inputs, &mut own)?;
        for act in own.iter() {
            acts.push(match (*act, self.change) {
                (Act::IntraNode(mut act), Some(change)) => {
                    change(&mut act);
                    Act::IntraNode(act)
                }
                (act, _) => act,
            });
        }
        Some(needs)
    }
}

/// A step written by hand: the steps it needs, and its acts.
fn step(needs: u32, own: &[Act]) -> Step {
    let mut acts = Acts::new();
    own.iter().for_each(|&act| acts.push(act));
    (needs, acts)
}

#[test]
fn every_collective_with_an_intra_node_phase_has_one_algorithm() {
    for collective in Collective::ALL {
        let algorithms = with_intra_node_phases().filter(|one| one.collective() == collective);
        let expected = usize::from(IntraNodeOp::is_supported(collective));
        assert_eq!(algorithms.count(), expected, "{collective}");
    }
}

/// Rank 3 of 4 alters its phase; the other ranks run the right plan.
#[test]
fn a_rank_with_another_phase_is_reported() {
    let case = Case::new(Collective::Allreduce, 4, 3);
    let fault = |change: Alter| -> Fault {
        let (arrays, parameters) = (case.arrays(), Parameters::NONE.with_per_node(4));
        let plan = |rank| Changed {
            plan: (Algorithm::AllreduceIntraNode)
                .plan(&case.call(rank, &arrays), &parameters)
                .expect("the algorithm supports the call"),
            change: (rank == 3).then_some(change),
        };
        let plans: Vec<_> = (0..4).map(plan).collect();
        check_plans(&plans, &Contract::of(&case.calls(&arrays), &arrays)).expect_err("a fault")
    };
    let alters: [(Alter, FaultKind); 9] = [
        (|act| act.root = 1, PhaseMismatch),
        (|act| act.root = 4, PhaseMismatch),
        (|act| act.collective = Collective::Scan, PhaseMismatch),
        (|act| act.ranks.size = 1, PhaseMismatch),
        (
            |act| act.collective = Collective::Reduce,
            Length { from: 3, into: 0 },
        ),
        (|act| act.ranks.first = 4, Deadlock { waiting: 4 }),
        (|act| act.ranks.size = 2, PhaseMismatch),
        (|act| act.count = 2, Length { from: 3, into: 2 }),
        (|act| act.ranks.size = 5, Deadlock { waiting: 4 }),
    ];
    for (at, (change, expected)) in alters.into_iter().enumerate() {
        assert_eq!(fault(change).kind, expected, "alteration {at}");
    }
}

/// Four ranks on two nodes run one phase together, although no memory is shared between the nodes.
#[test]
fn a_phase_of_ranks_of_several_nodes_is_reported() {
    let case = Case {
        parameters: Parameters::NONE.with_per_node(2),
        ..Case::new(Collective::Allreduce, 4, 3)
    };
    let act = IntraNodeOp {
        collective: Collective::Allreduce,
        ranks: NodeRanks::of(4),
        number: 0,
        root: 0,
        count: 3,
        from: Part::new(Buf::In, 0, 3),
        into: Part::new(Buf::Out, 0, 3),
    };
    let fault_with = |ranks: fn(u32) -> (NodeRanks, u32)| {
        let step = |rank| {
            let (ranks, number) = ranks(rank);
            let act = IntraNodeOp {
                ranks,
                number,
                ..act
            };
            [step(0, &[Act::IntraNode(act)])]
        };
        let steps = [0, 1, 2, 3].map(step);
        let plans = steps.each_ref().map(|steps| Script(steps));
        case.check_plans(&plans).expect_err("a fault").kind
    };
    let all = NodeRanks::of(4);
    assert_eq!(
        fault_with(|rank| (NodeRanks::of(4), rank)),
        FaultKind::PhaseRanks { ranks: all }
    );
    let pair = |first| NodeRanks { first, size: 2 };
    assert_eq!(
        fault_with(|rank| (
            NodeRanks {
                first: rank % 2,
                size: 2
            },
            rank / 2
        )),
        FaultKind::PhaseRanks { ranks: pair(1) }
    );
    // A rank under the number of another one.
    assert_eq!(
        fault_with(|rank| (
            NodeRanks {
                first: rank / 2 * 2,
                size: 2
            },
            1 - rank % 2
        )),
        FaultKind::PhaseRanks { ranks: pair(0) }
    );
    // These ranks share a node, but their sums leave out the other node.
    let on_nodes = fault_with(|rank| {
        let ranks = NodeRanks {
            first: rank / 2 * 2,
            size: 2,
        };
        (ranks, rank % 2)
    });
    assert!(matches!(on_nodes, FaultKind::Wrong { .. }), "{on_nodes}");
}

/// Rank 0 sends after, or in the same step as, the phase that rank 1 enters only once it has the message:
/// a deadlock.
#[test]
fn no_act_starts_before_the_phase_of_an_earlier_step_ends() {
    let act = IntraNodeOp {
        collective: Collective::Bcast,
        ranks: NodeRanks::of(2),
        number: 0,
        root: 0,
        count: 1,
        from: Part::EMPTY,
        into: Part::EMPTY,
    };
    let from = Part::new(Buf::In, 0, 1);
    let into = Part::new(Buf::Out, 0, 1);
    let root = Act::IntraNode(IntraNodeOp { from, ..act });
    let other = Act::IntraNode(IntraNodeOp {
        number: 1,
        into,
        ..act
    });
    let (tag, from, into) = (0, Part::EMPTY, Part::EMPTY);
    let send = Act::Send { to: 1, tag, from };
    let recv = Act::Recv { from: 0, tag, into };
    let case = Case::new(Collective::Bcast, 2, 1);
    let one = [step(0, &[recv]), step(1, &[other])];
    let check = |zero: &[Step]| case.check_plans(&[Script(zero), Script(&one)]);
    assert!(check(&[step(0, &[send]), step(0, &[root])]).is_ok());
    let late = check(&[step(0, &[root]), step(0, &[send])]);
    assert_eq!(late.unwrap_err().kind, Deadlock { waiting: 2 });
    let beside = check(&[step(0, &[root, send])]);
    assert_eq!(beside.unwrap_err().kind, FaultKind::PhaseNotLast);
}

#[test]
fn on_one_node_no_message_is_sent_and_the_cost_form_equals_the_simulation() {
    for (machine, algorithm) in Machine::NAMED
        .into_iter()
        .flat_map(|row| with_intra_node_phases().map(move |one| (row.2, one)))
    {
        for (ranks, bytes) in [1, 2, 3, 8, 16]
            .into_iter()
            .flat_map(|p| [8, 1 << 10, 1 << 20].map(|b| (p, b)))
        {
            let place = Placement::new(Order::Block, ranks, ranks);
            let work = Workload::new(algorithm.collective(), ranks, bytes);
            let setup = Setup::new(machine, place);
            let report = Simulation::new(&setup).work(&work, algorithm, &Parameters::NONE);
            let report = report.expect("the simulator runs the algorithm");
            assert_eq!(report.counts.messages, 0, "{algorithm}");
            if ranks > 1 {
                let call = work.blocking_call(0, place).expect("a call");
                let parameters = Parameters::NONE.with_per_node(ranks);
                let form = algorithm.cost(&call, &parameters, &Model::new(machine, place));
                assert_eq!(form, report.last(), "{algorithm}, {ranks} ranks, {bytes} B");
            }
        }
    }
}

#[test]
fn on_several_nodes_only_leaders_send_messages() {
    let place = Placement::new(Order::Block, 64, 16);
    let setup = Setup::new(Machine::NDR, place);
    for (algorithm, messages) in [
        (Algorithm::BcastIntraNode, 3),
        (Algorithm::ReduceIntraNode, 3),
        (Algorithm::GatherIntraNode, 3),
        (Algorithm::ScatterIntraNode, 3),
    ] {
        let work = Workload::new(algorithm.collective(), 64, 8);
        let report = Simulation::new(&setup).work(&work, algorithm, &Parameters::NONE);
        let counts = report.expect("the simulator runs the algorithm").counts;
        assert_eq!(
            (counts.messages, counts.remote),
            (messages, messages),
            "{algorithm}"
        );
    }
    let work = Workload::new(Collective::Allgather, 64, 8);
    let report =
        Simulation::new(&setup).work(&work, Algorithm::AllgatherIntraNode, &Parameters::NONE);
    assert!(matches!(report, Err(Error::Unsuited(_))));
}

#[test]
fn intra_node_phases_are_chosen_only_where_ranks_share_memory_and_wait() {
    let on_nodes = Placement::new(Order::Block, 64, 16);
    let tuning = Tuning::default().placed(on_nodes);
    for collective in Collective::ALL {
        let mut call = Call::barrier(0, 64);
        call.collective = collective;
        let Ok(choice) = choose(&call, &tuning) else {
            continue;
        };
        assert!(choice.algorithm.is_by_messages(), "{collective}");
        let all = choose(
            &call.with_shared_memory(SharedMemory::All),
            &tuning.clone().placed(Placement::new(Order::Block, 64, 64)),
        );
        let is_supported = IntraNodeOp::is_supported(collective);
        assert_eq!(
            is_supported,
            !all.unwrap().algorithm.is_by_messages(),
            "{collective}"
        );
    }
    let bcast = Call::bcast(0, 64, 0, 64 << 10).with_shared_memory(SharedMemory::OnNodes);
    assert_eq!(
        choose(&bcast, &tuning).unwrap().algorithm,
        Algorithm::BcastIntraNode
    );
}
