//! Operations of the caller's own are requests as all others, which only the caller ends.

use oxmpi_testkit::fabric::FabricConfig;
use oxmpi_testkit::job::Job;
use oxmpi_wire::{EngineConfig, Failure, Status};

#[test]
fn only_the_caller_ends_it() {
    let mut job = Job::new(2, FabricConfig::adverse(1), EngineConfig::default());
    let own = job.ranks[0].engine.start_generalized();
    job.cancel(0, own);
    job.settle();
    let engine = &mut job.ranks[0].engine;
    assert_eq!((engine.test(own), engine.is_done(own)), (None, false));
    assert_eq!(engine.awaited(own), None);
    engine.complete_generalized(own, Ok(Status::generalized(false)));
    assert!(engine.is_done(own));
    assert_eq!(engine.test(own), Some(Ok(Status::generalized(false))));
    // Stale: neither ended nor failed a second time.
    engine.complete_generalized(own, Err(Failure::Generalized(1)));
    assert_eq!(engine.test(own), Some(Err(Failure::Stale)));
}

#[test]
fn a_failure_is_told_by_its_number_and_a_detached_one_goes_by_itself() {
    let mut job = Job::new(2, FabricConfig::adverse(2), EngineConfig::default());
    let engine = &mut job.ranks[0].engine;
    let [failed, left] = [engine.start_generalized(), engine.start_generalized()];
    engine.detach(left);
    engine.complete_generalized(left, Ok(Status::generalized(false)));
    assert!(!engine.is_known(left));
    engine.complete_generalized(failed, Err(Failure::Generalized(7)));
    assert_eq!(engine.test(failed), Some(Err(Failure::Generalized(7))));
}
