//! Tests that kill a rank inside each collective: every other rank gets an error, none hangs.

mod one_group;
mod two_groups;

use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, Instant};

use oxmpi::{Error, Result, World};
use rustix::process::Signal;

use crate::common::signal;
use crate::job::{Job, end};

const RANKS: usize = 4;

/// Elements of the longest block: beyond what travels without waiting for its receiver.
const LONG: usize = 20_000;

/// A collective with its name, of some ranks, with one buffer for all that it reads, and one for all
/// that it writes.
type Round<C> = (&'static str, fn(&C, &[u64], &mut [u64]) -> Result<()>);

/// One collective again and again until it fails. Tells on the leash who it is, when it has begun,
/// and how it ended.
fn repeat<C>(
    path: &str,
    rounds: &[Round<C>],
    meet: impl FnOnce(&World) -> Result<C>,
) -> Result<()> {
    let leash = OpenOptions::new().write(true).open(path);
    let mut leash = leash.expect("the test reads it");
    let mut say = |text: std::fmt::Arguments<'_>| {
        let line = format!("{text}\n");
        leash.write_all(line.as_bytes()).expect("the test reads it");
    };
    let rank = std::env::var("PMI_RANK").expect("a rank");
    say(format_args!("rank {rank} pid {}", std::process::id()));
    let name = std::env::var("COLLECTIVE").expect("set");
    let round = rounds.iter().find(|one| one.0 == name);
    let (_, round) = round.expect("one of them");
    let world = World::init()?;
    let ranks = meet(&world)?;
    let (mine, mut all) = (vec![1; LONG * RANKS], vec![0; LONG * RANKS]);
    for turn in 0.. {
        if let Err(error) = round(&ranks, &mine, &mut all) {
            let is_loss = matches!(error, Error::Peer { .. } | Error::Collective { .. });
            assert!(is_loss, "{error}");
            say(format_args!("error on {rank}: {error}"));
            return Ok(());
        }
        // By then long calls have gone every way.
        if turn == 24 {
            say(format_args!("begun"));
        }
    }
    Ok(())
}

/// Kills a rank inside each of the collectives with these names. With the launcher stopped nobody ends
/// the survivors: each gets an error of its own, and one of them at least names the rank that died.
/// `what` they have in common is told; `job` has a job's settings.
fn everyone_learns(
    what: &str,
    names: &[&'static str],
    job: impl Fn() -> Job,
    rank: impl Fn(&str) -> Result<()> + Copy,
) {
    let mut slowest = (Duration::ZERO, "");
    for (turn, &name) in names.iter().enumerate() {
        let (job, mut leash) = job().with("COLLECTIVE", name).start_leashed(rank);
        let pids = leash.pids(RANKS);
        for _ in 0..RANKS {
            assert_eq!(leash.line(), "begun");
        }
        signal(job.id(), Signal::STOP);
        let victim = turn % RANKS;
        let killed = Instant::now();
        signal(pids[victim], Signal::KILL);
        let lost = format!(" (pid {} on ", pids[victim]);
        // The leash has the watchdog.
        let errors: Vec<_> = (1..RANKS).map(|_| leash.line()).collect();
        if killed.elapsed() > slowest.0 {
            slowest = (killed.elapsed(), name);
        }
        assert!(
            errors.iter().all(|line| line.starts_with("error on ")),
            "{errors:?}"
        );
        assert!(
            errors.iter().any(|line| line.contains(&lost)),
            "{name}: {errors:?}"
        );
        signal(job.id(), Signal::CONT);
        let done = end(job);
        leash.end();
        assert_eq!(done.code, 137, "{}", done.err);
    }
    let (time, name) = slowest;
    println!(
        "a rank killed in each of {} collectives{what}: the others knew within {time:?} ({name})",
        names.len()
    );
}
