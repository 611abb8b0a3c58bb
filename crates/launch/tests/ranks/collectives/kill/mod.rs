//! Tests that kill a rank inside each collective: every other rank gets an error, and none hangs.

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

/// Elements of the longest block: it uses rendezvous, where the sender waits for the receiver.
const LONG: usize = 20_000;

/// A collective and its name. The call takes a communicator, an input buffer and an output buffer.
type Round<C> = (&'static str, fn(&C, &[u64], &mut [u64]) -> Result<()>);

/// Runs a rank that repeats one collective until it fails. The rank writes to the leash at `path` its process
/// number, a line after 25 calls, and its error.
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
    for number in 0.. {
        if let Err(error) = round(&ranks, &mine, &mut all) {
            let is_loss = matches!(error, Error::Peer { .. } | Error::Collective { .. });
            assert!(is_loss, "{error}");
            say(format_args!("error on {rank}: {error}"));
            return Ok(());
        }
        // By now the ranks have connected and have used all protocols.
        if number == 24 {
            say(format_args!("begun"));
        }
    }
    Ok(())
}

/// Kills a rank inside each collective of `names`, and checks that every survivor gets an error, and that one
/// error at least names the killed rank. The launcher is stopped and cannot end the survivors. `what`
/// describes the collectives in the output; `job` makes a job with its settings.
fn check_survivors(
    what: &str,
    names: &[&'static str],
    job: impl Fn() -> Job,
    rank: impl Fn(&str) -> Result<()> + Copy,
) {
    let mut slowest = (Duration::ZERO, "");
    for (round, &name) in names.iter().enumerate() {
        let (job, mut leash) = job().with("COLLECTIVE", name).start_leashed(rank);
        let pids = leash.pids(RANKS);
        for _ in 0..RANKS {
            assert_eq!(leash.line(), "begun");
        }
        signal(job.id(), Signal::STOP);
        let victim = round % RANKS;
        let killed = Instant::now();
        signal(pids[victim], Signal::KILL);
        let lost = format!(" (pid {} on ", pids[victim]);
        // Reading the leash fails after the time of the watchdog.
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
