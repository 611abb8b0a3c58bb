//! Every algorithm of the catalog over real endpoints, against what its contract promises.

mod arena;
mod failure_notices;
mod node_phases;
mod started;
mod threads;

use oxmpi_coll::catalog::{Algorithm, Call, Collective, Parameters, SharedMemory};
use oxmpi_coll::check::{Case, Contract, cases, draw};
use oxmpi_coll::nodes::Nodes;
use oxmpi_coll::placement::{Order, Placement};
use oxmpi_coll::plan::Side;
use oxmpi_os::RawBytes;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use self::arena::{Arena, Element, combine};
use super::{Buffers, Communicator, PlanRun};
use crate::Single;
use crate::placement::on_one_node;
use crate::test_job as job;
use crate::test_job::{job, job_placed};

/// Cases of one algorithm on one number of ranks: all there are, or as many drawn ones.
const CASES: usize = 10;

/// A function of two elements as an operation for collectives of such elements.
fn elementwise<T>(combine: impl Fn(T, T) -> T) -> impl Fn(RawBytes, RawBytes, Side)
where
    T: FromBytes + IntoBytes + Immutable + Copy,
{
    // SAFETY: these tests give it only to collectives of their own elements.
    unsafe { crate::elementwise(combine) }
}

/// Longer messages use the same protocols and packing as these.
const LONGEST: u64 = 3000;

/// A sample of the cases that prove the algorithm, with shorter messages. Cases of algorithms with intra-node phases
/// have the given placement.
fn sample(algorithm: Algorithm, place: Placement) -> Vec<Case> {
    let size = place.size();
    let all = cases(algorithm, size);
    let step = all.len().div_ceil(CASES).max(1);
    let first = draw(size.into(), algorithm as u64) as usize % step;
    let short = |case: Case| Case {
        count: case.count.min(LONGEST),
        parameters: match algorithm.is_by_messages() {
            true => case.parameters,
            false => Parameters {
                per_node: place.per_node(),
                order: place.order(),
                ..case.parameters
            },
        },
        ..case
    };
    all.into_iter()
        .skip(first)
        .step_by(step)
        .map(short)
        .collect()
}

/// All ranks' calls, with elements of a type that fits.
fn calls(case: &Case) -> (Vec<Call>, Contract) {
    let arrays = case.arrays();
    let mut calls = case.calls(&arrays);
    let contract = Contract::of(&calls, &arrays);
    for call in &mut calls {
        call.element_bytes = match case.collective.reduces() {
            true => size_of::<Element>() as u64,
            false => 1,
        };
    }
    (calls, contract)
}

/// Runs one case on this rank, and checks its result.
fn run_case(
    comm: &Communicator<Single>,
    algorithm: Algorithm,
    case: &Case,
    mut carry_out: impl FnMut(&Communicator<Single>, &Call, Algorithm, &Case, &Buffers),
) {
    let rank = comm.group().rank();
    let (calls, contract) = calls(case);
    let (call, task) = (&calls[rank as usize], &contract.tasks[rank as usize]);
    let mut arena = Arena::new(case, rank, task);
    let buffers = arena.buffers();
    carry_out(comm, call, algorithm, case, &buffers);
    let what = || format!("{algorithm} of {case:?}, rank {rank}");
    arena.check(case, task, what);
}

fn blocking(
    comm: &Communicator<Single>,
    call: &Call,
    algorithm: Algorithm,
    case: &Case,
    buffers: &Buffers,
) {
    let plan = algorithm.plan(call, &case.parameters).expect("it suits");
    let commutative = case.commutative || case.exact;
    let operation = elementwise(move |left, right| combine(commutative, left, right));
    let run = PlanRun::new(plan, call, comm.numbers().once(), true);
    comm.carry_out(run, comm.group(), buffers, Some(&operation))
        .unwrap_or_else(|error| panic!("{algorithm} of {case:?}: {error}"));
}

#[test]
fn every_algorithm_brings_what_its_contract_promises() {
    for size in [1, 2, 3, 4, 5, 8] {
        job(size, |comm| {
            // The first collective makes the node group.
            comm.allreduce_in_place(&mut [0_u8], Ord::max)
                .expect("all are there");
            for algorithm in Algorithm::ALL {
                for case in sample(algorithm, on_one_node(size)) {
                    run_case(comm, algorithm, &case, blocking);
                }
            }
        });
    }
}

/// Some ranks' buffers have gaps; some are so long that ranks read them in each other's memory.
#[test]
fn shared_memory_collectives_take_buffers_with_gaps() {
    const LONG: u64 = 70_000;
    let acts = |one: &Algorithm| !one.is_by_messages();
    for size in [2, 3] {
        job(size, |comm| {
            for algorithm in Algorithm::ALL.into_iter().filter(acts) {
                for (count, in_place) in [(3, false), (3, true), (LONG, false), (LONG, true)] {
                    let case = Case {
                        root: size - 1,
                        in_place: in_place && algorithm.collective() != Collective::Bcast,
                        seed: 0,
                        ..Case::new(algorithm.collective(), size, count)
                    };
                    run_case(comm, algorithm, &case, by_call);
                }
            }
        });
    }
}

/// As a caller runs the collective, whatever the algorithm.
fn by_call(comm: &Communicator<Single>, call: &Call, _: Algorithm, case: &Case, buffers: &Buffers) {
    let commutative = case.commutative;
    let operation = elementwise(move |left, right| combine(commutative, left, right));
    comm.collective(call, buffers, Some(&operation))
        .unwrap_or_else(|error| panic!("{case:?}: {error}"));
}

#[test]
fn intra_node_phases_bring_what_their_contracts_promise() {
    let acts = |one: &Algorithm| one.row().needs.shared_memory == SharedMemory::OnNodes;
    for (size, per_node) in [(4, 2), (5, 2), (6, 3), (7, 3), (8, 2), (8, 4)] {
        for order in [Order::Block, Order::Cyclic] {
            let place = Placement::new(order, size, per_node);
            job_placed(place, |comm| {
                let call = Call::bcast(comm.group().rank(), size, 0, 1);
                assert_eq!(
                    comm.intra_node_support(&call).ok(),
                    Some(SharedMemory::OnNodes)
                );
                for algorithm in Algorithm::ALL.into_iter().filter(acts) {
                    for case in sample(algorithm, place) {
                        run_case(comm, algorithm, &case, blocking);
                    }
                }
            });
        }
    }
}

/// Ranks on nodes of different sizes: four, three and four of them in blocks, in turn and in no order, and pairs.
fn uneven_nodes() -> [Nodes; 4] {
    [
        &[0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2][..],
        &[0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 2],
        &[0, 1, 1, 2, 0, 2, 0, 1, 2, 2, 0],
        &[0, 1, 1],
    ]
    .map(Nodes::of)
}

#[test]
fn phases_on_nodes_of_any_sizes_bring_what_contracts_promise() {
    for nodes in uneven_nodes() {
        let size = nodes.size();
        job_placed(nodes, |comm| {
            for (collective, count) in Collective::ALL
                .into_iter()
                .flat_map(|collective| [0, 1, 37, LONGEST].map(|count| (collective, count)))
            {
                let may_be_in_place =
                    collective != Collective::Bcast && !collective.is_neighborhood();
                for in_place in [false, may_be_in_place] {
                    let case = Case {
                        root: if collective.has_root() { size - 2 } else { 0 },
                        in_place,
                        commutative: count > 1,
                        seed: 1,
                        ..Case::new(collective, size, count)
                    };
                    let any = collective.algorithms().next().expect("there is one");
                    run_case(comm, any, &case, by_call);
                }
            }
        });
    }
}
