//! Tests of joining the job with settings of the program, for several threads, and with a sink of warnings.

use std::thread;

use oxmpi::{Error, Multi, Op, Result, World};

use crate::job::Job;

/// A setting of the program is stronger than the environment, and the last of several wins. The report of the
/// start goes to the sink.
#[test]
fn settings_of_the_program_are_stronger_than_the_environment() {
    let job = Job::of(2).with("OXMPI_START_REPORT", "off");
    let done = job.run(|| {
        let mut warnings = Vec::new();
        let world = World::builder()
            .setting("start_report", "off")
            .setting("start_report", "on")
            .warnings(|warning| warnings.push(warning.to_owned()))
            .init()?;
        let comm = world.comm();
        let [report] = &*warnings else {
            panic!("one report: {warnings:?}");
        };
        let rank = format!("rank {}: ", comm.rank());
        assert!(report.starts_with(&rank), "{report}");
        comm.barrier()
    });
    assert_eq!((done.code, &*done.err), (0, ""), "nothing is printed");
}

/// A wrong name or value is an error that says where it was given, and what was expected.
#[test]
fn wrong_settings_of_the_program_are_errors() {
    let wrong = |name: &str, value: &str| match World::builder().setting(name, value).init() {
        Err(Error::Setting(text)) => text,
        other => panic!("{other:?}"),
    };
    // Each is the first attempt of its process to join.
    let done = Job::of(1).run(|| {
        let text = wrong("start_reports", "on");
        assert!(text.contains("World::builder start_reports"), "{text}");
        assert!(text.contains("did you mean `start_report`?"), "{text}");
        Ok::<_, Error>(())
    });
    assert_eq!(done.code, 0, "{}", done.err);
}

/// Threads of each rank share the communicator of a `World<Multi>`.
#[test]
fn threads_share_the_world() {
    let done = Job::of(2).run(|| {
        let world: World<Multi> = World::builder().shared().init()?;
        let comm = world.comm();
        let peer = 1 - comm.rank();
        thread::scope(|threads| {
            let exchange = |tag: u32| {
                for round in 0..100u32 {
                    let mut got = [0u32];
                    comm.sendrecv(&[round + tag], peer, tag, &mut got, peer, tag)?;
                    assert_eq!(got, [round + tag]);
                }
                Ok(())
            };
            let started: Vec<_> = (0..3)
                .map(|tag| threads.spawn(move || exchange(tag)))
                .collect();
            let ended = started
                .into_iter()
                .map(|thread| thread.join().expect("no panic"));
            ended.collect::<Result<()>>()
        })?;
        assert_eq!(comm.allreduce(&1u32, Op::SUM)?, 2);
        world.finalize()
    });
    assert_eq!(done.code, 0, "{}", done.err);
}
