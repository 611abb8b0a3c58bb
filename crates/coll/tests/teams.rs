//! What ranks of a node do together: proved as part of plans, told by closed forms as it is simulated, and
//! chosen only where ranks share memory and wait.

use oxmpi_coll::catalog::{Algorithm, Call, Collective, Parameters, Teams};
use oxmpi_coll::check::{Case, Contract, Fault, Kind, check_plans};
use oxmpi_coll::choice::{Tuning, choose};
use oxmpi_coll::cost::Model;
use oxmpi_coll::machine::Machine;
use oxmpi_coll::plan::{Act, Acts, Known, Plan, Together};
use oxmpi_coll::sim::{Error, Order, Placement, Setup, Simulation, Workload};

/// The algorithms in which ranks act together.
fn by_teams() -> impl Iterator<Item = Algorithm> {
    Algorithm::ALL
        .into_iter()
        .filter(|one| !one.is_by_messages())
}

/// A plan with its act changed.
#[derive(Clone)]
struct Changed<P> {
    plan: P,
    change: Option<fn(&mut Together)>,
}

impl<P: Plan> Plan for Changed<P> {
    fn steps(&self) -> u32 {
        self.plan.steps()
    }

    fn scratch(&self, known: &Known<'_>) -> u64 {
        self.plan.scratch(known)
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let mut own = Acts::new();
        let needs = self.plan.step(i, known, &mut own)?;
        for act in own.iter() {
            acts.push(match (*act, self.change) {
                (Act::Together(mut act), Some(change)) => {
                    change(&mut act);
                    Act::Together(act)
                }
                (act, _) => act,
            });
        }
        Some(needs)
    }
}

#[test]
fn every_collective_with_equal_blocks_is_done_together() {
    for collective in Collective::ALL {
        let algorithms = by_teams().filter(|one| one.collective() == collective);
        let expected = usize::from(Together::is_done(collective));
        assert_eq!(algorithms.count(), expected, "{collective}");
    }
}

/// All ranks but the last one of four do the right thing.
#[test]
fn a_rank_that_does_something_else_is_found_out() {
    let case = Case::new(Collective::Allreduce, 4, 3);
    let fault = |change: fn(&mut Together)| -> Fault {
        let (arrays, parameters) = (
            case.arrays(),
            Parameters {
                per_node: 4,
                ..Parameters::NONE
            },
        );
        let plan = |rank| Changed {
            plan: (Algorithm::AllreduceTeam)
                .plan(&case.call(rank, &arrays), &parameters)
                .expect("it suits"),
            change: (rank == 3).then_some(change),
        };
        let plans: Vec<_> = (0..4).map(plan).collect();
        check_plans(&plans, &Contract::of(&case.calls(&arrays), &arrays)).expect_err("a fault")
    };
    assert_eq!(fault(|act| act.root = 1).kind, Kind::Apart);
    assert_eq!(fault(|act| act.root = 4).kind, Kind::Apart);
    assert_eq!(fault(|act| act.does = Collective::Scan).kind, Kind::Apart);
    assert_eq!(fault(|act| act.team.size = 1).kind, Kind::Apart);
    assert_eq!(
        fault(|act| act.does = Collective::Reduce).kind,
        Kind::Length { from: 3, into: 0 }
    );
    assert_eq!(fault(|act| act.team.first = 4).kind, Kind::Apart);
    assert_eq!(fault(|act| act.team.size = 2).kind, Kind::Apart);
    assert_eq!(
        fault(|act| act.count = 2).kind,
        Kind::Length { from: 3, into: 2 }
    );
    assert_eq!(
        fault(|act| act.team.size = 5).kind,
        Kind::Deadlock { waiting: 4 }
    );
}

#[test]
fn on_one_node_nothing_is_a_message_and_the_form_is_what_is_simulated() {
    for (machine, algorithm) in Machine::NAMED
        .into_iter()
        .flat_map(|row| by_teams().map(move |one| (row.2, one)))
    {
        for (ranks, bytes) in [1, 2, 3, 8, 16]
            .into_iter()
            .flat_map(|p| [8, 1 << 10, 1 << 20].map(|b| (p, b)))
        {
            let place = Placement::new(Order::Block, ranks, ranks);
            let work = Workload::new(algorithm.collective(), ranks, bytes);
            let setup = Setup::new(machine, place);
            let report = Simulation::new(&setup).work(&work, algorithm, &Parameters::NONE);
            let report = report.expect("it is simulated");
            assert_eq!(report.counts.messages, 0, "{algorithm}");
            if ranks > 1 {
                let call = work.blocking_call(0, place).expect("a call");
                let parameters = Parameters {
                    per_node: ranks,
                    ..Parameters::NONE
                };
                let form = algorithm.cost(&call, &parameters, &Model::new(machine, place));
                assert_eq!(form, report.last(), "{algorithm}, {ranks} ranks, {bytes} B");
            }
        }
    }
}

#[test]
fn ranks_of_several_nodes_send_as_many_messages_as_there_are_leaders() {
    let place = Placement::new(Order::Block, 64, 16);
    let setup = Setup::new(Machine::NDR, place);
    for (algorithm, messages) in [
        (Algorithm::BcastTeam, 3),
        (Algorithm::ReduceTeam, 3),
        (Algorithm::GatherTeam, 3),
        (Algorithm::ScatterTeam, 3),
    ] {
        let work = Workload::new(algorithm.collective(), 64, 8);
        let report = Simulation::new(&setup).work(&work, algorithm, &Parameters::NONE);
        let counts = report.expect("it is simulated").counts;
        assert_eq!(
            (counts.messages, counts.remote),
            (messages, messages),
            "{algorithm}"
        );
    }
    let work = Workload::new(Collective::Allgather, 64, 8);
    let report = Simulation::new(&setup).work(&work, Algorithm::AllgatherTeam, &Parameters::NONE);
    assert!(matches!(report, Err(Error::Unsuited(_))));
}

#[test]
fn ranks_act_together_only_where_they_share_memory_and_wait() {
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
            &call.with_teams(Teams::All),
            &tuning.clone().placed(Placement::new(Order::Block, 64, 64)),
        );
        let is_done = Together::is_done(collective);
        assert_eq!(
            is_done,
            !all.unwrap().algorithm.is_by_messages(),
            "{collective}"
        );
    }
    let bcast = Call::bcast(0, 64, 0, 64 << 10).with_teams(Teams::OnNodes);
    assert_eq!(
        choose(&bcast, &tuning).unwrap().algorithm,
        Algorithm::BcastTeam
    );
}
