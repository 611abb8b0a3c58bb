//! Tests that no process of a job is left after signals, or after SIGKILL of ranks or of the launcher.
//!
//! Every process of these jobs holds a named pipe open; the test reads it to its end.

use std::io::{BufRead, BufReader};

use crate::common::{Job, Leash, finish, named_pipe, probe, signal, start};
use oxmpi_testkit::folder::Folder;
use rustix::process::Signal;

/// Starts a job of four ranks that write a line to the leash and then run until they are killed. Each has a
/// child in the background, a child in a session of its own, and an orphaned descendant.
fn start_stubborn(leash: &str) -> Job {
    let script = format!(
        "exec 3>{leash}; (sleep 1000 &); setsid sleep 1000 & sh -c 'trap \"\" TERM INT HUP; sleep 1000; sleep 1000' & \
         echo rank $PMI_RANK pid $$ >&3; wait"
    );
    start(&["run", "--oversubscribe", "-n", "4", "sh", "-c", &script])
}

#[test]
fn a_killed_rank_ends_the_job() {
    let (path, mut leash) = Leash::new();
    let job = start_stubborn(&path);
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
fn a_killed_launcher_ends_the_job() {
    for _ in 0..10 {
        let (path, mut leash) = Leash::new();
        let job = start_stubborn(&path);
        leash.pids(4);
        signal(job.id(), Signal::KILL);
        assert_eq!(finish(job).code, 1009);
        leash.end();
    }
}

#[test]
fn no_process_is_left_after_ranks_succeed() {
    let (path, leash) = Leash::new();
    let script = format!("exec 3>{path}; setsid sleep 1000 & sleep 1000 & echo here >&3");
    let job = start(&["run", "-n", "2", "sh", "-c", &script]);
    let done = finish(job);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    leash.end();
}

/// Rank 1 stops the launcher and exits. Rank 0 notices it by a pipe and then prints the cause. The launcher
/// continues, sees both exits at once, and prints the output of rank 0.
#[test]
fn the_launcher_prints_the_output_of_a_rank_that_ends_after_the_first() {
    let (path, leash) = Leash::new();
    let folder = Folder::fresh();
    let gate = folder.at("gate");
    named_pipe(&gate);
    let script = format!(
        "exec 3>{path}; if [ $PMI_RANK = 1 ]; then exec 4>{gate}; kill -STOP $PPID; exit 1; fi; \
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
fn orphans_that_end_are_reaped() {
    let (path, mut leash) = Leash::new();
    // The orphan's process number exists until its new parent, the launcher, has waited for it.
    let script = format!(
        "exec 3>{path}; orphan=$(sh -c 'sleep 0.05 >&2 & echo $!'); while [ -e /proc/$orphan ]; do :; done; echo forgotten >&3"
    );
    let job = start(&["run", "-n", "1", "sh", "-c", &script]);
    assert_eq!(leash.line(), "forgotten");
    assert_eq!(finish(job).code, 0);
    leash.end();
}

#[test]
fn the_launcher_forwards_signals_to_ranks() {
    let script = |path: &str| {
        format!(
            "exec 3>{path}; trap 'echo caught USR1; echo caught >&3' USR1; trap 'exit 3' TERM; echo rank $PMI_RANK pid $$ >&3; \
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
fn a_signal_that_ends_the_job_sets_the_exit_code() {
    for (end, name, code) in [
        (Signal::INT, "INT", 130),
        (Signal::TERM, "TERM", 143),
        (Signal::HUP, "HUP", 129),
    ] {
        let (path, mut leash) = Leash::new();
        let script = format!("exec 3>{path}; echo rank $PMI_RANK pid $$ >&3; exec sleep 1000");
        let job = start(&["run", "-n", "2", "sh", "-c", &script]);
        leash.pids(2);
        signal(job.id(), end);
        let done = finish(job);
        leash.end();
        let says = format!("\noxmpi: the job was ended by SIG{name}\n");
        assert_eq!(done.code, code);
        assert!(done.err.ends_with(&says), "{}", done.err);
    }
}

#[test]
fn stopped_jobs_continue() {
    let (path, mut leash) = Leash::new();
    let script = format!(
        "exec 3>{path}; trap 'echo on >&3; exit 0' CONT; echo rank $PMI_RANK pid $$ >&3; while :; do sleep 1000 & wait $!; done"
    );
    let job = start(&["run", "-n", "1", "sh", "-c", &script]);
    leash.pids(1);
    signal(job.id(), Signal::TSTP);
    // A signal CONT before the stop would be lost, so the test waits as a shell does.
    job.stopped();
    signal(job.id(), Signal::CONT);
    assert_eq!(leash.line(), "on");
    assert_eq!(finish(job).code, 0);
    leash.end();
}

/// Ranks repeat barriers; one is killed after a number of lines that differs between rounds.
#[test]
fn a_rank_killed_at_any_time_ends_the_job() {
    for moment in 0..50 {
        let (path, mut leash) = Leash::new();
        let script = format!(
            "exec 3>{path}; echo rank $PMI_RANK pid $$ >&3; exec {} rounds",
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
