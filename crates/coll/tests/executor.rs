//! The executor's own rules: what starts when, what is asked how often, and what is left after a
//! failure.

use std::collections::BTreeSet;

use oxmpi_coll::catalog::{Algorithm, Call, Parameters, SharedMemory};
use oxmpi_coll::exec::{Driver, Execution, Failure, IN_FLIGHT, Progress};
use oxmpi_coll::plan::{Act, Acts, Buf, CallArrays, Part, Plan, PlanInputs, Side};

const WHOLE: Part = Part::new(Buf::Out, 0, 1);

/// A plan from a list of what each step needs and how it acts: `s` sends with the step's number as
/// tag, `r` receives, `l` works locally.
struct Script(&'static [(u32, &'static str)]);

impl Plan for Script {
    fn steps(&self) -> u32 {
        self.0.len() as u32
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        0
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

/// Notes what starts. A message is done when the test says so, or at once.
#[derive(Default)]
struct Notes {
    started: Vec<u32>,
    local: u32,
    done: BTreeSet<u32>,
    at_once: bool,
    fails: Option<u32>,
}

impl Notes {
    fn message(&mut self, tag: u32) -> Result<Option<u32>, &'static str> {
        if self.fails == Some(tag) {
            return Err("refused");
        }
        self.started.push(tag);
        Ok((!self.at_once).then_some(tag))
    }
}

impl Driver for Notes {
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

#[test]
fn a_driver_that_lets_no_ranks_act_together_refuses_plans_that_do() {
    let call = Call::allgather(0, 4, 8).with_shared_memory(SharedMemory::All);
    let plan = Algorithm::AllgatherIntraNode.plan(&call, &Parameters::NONE);
    let mut execution = Execution::new(plan.expect("it suits"));
    let refused = execution.advance(CallArrays::NOTHING, &mut Notes::default());
    assert_eq!(refused, Err(Failure::Unsupported { step: 0 }));
}

#[test]
fn a_step_starts_when_the_steps_that_it_needs_are_done() {
    let mut execution = Execution::new(Script(&[(0, "r"), (0, "s"), (1, "l"), (3, "s")]));
    let mut notes = Notes::default();
    assert_eq!(
        execution.advance(CallArrays::NOTHING, &mut notes),
        Ok(Progress::Pending)
    );
    assert_eq!(
        (notes.started.as_slice(), notes.local),
        ([0, 1].as_slice(), 0)
    );
    // The local step needs step 0 only; the last one needs all.
    notes.done.insert(0);
    assert_eq!(
        execution.advance(CallArrays::NOTHING, &mut notes),
        Ok(Progress::Pending)
    );
    assert_eq!(
        (notes.started.as_slice(), notes.local),
        ([0, 1].as_slice(), 1)
    );
    notes.done.insert(1);
    assert_eq!(
        execution.advance(CallArrays::NOTHING, &mut notes),
        Ok(Progress::Pending)
    );
    assert_eq!(notes.started, [0, 1, 3]);
    notes.done.insert(3);
    assert_eq!(
        execution.advance(CallArrays::NOTHING, &mut notes),
        Ok(Progress::Done)
    );
    assert_eq!(
        execution.advance(CallArrays::NOTHING, &mut notes),
        Ok(Progress::Done)
    );
}

#[test]
fn what_is_done_at_once_needs_no_second_call_and_can_run_again() {
    let mut execution = Execution::new(Script(&[(0, "rs"), (1, "l"), (2, "rs"), (3, "")]));
    let mut notes = Notes {
        at_once: true,
        ..Notes::default()
    };
    for times in 1..=3 {
        assert_eq!(
            execution.advance(CallArrays::NOTHING, &mut notes),
            Ok(Progress::Done)
        );
        assert_eq!(
            (notes.started.len(), notes.local),
            (4 * times, times as u32)
        );
        execution.restart();
    }
}

#[test]
fn no_more_is_under_way_than_there_is_room_for() {
    let mut execution = Execution::new(Script(&[(0, "s"); 3 * IN_FLIGHT]));
    let mut notes = Notes::default();
    assert_eq!(
        execution.advance(CallArrays::NOTHING, &mut notes),
        Ok(Progress::Pending)
    );
    assert_eq!(notes.started.len(), IN_FLIGHT);
    notes.done.extend([3, 7]);
    assert_eq!(
        execution.advance(CallArrays::NOTHING, &mut notes),
        Ok(Progress::Pending)
    );
    assert_eq!(notes.started.len(), IN_FLIGHT + 2);
    notes.done.extend(0..3 * IN_FLIGHT as u32);
    while execution.advance(CallArrays::NOTHING, &mut notes) == Ok(Progress::Pending) {}
    assert!(notes.started.into_iter().eq(0..3 * IN_FLIGHT as u32));
}

#[test]
fn a_failure_leaves_the_messages_under_way_to_be_taken_back() {
    let mut execution = Execution::new(Script(&[(0, "s"), (0, "s"), (0, "s"), (3, "s")]));
    let mut notes = Notes {
        fails: Some(2),
        ..Notes::default()
    };
    assert_eq!(
        execution.advance(CallArrays::NOTHING, &mut notes),
        Err(Failure::Driver("refused"))
    );
    let mut left: Vec<_> = std::iter::from_fn(|| execution.abandon()).collect();
    left.sort_unstable();
    assert_eq!(left, [0, 1]);

    // It is then as new; now a message that has started fails.
    notes.fails = None;
    assert_eq!(
        execution.advance(CallArrays::NOTHING, &mut notes),
        Ok(Progress::Pending)
    );
    notes.fails = Some(1);
    assert_eq!(
        execution.advance(CallArrays::NOTHING, &mut notes),
        Err(Failure::Driver("lost"))
    );
    assert_eq!(std::iter::from_fn(|| execution.abandon()).count(), 2);
}

/// A plan whose second step waits for a length that nothing tells it.
struct Ignorant;

impl Plan for Ignorant {
    fn steps(&self) -> u32 {
        2
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        (i == 0).then(|| {
            acts.recv(0, 0, WHOLE);
            0
        })
    }
}

#[test]
fn a_plan_that_waits_for_nothing_is_an_error_and_no_hang() {
    let mut execution = Execution::new(Ignorant);
    let mut notes = Notes::default();
    assert_eq!(
        execution.advance(CallArrays::NOTHING, &mut notes),
        Ok(Progress::Pending)
    );
    notes.done.insert(0);
    let stuck = execution.advance(CallArrays::NOTHING, &mut notes);
    assert_eq!(stuck, Err(Failure::Stuck { step: 1 }));
}
