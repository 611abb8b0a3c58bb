//! Operations of the caller's own are requests as all others, which only the caller ends.

use oxmpi_testkit::fabric::Weather;
use oxmpi_testkit::job::Job;
use oxmpi_wire::{Failure, Rules, Status};

#[test]
fn only_the_caller_ends_it() {
    let mut job = Job::new(2, Weather::storm(1), Rules::default());
    let own = job.ranks[0].engine.begin_own();
    job.cancel(0, own);
    job.settle();
    let engine = &mut job.ranks[0].engine;
    assert_eq!((engine.test(own), engine.is_done(own)), (None, false));
    assert_eq!(engine.awaited(own), None);
    engine.end_own(own, Ok(Status::own(false)));
    assert!(engine.is_done(own));
    assert_eq!(engine.test(own), Some(Ok(Status::own(false))));
    // Stale: neither ended nor failed a second time.
    engine.end_own(own, Err(Failure::Own(1)));
    assert_eq!(engine.test(own), Some(Err(Failure::Stale)));
}

#[test]
fn a_failure_is_told_by_its_number_and_a_detached_one_goes_by_itself() {
    let mut job = Job::new(2, Weather::storm(2), Rules::default());
    let engine = &mut job.ranks[0].engine;
    let [failed, left] = [engine.begin_own(), engine.begin_own()];
    engine.detach(left);
    engine.end_own(left, Ok(Status::own(false)));
    assert!(!engine.is_known(left));
    engine.end_own(failed, Err(Failure::Own(7)));
    assert_eq!(engine.test(failed), Some(Err(Failure::Own(7))));
}
