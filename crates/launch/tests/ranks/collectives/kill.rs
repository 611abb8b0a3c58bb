//! A rank is killed inside each collective: every other rank gets an error, none hangs.

use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, Instant};

use oxmpi::collective::{self, Blocks};
use oxmpi::{Comm, Error, Grid, Op, Result, World};
use rustix::process::Signal;

use crate::common::signal;
use crate::job::{Job, end};

const RANKS: usize = 4;

/// Elements of the longest block: beyond what travels without waiting for its receiver.
const LONG: usize = 20_000;

/// A collective with one buffer for all that it reads, and one for all that it writes.
type Round = fn(&Comm, &[u64], &mut [u64]) -> Result<()>;

const COLLECTIVES: [(&str, Round); 25] = [
    ("barrier", |comm, _, _| comm.barrier()),
    ("bcast", |comm, _, all| comm.bcast(&mut all[..LONG], 1)),
    ("gather", |comm, mine, all| {
        let root = comm.rank() == 1;
        comm.gather(&mine[..LONG], root.then_some(all), 1)
    }),
    ("gatherv", |comm, mine, all| {
        let all = (comm.rank() == 1).then(|| Blocks::packed(all, &[LONG; RANKS]));
        comm.gatherv(&mine[..LONG], all, 1)
    }),
    ("scatter", |comm, mine, all| {
        let root = comm.rank() == 1;
        comm.scatter(root.then_some(mine), &mut all[..LONG], 1)
    }),
    ("scatterv", |comm, mine, all| {
        let mine = (comm.rank() == 1).then(|| Blocks::packed(mine, &[LONG; RANKS]));
        comm.scatterv(mine, &mut all[..LONG], 1)
    }),
    ("allgather", |comm, mine, all| {
        comm.allgather(&mine[..LONG], all)
    }),
    ("allgatherv", |comm, mine, all| {
        comm.allgatherv(&mine[..LONG], Blocks::packed(all, &[LONG; RANKS]))
    }),
    ("alltoall", |comm, mine, all| comm.alltoall(mine, all)),
    ("alltoallv", |comm, mine, all| {
        let mine = Blocks::packed(mine, &[LONG; RANKS]);
        comm.alltoallv(mine, Blocks::packed(all, &[LONG; RANKS]))
    }),
    ("reduce", |comm, mine, all| {
        let root = comm.rank() == 1;
        comm.reduce_into(mine, root.then_some(all), Op::SUM, 1)
    }),
    ("allreduce", |comm, mine, all| {
        comm.allreduce_into(mine, all, Op::SUM)
    }),
    ("short allreduce", |comm, mine, _| {
        comm.allreduce(&mine[0], Op::SUM).map(drop)
    }),
    ("reduce_scatter", |comm, mine, all| {
        comm.reduce_scatter(mine, &[LONG; RANKS], &mut all[..LONG], Op::SUM)
    }),
    ("reduce_scatter_block", |comm, mine, all| {
        comm.reduce_scatter_block(mine, &mut all[..LONG], Op::SUM)
    }),
    ("scan", |comm, mine, all| comm.scan_into(mine, all, Op::SUM)),
    ("exscan", |comm, mine, all| {
        comm.exscan_into(mine, all, Op::SUM)
    }),
    ("neighbor_allgather", |comm, mine, all| {
        comm.neighbor_allgather(&mine[..LONG], &mut all[..2 * LONG])
    }),
    ("neighbor_alltoall", |comm, mine, all| {
        comm.neighbor_alltoall(&mine[..2 * LONG], &mut all[..2 * LONG])
    }),
    ("neighbor_alltoallv", |comm, mine, all| {
        let mine = Blocks::packed(&mine[..2 * LONG], &[LONG; 2]);
        comm.neighbor_alltoallv(mine, Blocks::packed(&mut all[..2 * LONG], &[LONG; 2]))
    }),
    ("started barrier", |comm, _, _| {
        comm.scope(|scope| scope.start(collective::barrier())?.wait().map(drop))
    }),
    ("started allreduce", |comm, mine, all| {
        comm.scope(|scope| {
            let sum = scope.start(collective::allreduce(mine, all, Op::SUM))?;
            sum.wait().map(drop)
        })
    }),
    ("two started", |comm, mine, all| {
        // The scope waits for both.
        comm.scope(|scope| {
            let (first, second) = all.split_at_mut(LONG);
            scope.start(collective::bcast(first, 1))?;
            let second = &mut second[..LONG];
            scope.start(collective::reduce_scatter_block(mine, second, Op::SUM))?;
            Ok(())
        })
    }),
    ("persistent alltoall", |comm, mine, all| {
        let mut exchange = comm.persistent(collective::alltoall(mine, all))?;
        (0..2).try_for_each(|_| exchange.run())
    }),
    ("persistent allreduce", |comm, mine, all| {
        let mut sum = comm.persistent(collective::allreduce(mine, all, Op::SUM))?;
        (0..2).try_for_each(|_| sum.run())
    }),
];

/// One collective again and again, on a ring of all ranks, until it fails. Tells on the leash who
/// it is, when it has begun, and how it ended.
fn repeat(ranks: usize, path: &str) -> Result<()> {
    let leash = OpenOptions::new().write(true).open(path);
    let mut leash = leash.expect("the test reads it");
    let mut say = |text: std::fmt::Arguments<'_>| {
        let line = format!("{text}\n");
        leash.write_all(line.as_bytes()).expect("the test reads it");
    };
    let rank = std::env::var("PMI_RANK").expect("a rank");
    say(format_args!("rank {rank} pid {}", std::process::id()));
    let name = std::env::var("COLLECTIVE").expect("set");
    let round = COLLECTIVES.into_iter().find(|one| one.0 == name);
    let (_, round) = round.expect("one of them");
    let world = World::init()?;
    let ring = world.comm().cart(Grid::new(&[ranks], &[true]))?;
    let ring = ring.expect("every rank has a place");
    let (mine, mut all) = (vec![1; LONG * ranks], vec![0; LONG * ranks]);
    for turn in 0.. {
        if let Err(error) = round(&ring, &mine, &mut all) {
            let is_loss = matches!(error, Error::Peer { .. } | Error::Collective { .. });
            assert!(is_loss, "{error}");
            say(format_args!("error on {rank}: {error}"));
            return Ok(());
        }
        if turn == 3 {
            say(format_args!("begun"));
        }
    }
    Ok(())
}

/// With the launcher stopped nobody ends the survivors: each gets an error of its own.
#[test]
fn everyone_learns_of_a_rank_that_is_killed_inside() {
    let mut slowest = (Duration::ZERO, "");
    for (turn, (name, _)) in COLLECTIVES.into_iter().enumerate() {
        let job = Job::of(RANKS).with("COLLECTIVE", name);
        let (job, mut leash) = job.start_leashed(|path| repeat(RANKS, path));
        let pids = leash.pids(RANKS);
        for _ in 0..RANKS {
            assert_eq!(leash.line(), "begun");
        }
        signal(job.id(), Signal::STOP);
        let victim = turn % RANKS;
        let killed = Instant::now();
        signal(pids[victim], Signal::KILL);
        let lost = format!("lost rank {victim} (pid {} on ", pids[victim]);
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
        "a rank killed in each of {} collectives: the others knew within {time:?} ({name})",
        COLLECTIVES.len()
    );
}
