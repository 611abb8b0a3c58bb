//! A host that is cut off in the middle of traffic.
//!
//! Only where jobs run over hosts: `cargo xtask ci hosts`.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::process::Command;

use oxmpi::{Error, Op, Result, World};

use crate::job::{CUT, Job, can_cut, end};

const RANKS: usize = 8;
/// The host that is cut off, of four with two ranks each.
const LOST: usize = 3;

/// Every rank hears of a lost host, by name: those that are left of the one that is cut off, and its
/// ranks of another.
#[test]
fn a_host_that_is_cut_off_is_named() {
    if !can_cut() {
        return;
    }
    let job = Job::of(RANKS).with("OXMPI_TCP_SILENCE", "2s");
    let (job, mut leash) = job.start_leashed(|path| {
        let world = World::init()?;
        let (rank, host) = (world.comm().rank(), world.host().to_owned());
        let mut leash = OpenOptions::new()
            .write(true)
            .open(path)
            .expect("the test reads it");
        let mut started = || writeln!(leash, "in traffic").expect("the test reads it");
        let Err(error) = toil(&world, &mut started) else {
            return Ok(());
        };
        println!("{rank} on {host}: {error}");
        let Error::Peer { host: lost, .. } = &error else {
            return Err(error);
        };
        let right = match rank / 2 {
            LOST => *lost != host,
            _ => *lost == format!("host{LOST}"),
        };
        if right { Ok(()) } else { Err(error) }
    });
    for _ in 0..RANKS {
        assert_eq!(leash.line(), "in traffic");
    }
    let cut = env::var(CUT).expect("beside the command that starts ranks");
    let cut = cut.replace("{node}", &LOST.to_string());
    let mut words = cut.split(' ');
    let mut command = Command::new(words.next().expect("a command"));
    let status = command.args(words).status().expect("it starts");
    assert!(status.success(), "{cut}: {status}");
    let done = end(job);
    assert_eq!(
        (done.code, done.out.lines().count()),
        (0, RANKS),
        "{done:?}"
    );
    leash.end();
}

/// Everybody talks to everybody, for ever.
fn toil(world: &World, started: &mut dyn FnMut()) -> Result<()> {
    let comm = world.comm();
    let mine = vec![comm.rank() as u64; 1000 * comm.size()];
    let mut theirs = mine.clone();
    for round in 0u64.. {
        comm.alltoall(&mine, &mut theirs)?;
        comm.allreduce(&round, Op::MAX)?;
        if round == 3 {
            started();
        }
    }
    Ok(())
}
