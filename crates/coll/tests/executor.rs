//! The executor's rules: when steps start, how often it polls, and what remains after a failure.

use std::collections::BTreeSet;

use oxmpi_coll::catalog::{Algorithm, Call, Parameters, SharedMemory};
use oxmpi_coll::exec::{Driver, Execution, Failure, IN_FLIGHT, Progress};
use oxmpi_coll::plan::{Act, Acts, Buf, CallArrays, Part, Plan, PlanInputs, Side};

const WHOLE: Part = Part::new(Buf::Out, 0, 1);

/// A plan from a list of each step's needs and acts: `s` sends with the step's number as tag, `r`
/// receives, `l` copies locally.
struct Script(&'static [(u32, &'static str)]);

impl Plan for Script {
    fn steps(&self) -> u32 {
        self.0.len() as u32
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let (needs, kinds) = self.0[i as usize];
        for kind in kinds.chars() {
            match kind {
                's' => acts.send(0, i, WHOLE),
                'r' => acts.recv(0, i, WHOLE),
                _ => acts.push(Act::Reduce {
                    from: WHOLE,
                    into: WHOLE,
                    side: Side::Left,
                }),
            }
        }
        Some(needs)
    }
}

/// A driver that records what starts. A message completes when the test says so, or at once.
#[derive(Default)]
struct RecordingDriver {
    started: Vec<u32>,
    local: u32,
    done: BTreeSet<u32>,
    at_once: bool,
    fails: Option<u32>,
}

impl RecordingDriver {
    fn message(&mut self, tag: u32) -> Result<Option<u32>, &'static str> {
        if self.fails == Some(tag) {
            return Err("refused");
        }
        self.started.push(tag);
        Ok((!self.at_once).then_some(tag))
    }
}

impl Driver for RecordingDriver {
    type Request = u32;
    type Error = &'static str;

    fn send(&mut self, _: u32, tag: u32, _: Part) -> Result<Option<u32>, &'static str> {
        self.message(tag)
    }

    fn recv(&mut self, _: u32, tag: u32, _: Part) -> Result<Option<u32>, &'static str> {
        self.message(tag)
    }

    fn copy(&mut self, _: Part, _: Part) -> Result<(), &'static str> {
        Ok(())
    }

    fn reduce(&mut self, _: Part, _: Part, _: Side) -> Result<(), &'static str> {
        self.local += 1;
        Ok(())
    }

    fn done(&mut self, request: &mut u32) -> Result<bool, &'static str> {
        if self.fails == Some(*request) {
            Err("lost")
        } else {
            Ok(self.done.contains(request))
        }
    }
}

/// Advances an execution whose call has no arrays.
fn advance<P: Plan>(
    execution: &mut Execution<P, u32>,
    notes: &mut RecordingDriver,
) -> Result<Progress, Failure<&'static str>> {
    execution.advance(CallArrays::NOTHING, notes)
}

#[test]
fn a_driver_without_intra_node_phases_refuses_plans_that_have_one() {
    let call = Call::allgather(0, 4, 8).with_shared_memory(SharedMemory::All);
    let plan = Algorithm::AllgatherIntraNode.plan(&call, &Parameters::NONE);
    let mut execution = Execution::new(plan.expect("the algorithm supports the call"));
    let refused = advance(&mut execution, &mut RecordingDriver::default());
    assert_eq!(refused, Err(Failure::Unsupported { step: 0 }));
}

#[test]
fn a_step_starts_once_the_steps_that_it_needs_are_done() {
    let mut execution = Execution::new(Script(&[(0, "r"), (0, "s"), (1, "l"), (3, "s")]));
    let mut notes = RecordingDriver::default();
    assert_eq!(advance(&mut execution, &mut notes), Ok(Progress::Pending));
    assert_eq!((&notes.started[..], notes.local), (&[0, 1][..], 0));
    // The local step needs only step 0; the last one needs all.
    notes.done.insert(0);
    assert_eq!(advance(&mut execution, &mut notes), Ok(Progress::Pending));
    assert_eq!((&notes.started[..], notes.local), (&[0, 1][..], 1));
    notes.done.insert(1);
    assert_eq!(advance(&mut execution, &mut notes), Ok(Progress::Pending));
    assert_eq!(notes.started, [0, 1, 3]);
    notes.done.insert(3);
    assert_eq!(advance(&mut execution, &mut notes), Ok(Progress::Done));
    assert_eq!(advance(&mut execution, &mut notes), Ok(Progress::Done));
}

#[test]
fn acts_that_complete_at_once_need_one_call_and_can_run_again() {
    let mut execution = Execution::new(Script(&[(0, "rs"), (1, "l"), (2, "rs"), (3, "")]));
    let mut notes = RecordingDriver {
        at_once: true,
        ..RecordingDriver::default()
    };
    for times in 1..=3 {
        assert_eq!(advance(&mut execution, &mut notes), Ok(Progress::Done));
        assert_eq!(
            (notes.started.len(), notes.local),
            (4 * times, times as u32)
        );
        execution.restart();
    }
}

#[test]
fn the_messages_in_flight_are_limited() {
    let mut execution = Execution::new(Script(&[(0, "s"); 3 * IN_FLIGHT]));
    let mut notes = RecordingDriver::default();
    assert_eq!(advance(&mut execution, &mut notes), Ok(Progress::Pending));
    assert_eq!(notes.started.len(), IN_FLIGHT);
    notes.done.extend([3, 7]);
    assert_eq!(advance(&mut execution, &mut notes), Ok(Progress::Pending));
    assert_eq!(notes.started.len(), IN_FLIGHT + 2);
    notes.done.extend(0..3 * IN_FLIGHT as u32);
    while advance(&mut execution, &mut notes) == Ok(Progress::Pending) {}
    assert!(notes.started.into_iter().eq(0..3 * IN_FLIGHT as u32));
}

#[test]
fn a_failure_leaves_the_messages_in_flight_to_be_abandoned() {
    let mut execution = Execution::new(Script(&[(0, "s"), (0, "s"), (0, "s"), (3, "s")]));
    let mut notes = RecordingDriver {
        fails: Some(2),
        ..RecordingDriver::default()
    };
    assert_eq!(
        advance(&mut execution, &mut notes),
        Err(Failure::Driver("refused"))
    );
    let mut left: Vec<_> = std::iter::from_fn(|| execution.abandon()).collect();
    left.sort_unstable();
    assert_eq!(left, [0, 1]);

    // The execution can start again; now a message that has started fails.
    notes.fails = None;
    assert_eq!(advance(&mut execution, &mut notes), Ok(Progress::Pending));
    notes.fails = Some(1);
    assert_eq!(
        advance(&mut execution, &mut notes),
        Err(Failure::Driver("lost"))
    );
    assert_eq!(std::iter::from_fn(|| execution.abandon()).count(), 2);
}

/// A plan whose second step waits for a length that no act provides.
struct WaitsForUnknownLength;

impl Plan for WaitsForUnknownLength {
    fn steps(&self) -> u32 {
        2
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        (i == 0).then(|| {
            acts.recv(0, 0, WHOLE);
            0
        })
    }
}

#[test]
fn a_plan_that_waits_for_an_unknown_length_is_an_error() {
    let mut execution = Execution::new(WaitsForUnknownLength);
    let mut notes = RecordingDriver::default();
    assert_eq!(advance(&mut execution, &mut notes), Ok(Progress::Pending));
    notes.done.insert(0);
    let stuck = advance(&mut execution, &mut notes);
    assert_eq!(stuck, Err(Failure::Stuck { step: 1 }));
}
