//! Tests that no process of a job is left after signals, or after SIGKILL of ranks or of the launcher.
//!
//! Every process of these jobs holds a named pipe open; the test reads it to its end.

mod common;

use std::io::{BufRead, BufReader};

use common::{Job, Leash, finish, named_pipe, probe, signal, start};
use oxmpi_testkit::folder::Folder;
use rustix::process::Signal;

/// A job of four ranks that say they are there and then live until they are killed, each with a
/// child in the background, one in a session of its own, and one that was orphaned.
fn stubborn(leash: &str) -> Job {
    let script = format!(
        "exec 9>{leash}; (sleep 1000 &); setsid sleep 1000 & sh -c 'trap \"\" TERM INT HUP; sleep 1000; sleep 1000' & \
         echo rank $PMI_RANK pid $$ >&9; wait"
    );
    start(&["run", "--oversubscribe", "-n", "4", "sh", "-c", &script])
}

#[test]
fn a_killed_rank_takes_the_job_with_it() {
    let (path, mut leash) = Leash::new();
    let job = stubborn(&path);
    let pids = leash.pids(4);
    signal(pids[2], Signal::KILL);
    let done = finish(job);
    leash.end();
    assert_eq!(done.code, 137);
    let says = format!(
        "(pid {}, program `sh`) was killed by signal 9 (SIGKILL); the 3 other ranks are being ended\n",
        pids[2]
    );
    assert!(
        done.err.starts_with("oxmpi: rank 2 on ") && done.err.ends_with(&says),
        "{}",
        done.err
    );
}

#[test]
fn a_killed_launcher_takes_the_job_with_it() {
    for _ in 0..10 {
        let (path, mut leash) = Leash::new();
        let job = stubborn(&path);
        leash.pids(4);
        signal(job.id(), Signal::KILL);
        assert_eq!(finish(job).code, 1009);
        leash.end();
    }
}

#[test]
fn ranks_that_end_well_leave_nobody_behind() {
    let (path, leash) = Leash::new();
    let script = format!("exec 9>{path}; setsid sleep 1000 & sleep 1000 & echo here >&9");
    let job = start(&["run", "-n", "2", "sh", "-c", &script]);
    let done = finish(job);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    leash.end();
}

/// Rank 1 exits first; rank 0 notices by the pipe between them, and only then says why. The launcher
/// sees both ends at once.
#[test]
fn a_rank_that_only_reacts_does_not_silence_the_cause() {
    let (path, leash) = Leash::new();
    let folder = Folder::fresh();
    let gate = folder.at("gate");
    named_pipe(&gate);
    let script = format!(
        "exec 9>{path}; if [ $PMI_RANK = 1 ]; then exec 8>{gate}; kill -STOP $PPID; exit 1; fi; \
         cat {gate}; echo the cause >&2; exit 5"
    );
    let job = start(&["run", "--oversubscribe", "-n", "2", "sh", "-c", &script]);
    leash.end();
    signal(job.id(), Signal::CONT);
    let done = finish(job);
    assert!(
        done.code != 0 && done.err.starts_with("the cause\noxmpi: rank "),
        "{done:?}"
    );
}

#[test]
fn orphans_that_end_are_forgotten() {
    let (path, mut leash) = Leash::new();
    // The orphan's number is there until its new parent, the launcher, has waited for it.
    let script = format!(
        "exec 9>{path}; orphan=$(sh -c 'sleep 0.05 >&2 & echo $!'); while [ -e /proc/$orphan ]; do :; done; echo forgotten >&9"
    );
    let job = start(&["run", "-n", "1", "sh", "-c", &script]);
    assert_eq!(leash.line(), "forgotten");
    assert_eq!(finish(job).code, 0);
    leash.end();
}

