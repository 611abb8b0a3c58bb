//! Tests of a rank that is killed or stopped during a stream of messages, on every path: errors name a killed
//! peer, and ranks wait for a stopped one.

use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, Instant};

use oxmpi::{Op, Result, World};
use rustix::process::Signal;

use crate::common::signal;
use crate::job::{Job, end};

/// Runs `work` on a rank that writes its process number to the leash before it joins, and at the end its
/// error.
fn leashed(path: &str, work: impl FnOnce(&World, &mut dyn FnMut(u32)) -> Result<()>) -> Result<()> {
    let file = OpenOptions::new().write(true).open(path);
    let mut leash = file.expect("the test reads it");
    let mut say = move |text: String| {
        let line = leash.write_all(text.as_bytes());
        line.expect("the test reads it");
    };
    let rank = std::env::var("PMI_RANK").expect("a rank");
    say(format!("rank {rank} pid {}\n", std::process::id()));
    let world = World::init()?;
    let outcome = work(&world, &mut |round| say(format!("round {round}\n")));
    if let Err(error) = &outcome {
        say(format!("error on {rank}: {error}\n"));
    }
    outcome
}

/// Name and number of elements of messages on each path, and of a collective.
const PATHS: [(&str, usize); 4] = [
    ("short", 2),
    ("frame", 1000),
    ("bulk", 100_000),
    ("reduce", 3000),
];

/// A job for [`forward`].
fn on_path(path: &str, count: usize) -> Job {
    let job = Job::of(3).with("COUNT", &count.to_string());
    job.with("OPERATION", path).with("OXMPI_WAIT", "passive")
}

/// Rank 1 forwards messages from rank 2 to rank 0, or all ranks call allreduce, without end.
fn forward(world: &World, tell: &mut dyn FnMut(u32)) -> Result<()> {
    let variable = |name| std::env::var(name).expect("set");
    let count = variable("COUNT").parse().expect("a number");
    let reduces = variable("OPERATION") == "reduce";
    let comm = world.comm();
    for round in 0.. {
        let mine = vec![round; count];
        let mut room = if reduces {
            mine.clone()
        } else {
            vec![!round; count]
        };
        match comm.rank() {
            _ if reduces => comm.allreduce_in_place(&mut room, Op::MAX)?,
            0 => drop(comm.recv(&mut room, 1, 5)?),
            1 => drop(comm.sendrecv(&mine, 0, 5, &mut room, 2, 5)?),
            _ => comm.send(&mine, 1, 5)?,
        }
        assert!(room == mine || (comm.rank() == 2 && !reduces), "torn");
        if comm.rank() == 0 {
            tell(round);
        }
    }
    Ok(())
}

/// Rank 1 is killed during a stream. The launcher is stopped, so the other ranks find out without it.
#[test]
fn errors_name_a_killed_rank_on_every_path() {
    for (path, count) in PATHS {
        let (job, mut leash) = on_path(path, count).start_leashed(|leash| leashed(leash, forward));
        let pids = leash.pids(3);
        for _ in 0..20 {
            assert!(leash.line().starts_with("round "));
        }
        signal(job.id(), Signal::STOP);
        signal(pids[1], Signal::KILL);
        let mut errors = Vec::new();
        while errors.len() < 2 {
            let line = leash.line();
            if line.starts_with("error ") {
                errors.push(line);
            }
        }
        signal(job.id(), Signal::CONT);
        let done = end(job);
        leash.end();
        let named = format!("lost rank 1 (pid {} on ", pids[1]);
        let names_it = |error: &&String| error.contains(&named);
        // In a collective a survivor may have waited for the other survivor, which got its error first.
        let enough = if path == "reduce" { 1 } else { 2 };
        assert!(
            errors.iter().filter(names_it).count() >= enough,
            "{path}: {errors:?}"
        );
        assert_eq!(done.code, 137, "{}", done.err);
    }
}

/// Number of times that the threads of a process have gone to sleep (voluntary context switches).
fn sleeps(pid: u32) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).expect("it runs");
    let of_thread = |thread: std::io::Result<std::fs::DirEntry>| {
        let status = std::fs::read_to_string(thread.ok()?.path().join("status")).ok()?;
        let mut lines = status.lines();
        let number = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        number?.trim().parse::<u64>().ok()
    };
    threads.filter_map(of_thread).sum()
}

/// Rank 1 is stopped for longer than its peers need to check that it lives. They wait for it, and no message
/// is lost.
#[test]
fn ranks_wait_for_a_stopped_rank() {
    for (path, count) in PATHS {
        let (job, mut leash) = on_path(path, count).start_leashed(|leash| leashed(leash, forward));
        let pids = leash.pids(3);
        for round in 0..60 {
            assert_eq!(leash.line(), format!("round {round}"), "{path}");
            if round % 30 == 5 {
                signal(pids[1], Signal::STOP);
                let start = Instant::now();
                let before = sleeps(pids[0]);
                // After each sleep the waiting rank checks whether its peers live.
                while sleeps(pids[0]) < before + 5 {
                    std::thread::yield_now();
                    assert!(
                        start.elapsed() < Duration::from_secs(120),
                        "rank 0 never sleeps"
                    );
                }
                signal(pids[1], Signal::CONT);
            }
        }
        signal(job.id(), Signal::TERM);
        let done = end(job);
        leash.end();
        let all_well = !done.err.contains("lost rank") && !done.err.contains("panicked");
        assert!(all_well, "{path}: {}", done.err);
    }
}
