//! Every algorithm of the catalog over real lanes, against what its contract promises.

mod arena;
mod job;
mod started;
mod threads;
mod troubles;

use oxmpi_coll::catalog::{Algorithm, Call, Parameters};
use oxmpi_coll::check::{Case, Contract, cases, draw};

use self::arena::{Arena, Element, combine};
use self::job::job;
use super::{Buffers, Communicator, Run};
use crate::op::{Op, custom};
use crate::raw::Own;

/// Cases of one algorithm on one number of ranks: all there are, or as many drawn ones.
const CASES: usize = 10;

/// Above this the network's roads and the packing are the same as for shorter ones.
const LONGEST: u64 = 3000;

/// The cases that are run: those that prove the algorithm, not as long.
fn sample(algorithm: Algorithm, size: u32) -> Vec<Case> {
    let all = cases(algorithm, size);
    let step = all.len().div_ceil(CASES).max(1);
    let first = draw(size.into(), algorithm as u64) as usize % step;
    let short = |case: Case| Case {
        count: case.count.min(LONGEST),
        parameters: match algorithm.is_by_messages() {
            true => case.parameters,
            // The ranks of the job have one team.
            false => Parameters {
                per_node: size,
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

/// Runs one case on this rank, and looks at what it brought.
fn run_case(
    comm: &Communicator<Own>,
    algorithm: Algorithm,
    case: &Case,
    mut carry_out: impl FnMut(&Communicator<Own>, &Call, Algorithm, &Case, &Buffers),
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
    comm: &Communicator<Own>,
    call: &Call,
    algorithm: Algorithm,
    case: &Case,
    buffers: &Buffers,
) {
    let plan = algorithm.plan(call, &case.parameters).expect("it suits");
    let commutative = case.commutative || case.exact;
    let operation = custom(move |left, right| combine(commutative, left, right));
    let run = Run::new(plan, call, comm.numbering().once(), true);
    comm.carry_out(run, comm.group(), buffers, Some(&operation))
        .unwrap_or_else(|error| panic!("{algorithm} of {case:?}: {error}"));
}

#[test]
fn every_algorithm_brings_what_its_contract_promises() {
    for size in [1, 2, 3, 4, 5, 8] {
        job(size, |comm| {
            // Its ranks meet in their first collective.
            comm.allreduce_in_place(&mut [0_u8], Op::MAX)
                .expect("all are there");
            for algorithm in Algorithm::ALL {
                for case in sample(algorithm, size) {
                    run_case(comm, algorithm, &case, blocking);
                }
            }
        });
    }
}
