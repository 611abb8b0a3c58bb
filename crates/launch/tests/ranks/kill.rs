//! Tests of SIGKILL of a rank or the launcher at any moment: the job ends, the launcher names the cause, and
//! no process is left.
//!
//! `OXMPI_TEST_KILLS` is the number of killed ranks (default: 5); the launcher is killed a fifth as often, at
//! least three times.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, Instant};

use oxmpi::{Error, Op, Result, Source, World};
use oxmpi_testkit::rng::Rng;
use rustix::process::Signal;

use crate::common::signal;
use crate::job::{Job, end};

const RANKS: usize = 4;

fn kills() -> u64 {
    let count = std::env::var("OXMPI_TEST_KILLS").ok();
    count.map_or(5, |count| count.parse().expect("a number of kills"))
}

/// The names of the files of oxmpi in `/dev/shm`.
fn shared_files() -> BTreeSet<std::ffi::OsString> {
    let Ok(entries) = std::fs::read_dir("/dev/shm") else {
        return BTreeSet::new();
    };
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    names
        .filter(|name| name.to_string_lossy().contains("oxmpi"))
        .collect()
}

/// Runs a rank that exchanges messages until it is killed. It writes its process number to the leash at
/// `path` before it joins, then a line for each round, and its error.
fn work(ranks: usize, path: &str) -> Result<()> {
    let mut leash = OpenOptions::new()
        .write(true)
        .open(path)
        .expect("the test reads it");
    let mut say = |text: std::fmt::Arguments<'_>| {
        leash
            .write_all(format!("{text}\n").as_bytes())
            .expect("the test reads it");
    };
    let rank = std::env::var("PMI_RANK").expect("a rank");
    say(format_args!("rank {rank} pid {}", std::process::id()));
    let world = World::init()?;
    assert_eq!(world.comm().size(), ranks);
    let outcome = run_rounds(&world, |round| say(format_args!("round {round}")));
    let Err(error) = outcome else {
        return Ok(());
    };
    say(format_args!("error on {rank}: {error}"));
    Err(error)
}

/// Repeats rounds of messages and collectives without end. Rank 0 calls `tell` with the number of each round.
fn run_rounds(world: &World, mut tell: impl FnMut(u32)) -> Result<()> {
    let comm = world.comm();
    let (rank, size) = (comm.rank(), comm.size());
    let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
    for round in 0.. {
        let mine = vec![round; [1, 500, 100_000][round as usize % 3]];
        let mut room = mine.clone();
        comm.sendrecv(&mine, right, round, &mut room, left, round)?;
        assert!(room == mine, "torn");
        comm.allreduce_in_place(&mut room, Op::MAX)?;
        if rank == 0 {
            comm.recv_vec::<u32>(Source::Any, 1)?;
            tell(round);
        } else if rank == 1 {
            comm.isend_owned(mine, 0, 1)?;
        }
        comm.barrier()?;
    }
    Ok(())
}

#[test]
fn the_launcher_names_a_killed_rank_and_leaves_no_process_or_file() {
    let before = shared_files();
    let mut rng = Rng::new(9);
    let mut slowest = Duration::ZERO;
    for round in 0..kills() {
        let (job, mut leash) = Job::of(RANKS).start_leashed(|path| work(RANKS, path));
        let pids = leash.pids(RANKS);
        // In every second job the rank is killed while the ranks join.
        let moment = if round % 2 == 0 { 0 } else { rng.below(60) };
        for _ in 0..moment {
            assert!(leash.line().starts_with("round "));
        }
        let victim = rng.below(RANKS as u64) as usize;
        let killed = Instant::now();
        signal(pids[victim], Signal::KILL);
        let done = end(job);
        leash.end();
        slowest = slowest.max(killed.elapsed());
        assert_eq!(done.code, 137, "{}", done.err);
        let host = oxmpi_os::host::name();
        let named = format!("oxmpi: rank {victim} on {host} (pid {}, ", pids[victim]);
        let says =
            done.err.contains(&named) && done.err.contains("was killed by signal 9 (SIGKILL)");
        assert!(says, "moment {moment}: {}", done.err);
        assert_eq!(shared_files(), before);
    }
    println!(
        "{} ranks killed; the end of a job took {slowest:?} at most",
        kills()
    );
}