#[test]
fn signals_reach_the_ranks() {
    let script = |path: &str| {
        format!(
            "exec 9>{path}; trap 'echo caught USR1; echo caught >&9' USR1; trap 'exit 3' TERM; echo rank $PMI_RANK pid $$ >&9; \
             while :; do sleep 1000 & wait $!; done"
        )
    };
    let (path, mut leash) = Leash::new();
    let job = start(&["run", "-n", "2", "sh", "-c", &script(&path)]);
    leash.pids(2);
    signal(job.id(), Signal::USR1);
    assert_eq!([leash.line(), leash.line()], ["caught", "caught"]);
    signal(job.id(), Signal::TERM);
    let done = finish(job);
    leash.end();
    assert_eq!(done.code, 3);
    assert_eq!(done.out, "caught USR1\ncaught USR1\n");
}

#[test]
fn a_signal_to_end_gives_its_exit_code() {
    for (end, name, code) in [
        (Signal::INT, "INT", 130),
        (Signal::TERM, "TERM", 143),
        (Signal::HUP, "HUP", 129),
    ] {
        let (path, mut leash) = Leash::new();
        let script = format!("exec 9>{path}; echo rank $PMI_RANK pid $$ >&9; exec sleep 1000");
        let job = start(&["run", "-n", "2", "sh", "-c", &script]);
        leash.pids(2);
        signal(job.id(), end);
        let done = finish(job);
        leash.end();
        assert_eq!(
            (done.code, done.err),
            (code, format!("oxmpi: the job was ended by SIG{name}\n"))
        );
    }
}

#[test]
fn a_second_signal_is_not_left_to_the_ranks() {
    let (path, mut leash) = Leash::new();
    let script = format!(
        "exec 9>{path}; trap 'echo no >&9' INT; echo rank $PMI_RANK pid $$ >&9; while :; do sleep 1000 & wait $!; done"
    );
    let job = start(&["run", "-n", "1", "sh", "-c", &script]);
    leash.pids(1);
    signal(job.id(), Signal::INT);
    assert_eq!(leash.line(), "no");
    signal(job.id(), Signal::INT);
    assert_eq!(finish(job).code, 130);
    leash.end();
}

#[test]
fn stopped_jobs_continue() {
    let (path, mut leash) = Leash::new();
    let script = format!(
        "exec 9>{path}; trap 'echo on >&9; exit 0' CONT; echo rank $PMI_RANK pid $$ >&9; while :; do sleep 1000 & wait $!; done"
    );
    let job = start(&["run", "-n", "1", "sh", "-c", &script]);
    leash.pids(1);
    signal(job.id(), Signal::TSTP);
    // As a shell does: what comes before the stop is forgotten by it.
    job.stopped();
    signal(job.id(), Signal::CONT);
    assert_eq!(leash.line(), "on");
    assert_eq!(finish(job).code, 0);
    leash.end();
}

/// Ranks meet in barrier after barrier; one is killed after a number of lines that differs from
/// time to time.
#[test]
fn kill_at_any_moment() {
    for moment in 0..50 {
        let (path, mut leash) = Leash::new();
        let script = format!(
            "exec 9>{path}; echo rank $PMI_RANK pid $$ >&9; exec {} rounds",
            probe()
        );
        let mut job = start(&["run", "--oversubscribe", "-n", "4", "sh", "-c", &script]);
        let pids = leash.pids(4);
        let mut lines = BufReader::new(job.child_mut().stdout.take().expect("caught"));
        for _ in 0..moment * moment % 211 {
            lines.read_line(&mut String::new()).expect("text");
        }
        let victim = moment % 4;
        signal(pids[victim], Signal::KILL);
        let rest = std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        let done = finish(job);
        rest.join().expect("no panic").expect("readable");
        leash.end();
        assert_eq!(done.code, 137, "{}", done.err);
        let named = format!("oxmpi: rank {victim} on ");
        assert!(
            done.err.starts_with(&named) && done.err.contains("signal 9 (SIGKILL)"),
            "{}",
            done.err
        );
    }
}
