//! A checker that proves a collective for one number of ranks, by running all ranks' plans on symbols
//! instead of numbers.
//!
//! The [executor](crate::exec) that serves real calls runs the plans, over a network in which a send
//! completes only when its receive has been posted: the least that a transport may do. A plan names the
//! peer and tag of every message, so the data of a rank do not depend on timing, and one run covers all
//! schedules. The checker proves that
//!
//! - every message has a receive of the same tag and length, none is left over, and no rank deadlocks;
//! - no undefined element is read, no part exceeds its buffer, and no input is written;
//! - acts that can run at the same time do not conflict;
//! - each rank ends with the right elements: each contribution counts once, in rank order unless the
//!   operation commutes, and with the same bits on all ranks where the contract says so;
//! - no rank leaves a barrier that another rank has not entered.
//!
//! A [`ProofReport`] has the rounds and the volume, to be compared with lower bounds.
//!
//! ```
//! use oxmpi_coll::catalog::{Algorithm, Call, Parameters};
//! use oxmpi_coll::check::check;
//!
//! let calls: Vec<Call> = (0..7).map(|rank| Call::allreduce(rank, 7, 1000, 8)).collect();
//! let ring = Algorithm::AllreduceRing;
//! let report = check(ring, &calls, &[], &Parameters::NONE).unwrap();
//! assert_eq!(u64::from(report.rounds), ring.rounds(&calls[0], &Parameters::NONE));
//! ```

mod arrays;
mod case;
mod cases;
mod conflicts;
mod contract;
mod fault;
mod intra_node;
mod memory;
mod message;
mod network;
mod rank;
mod ranks;
mod rotation;
mod sums;
mod symmetry;
mod tail;

use alloc::vec::Vec;
use core::ops::Range;

pub use arrays::{Arrays, Lengths};
pub use case::{Case, draw};
pub use cases::{cases, least_volume, plain, promises_rounds};
pub use contract::{Blocks, Contract, Expected, Task};
pub use fault::{Fault, FaultKind};
pub use ranks::Ranks;

use crate::call::{Algorithm, Call, Parameters};
use crate::catalog::AnyPlan;
use crate::exec::{Execution, Failure, Progress};
use crate::plan::{Buf, LearnedLengths, Part, Plan};
use message::ElementRun;
use network::Network;
use rank::RankState;
use rotation::Rotation;
use sums::Sums;
use tail::{LocalTail, PlanHead};

/// What a proved collective costs, in rounds, messages and elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProofReport {
    /// Rounds until the last rank is done. In a round a rank sends one message and receives one, of any
    /// length; local work takes no time.
    pub rounds: u32,
    /// Messages of all ranks.
    pub messages: u64,
    /// Elements sent by the rank that sends most.
    pub volume: u64,
    /// Elements of scratch of the rank that needs most.
    pub scratch: u64,
}

/// Proves an algorithm on the calls of ranks 0, 1 and so on, with these arrays; none if the collective
/// takes no arrays. A parameter of 0 stands for its default.
///
/// # Errors
///
/// The first fault found.
pub fn check(
    algorithm: Algorithm,
    calls: &[Call],
    arrays: &[Arrays],
    parameters: &Parameters,
) -> Result<ProofReport, Fault> {
    let plan = |call| plan_of(algorithm, call, parameters);
    let plans = calls.iter().map(plan).collect::<Result<Vec<_>, _>>()?;
    let contract = Contract::of(calls, arrays);
    check_plans(&plans, &contract.placed(calls.len() as u32, parameters))
}

/// The plan for a call, or a fault if the algorithm does not support it.
fn plan_of(algorithm: Algorithm, call: &Call, parameters: &Parameters) -> Result<AnyPlan, Fault> {
    let plan = algorithm.plan(call, parameters);
    plan.map_err(|why| Fault {
        rank: call.rank,
        step: 0,
        kind: FaultKind::Unsuited(why),
    })
}

/// Proves that the plans of ranks 0, 1 and so on fulfil the contract.
///
/// # Errors
///
/// The first fault found.
pub fn check_plans<P: Plan + Clone>(
    plans: &[P],
    contract: &Contract,
) -> Result<ProofReport, Fault> {
    prove(plans, plans.len() as u32, None, contract)
}

