//! Tests of signals to `oxmpi run`: one request to end, the time that ranks have, and `--timeout`.

use crate::common::terminal::Terminal;
use crate::common::{Done, Leash, finish, named_pipe, oxmpi, run, signal, start};
use oxmpi_testkit::folder::Folder;
use rustix::process::Signal;

/// GNU timeout signals its child and then its process group, so that the launcher gets two signals at once. Here it is
/// stopped until both are there.
#[test]
fn a_request_that_is_sent_twice_is_one() {
    let (path, mut leash) = Leash::new();
    let script = format!(
        "exec 3>{path}; trap 'got=$((got + 1))' HUP TERM; echo rank $PMI_RANK pid $$ >&3; \
         until [ $got ]; do sleep 0.01; done; sleep 0.3; echo saved after $got"
    );
    let job = start(&["run", "--oversubscribe", "-n", "2", "sh", "-c", &script]);
    leash.pids(2);
    signal(job.id(), Signal::STOP);
    job.stopped();
    signal(job.id(), Signal::HUP);
    signal(job.id(), Signal::TERM);
    signal(job.id(), Signal::CONT);
    let Done { code, out, err } = finish(job);
    leash.end();
    assert_eq!(out, "saved after 1\nsaved after 1\n", "{err}");
    assert_eq!(code, 0);
    let says = "oxmpi: SIGHUP is forwarded to the ranks; those that run after 10s are killed (setting `kill_timeout`); \
                another signal, 1s or more after this one, kills them at once\n";
    // Shells report the end of the processes that they wait for.
    assert!(err.starts_with(says) && !err.contains("killed\n"), "{err}");
}

/// Rank 0 dies by the signal. Rank 1 takes longer to save than ranks have after a failure.
#[test]
fn a_rank_that_the_signal_kills_leaves_the_others_their_time() {
    let (path, mut leash) = Leash::new();
    let script = format!(
        "exec 3>{path}; [ $PMI_RANK = 0 ] || trap 'sleep 0.4; echo saved; exit 0' TERM; \
         echo rank $PMI_RANK pid $$ >&3; sleep 1000 & wait $!"
    );
    let job = start(&["run", "--oversubscribe", "-n", "2", "sh", "-c", &script]);
    leash.pids(2);
    signal(job.id(), Signal::TERM);
    let done = finish(job);
    leash.end();
    assert_eq!((done.code, done.out.as_str()), (143, "saved\n"), "{done:?}");
    assert!(
        done.err
            .ends_with("\noxmpi: the job was ended by SIGTERM\n"),
        "{done:?}"
    );
}

#[test]
fn ranks_that_do_not_end_in_time_are_killed_and_named() {
    let (path, mut leash) = Leash::new();
    let script =
        format!("exec 3>{path}; trap '' TERM; echo rank $PMI_RANK pid $$ >&3; exec sleep 1000");
    let mut command = oxmpi(&["run", "--oversubscribe", "-n", "3", "sh", "-c", &script]);
    let child = command
        .env("OXMPI_KILL_TIMEOUT", "0.2")
        .spawn()
        .expect("oxmpi starts");
    let pid = child.id();
    leash.pids(3);
    signal(pid, Signal::TERM);
    let done = finish(child);
    leash.end();
    let says = "\noxmpi: ranks 0-2 did not end within 200ms of SIGTERM and are killed\n";
    assert_eq!(done.code, 143);
    assert!(done.err.ends_with(says), "{done:?}");
}

/// A job on a terminal, whose SIGINT is not ignored as in the background jobs of a shell.
fn on_terminal(arguments: &[&str]) -> Terminal {
    let start = [
        "env",
        "--default-signal",
        env!("CARGO_BIN_EXE_oxmpi"),
        "run",
    ];
    Terminal::start(&[&start, arguments].concat())
}

#[test]
fn the_second_ctrl_c_kills_ranks_at_once() {
    let script = "trap 'echo caught' INT; echo ready; while :; do sleep 1000 & wait $!; done";
    let mut terminal = on_terminal(&["-n", "1", "sh", "-c", script]);
    terminal.see("ready");
    terminal.type_text("\u{3}");
    let shown = terminal.see("caught");
    assert!(
        shown.contains("another Ctrl-C kills them at once"),
        "{shown}"
    );
    terminal.type_text("\u{3}");
    let (code, shown) = terminal.end();
    assert_eq!(code, 130);
    let says = "SIGINT after SIGINT: rank 0 did not end and is killed\n";
    assert!(shown.ends_with(says), "{shown}");
}