#[test]
fn a_killed_launcher_leaves_no_process_or_file() {
    let before = shared_files();
    let mut rng = Rng::new(10);
    let mut slowest = Duration::ZERO;
    for round in 0..(kills() / 5).max(3) {
        let (job, mut leash) = Job::of(RANKS).start_leashed(|path| work(RANKS, path));
        leash.pids(RANKS);
        for _ in 0..if round == 0 { 0 } else { rng.below(40) } {
            leash.line();
        }
        let killed = Instant::now();
        signal(job.id(), Signal::KILL);
        assert_eq!(end(job).code, 1009);
        leash.end();
        slowest = slowest.max(killed.elapsed());
        assert_eq!(shared_files(), before);
    }
    println!("launchers killed; the end of a job took {slowest:?} at most");
}

/// The launcher is stopped and cannot end the survivors. Each gets an error of its own, and the first errors
/// name the killed rank.
#[test]
fn survivors_get_errors_that_name_the_killed_rank() {
    let (job, mut leash) = Job::of(RANKS).start_leashed(|path| work(RANKS, path));
    let pids = leash.pids(RANKS);
    for _ in 0..5 {
        leash.line();
    }
    signal(job.id(), Signal::STOP);
    let victim = 2;
    signal(pids[victim], Signal::KILL);
    let mut errors = Vec::new();
    while errors.len() < RANKS - 1 {
        let line = leash.line();
        if line.starts_with("error ") {
            errors.push(line);
        }
    }
    signal(job.id(), Signal::CONT);
    let done = end(job);
    leash.end();
    let pid = pids[victim];
    let names_it = |error: &String| {
        error.contains(&format!("lost rank {victim} (pid {pid} on "))
            && error.ends_with("the peer's process has ended")
    };
    assert!(errors.iter().any(names_it), "{errors:?}");
    // A survivor may have waited for another survivor, which got its error first and has left the job.
    let is_expected =
        |error: &String| names_it(error) || error.ends_with("the peer has left the job");
    assert!(errors.iter().all(is_expected), "{errors:?}");
    assert_eq!(done.code, 137, "{}", done.err);
}

/// A receive from the killed rank, a receive from any rank, and a send to the killed rank return errors that
/// name it.
#[test]
fn calls_return_errors_that_name_the_killed_rank() {
    let done = Job::of(4).run(|| {
        let world = World::init()?;
        let comm = world.comm();
        let rank = comm.rank();
        comm.barrier()?;
        if rank == 3 {
            // The launcher ends no rank while it is stopped.
            let launcher = rustix::process::getppid().expect("a launcher");
            rustix::process::kill_process(launcher, Signal::STOP).expect("it runs");
            let own = rustix::process::getpid();
            rustix::process::kill_process(own, Signal::KILL).expect("it runs");
        }
        let outcome = match rank {
            0 => comm.recv(&mut [0u8], 3, 1).map(drop),
            1 => comm.recv(&mut [0u8], Source::Any, 1).map(drop),
            _ => comm.send(&[0u8; 300_000], 3, 1),
        };
        let error = outcome.expect_err("rank 3 is dead");
        assert!(
            matches!(
                error,
                Error::Peer {
                    peer: 3,
                    pid: Some(_),
                    ..
                }
            ),
            "{error}"
        );
        // The survivors still reach each other, until each has got its error.
        let others = [0, 1, 2].into_iter().filter(|&other| other != rank);
        for other in others.clone() {
            comm.send(&[rank as u8], other, 7)?;
        }
        for other in others {
            assert_eq!(comm.recv_vec::<u8>(other, 7)?.0, [other as u8]);
        }
        if rank == 0 {
            let launcher = rustix::process::getppid().expect("a launcher");
            rustix::process::kill_process(launcher, Signal::CONT).expect("it is stopped");
        }
        Ok::<_, Error>(())
    });
    assert_eq!(done.code, 137, "{}", done.err);
    assert!(!done.err.contains("panicked"), "{}", done.err);
    assert!(done.err.contains("oxmpi: rank 3 on "), "{}", done.err);
}