/// Proves the plans of the first ranks of `size`: all of them, or those that represent all by symmetry
/// (`symmetry`).
fn prove<P: Plan + Clone>(
    plans: &[P],
    size: u32,
    symmetry: Option<Rotation>,
    contract: &Contract,
) -> Result<ProofReport, Fault> {
    let tail = plans.first().zip(contract.tasks.first());
    let tail = tail.and_then(|(plan, task)| LocalTail::of(plan, task));
    // The step at which each rank's tail begins, if its tail equals the first rank's.
    let ends = |(plan, task): (&P, &Task)| match &tail {
        Some(tail) if tail.matches(plan, task) => tail.from(),
        _ => u32::MAX,
    };
    let ends: Vec<_> = plans.iter().zip(&contract.tasks).map(ends).collect();
    let mut learning = Vec::new();
    for ((rank, plan), task) in (0..).zip(plans).zip(&contract.tasks) {
        // The first rank's tail represents the equal tails of others.
        let end = if rank > 0 {
            ends[rank as usize]
        } else {
            u32::MAX
        };
        if !conflicts::check(rank, plan, task, &LearnedLengths::new(), end)? {
            learning.push(rank);
        }
    }
    let head = |(plan, &end): (&P, &u32)| PlanHead {
        plan: plan.clone(),
        steps: end.min(plan.steps()),
    };
    let heads = plans.iter().zip(&ends).map(head);
    let mut executions: Vec<_> = heads.map(Execution::new).collect();
    let scratch = |(execution, task): (&Execution<PlanHead<P>, _>, &Task)| {
        execution.scratch(task.arrays.given())
    };
    let rooms = executions.iter().zip(&contract.tasks).map(scratch);
    let mut network = Network::new(contract, size, symmetry, rooms);
    run(&mut executions, contract, &mut network)?;
    for rank in learning {
        let (execution, task) = (&executions[rank as usize], &contract.tasks[rank as usize]);
        conflicts::check(rank, execution.plan(), task, execution.learned(), u32::MAX)?;
    }
    if let Some(tail) = tail {
        let ends = (0..).zip(&ends).filter(|&(_, &end)| end == tail.from());
        tail.run(ends.map(|(rank, _)| rank), &mut network)?;
    }
    check_results(plans, size, contract, &mut network)?;
    Ok(ProofReport {
        rounds: network.rounds,
        messages: network.messages
            * u64::from(symmetry.map_or(1, |symmetry| symmetry.size / symmetry.period)),
        volume: network
            .ranks
            .iter()
            .map(|rank| rank.sent)
            .max()
            .unwrap_or(0),
        scratch: executions
            .iter()
            .zip(&contract.tasks)
            .map(scratch)
            .max()
            .unwrap_or(0),
    })
}

/// Advances every rank until all are done or none can continue.
fn run<P: Plan>(
    executions: &mut [Execution<P, intra_node::Request>],
    contract: &Contract,
    network: &mut Network<'_>,
) -> Result<(), Fault> {
    let mut done = alloc::vec![false; executions.len()];
    loop {
        while let Some(rank) = network.ready.pop_front() {
            let given = contract.tasks[rank as usize].arrays.given();
            let progress = executions[rank as usize].advance(given, &mut network.driver(rank));
            done[rank as usize] = match progress {
                Ok(progress) => progress == Progress::Done,
                Err(Failure::Driver(kind)) => return Err(network.fault(rank, kind)),
                Err(Failure::Slots { .. }) => return Err(network.fault(rank, FaultKind::Slots)),
                Err(Failure::Stuck { .. } | Failure::Unsupported { .. }) => {
                    return Err(network.fault(rank, FaultKind::UnknownLength));
                }
            };
        }
        if !network.deliver_next()? {
            break;
        }
    }
    let waiting = done.iter().filter(|&&done| !done).count() as u32;
    match (0..).zip(done).find(|&(_, done)| !done) {
        None => Ok(()),
        Some((rank, _)) => Err(network.fault(rank, FaultKind::Deadlock { waiting })),
    }
}

/// Compares the ranks' outputs with the contract.
fn check_results<P: Plan>(
    plans: &[P],
    size: u32,
    contract: &Contract,
    network: &mut Network<'_>,
) -> Result<(), Fault> {
    let all_ranks = Ranks::range(0..size);
    let is_by_symmetry = network.is_by_symmetry();
    let mut first = None;
    for (number, (rank, task)) in (0..).zip(network.ranks.iter_mut().zip(&contract.tasks)) {
        let fault = |kind| Fault {
            rank: number,
            step: plans[number as usize].steps(),
            kind,
        };
        if contract.barrier && *rank.entered_at_end() != all_ranks {
            return Err(fault(FaultKind::LeftEarly {
                entered: rank.entered_at_end().clone(),
            }));
        }
        for expected in &task.expected {
            check_expected(rank, expected, &network.sums).map_err(fault)?;
        }
        if contract.same_bits {
            let output = rank
                .memory
                .read(Part::new(Buf::Out, 0, task.output))
                .map_err(fault)?;
            let first = first.get_or_insert_with(|| output.clone());
            // Where rank 0 represents all, its blocks represent the same block of the other ranks.
            let other = match is_by_symmetry {
                true => {
                    let tree = |run: &ElementRun| network.sums.get(run.sum).tree;
                    output.iter().find(|run| tree(run) != tree(&output[0]))
                }
                false => {
                    let mut pairs = output.iter().zip(first.iter());
                    pairs.find(|(run, first)| run != first).map(|(run, _)| run)
                }
            };
            if let Some(run) = other {
                return Err(fault(FaultKind::Bits { element: run.first }));
            }
        }
    }
    Ok(())
}

/// Compares some elements of a rank's output with what they must hold.
fn check_expected(rank: &RankState, expected: &Expected, sums: &Sums) -> Result<(), FaultKind> {
    let Range { start, end } = expected.elements;
    let mut next = start;
    for run in rank.memory.output(&expected.elements) {
        if run.first > next {
            break;
        }
        next = run.end();
        let (element, source) = (run.first, expected.source + (run.first - start));
        let sum = sums.get(run.sum);
        if sum.counts {
            return Err(FaultKind::CountsAsData);
        }
        if sum.ranks != expected.ranks {
            return Err(FaultKind::Wrong {
                element,
                found: sum.ranks.clone(),
                expected: expected.ranks.clone(),
            });
        }
        if run.source != source {
            return Err(FaultKind::Misplaced {
                found: run.source,
                expected: source,
            });
        }
    }
    match next {
        _ if next == end => Ok(()),
        element => Err(FaultKind::Undefined {
            buf: Buf::Out,
            element,
        }),
    }
}