/// Rank 0 crashes while it saves its work. Rank 1 sees that the launcher has reaped it, and does not end.
#[test]
fn a_crash_after_a_request_is_reported_with_the_ranks_that_do_not_end() {
    let folder = Folder::fresh();
    let gate = folder.at("gate");
    named_pipe(&gate);
    let script = format!(
        "if [ $PMI_RANK = 0 ]; then trap 'kill -KILL $$' INT; echo $$ >{gate}; echo ready; \
         while :; do sleep 1000 & wait $!; done; fi; \
         trap '' INT; read pid <{gate}; while kill -0 $pid; do sleep 0.01; done 2>/dev/null; echo gone; \
         while :; do sleep 1000; done"
    );
    let mut terminal = on_terminal(&["--oversubscribe", "-n", "2", "sh", "-c", &script]);
    terminal.see("ready");
    terminal.type_text("\u{3}");
    terminal.see("gone");
    terminal.type_text("\u{3}");
    let (code, shown) = terminal.end();
    assert_eq!(code, 130);
    let [.., crash, killed] = shown.lines().collect::<Vec<_>>()[..] else {
        panic!("{shown}")
    };
    // The terminal shows `^C` before it.
    assert!(crash.contains("oxmpi: rank 0 on "), "{shown}");
    let says = " was killed by signal 9 (SIGKILL); the other rank is being ended";
    assert!(crash.ends_with(says), "{shown}");
    let says = "SIGINT after SIGINT: rank 1 did not end and is killed";
    assert!(killed.ends_with(says), "{shown}");
}

#[test]
fn a_job_that_runs_too_long_ends_with_code_124_and_its_ranks_are_named() {
    let done = run(&[
        "--timeout",
        "0.5",
        "-n",
        "1",
        "sleep",
        "1000",
        ":",
        "-n",
        "1",
        "true",
    ]);
    assert_eq!(done.code, 124, "{done:?}");
    let [limit, running, ended, request] = done.err.lines().collect::<Vec<_>>()[..] else {
        panic!("{done:?}")
    };
    assert_eq!(
        limit,
        "oxmpi: the job did not end within 500ms (--timeout):"
    );
    assert!(running.starts_with("oxmpi:   rank 0: "), "{running}");
    assert!(
        running.ends_with(", before init or after finalize"),
        "{running}"
    );
    assert_eq!(ended, "oxmpi:   rank 1: ended with exit code 0");
    assert!(
        request.starts_with("oxmpi: SIGTERM is forwarded"),
        "{request}"
    );
}

#[test]
fn the_time_of_a_job_is_set_by_a_variable_of_other_launchers_too() {
    let timed = |option: &[&str], program: &[&str]| {
        let words = [option, &["-n", "1"], program].concat();
        let mut command = oxmpi(&[&["run"], &*words].concat());
        command.env("MPIEXEC_TIMEOUT", "0.3");
        finish(command.spawn().expect("oxmpi starts"))
    };
    let done = timed(&[], &["sleep", "1000"]);
    assert_eq!(done.code, 124, "{done:?}");
    let says = "oxmpi: the job did not end within 300ms (MPIEXEC_TIMEOUT):";
    assert_eq!(done.err.lines().next(), Some(says), "{done:?}");
    let done = timed(&["--timeout", "0"], &["sleep", "1"]);
    assert_eq!(
        (done.code, done.err.as_str()),
        (0, ""),
        "the option is stronger"
    );
}

/// A rank that saves its work after SIGTERM and exits with 0, too.
#[test]
fn a_job_that_runs_too_long_may_save_its_work() {
    let (path, leash) = Leash::new();
    let script = format!("exec 3>{path}; trap 'echo saved; exit 0' TERM; sleep 1000 & wait $!");
    let done = run(&["--timeout", "2", "-n", "1", "sh", "-c", &script]);
    leash.end();
    assert_eq!((done.code, done.out.as_str()), (124, "saved\n"), "{done:?}");
}

#[test]
fn a_job_that_ends_in_time_is_left_alone() {
    for limit in ["1000", "0", "10min"] {
        let done = run(&["--timeout", limit, "-n", "1", "sh", "-c", "exit 3"]);
        assert_eq!(done.code, 3, "{done:?}");
        assert!(!done.err.contains("--timeout"), "{done:?}");
    }
    for wrong in ["-1", "soon", ""] {
        let done = run(&["--timeout", wrong, "-n", "1", "true"]);
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.err.contains("seconds such as 10"), "{done:?}");
    }
}
