//! Tests of how ranks wait: sleeping or polling.

use std::env;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use oxmpi::{Comm, Result};

use crate::job::Job;

/// What can hang is given up after this.
const WATCHDOG: Duration = Duration::from_secs(120);

/// How often a rank that must not sleep is looked at.
const LOOKS: usize = 3_000;

/// Tells rank 0 which thread this is, then waits for it by `wait`.
fn waits(comm: &Comm, wait: impl Fn() -> Result<()>) -> Result<()> {
    let thread = fs::read_link("/proc/thread-self").expect("a system with /proc");
    let path = format!("/proc/{}/stat", thread.display());
    comm.send(path.as_bytes(), 0, 1)?;
    wait()
}

/// Watches the thread of rank 1 until it sleeps, or often enough where it never may.
fn watches(comm: &Comm, never: bool) -> Result<()> {
    let (path, _) = comm.recv_vec::<u8>(1, 1)?;
    let path = String::from_utf8(path).expect("a path");
    let sleeps = || {
        let stat = fs::read_to_string(&path).expect("rank 1 lives");
        let (_, fields) = stat.rsplit_once(')').expect("the name in brackets");
        fields.trim_start().starts_with('S')
    };
    if never {
        assert!((0..LOOKS).all(|_| !sleeps()));
        return Ok(());
    }
    let start = Instant::now();
    while !sleeps() {
        assert!(start.elapsed() < WATCHDOG, "rank 1 never slept");
        thread::yield_now();
    }
    Ok(())
}

/// Whoever waits long sleeps, for a message as in a barrier, and is woken; `active` never sleeps.
#[test]
fn a_rank_sleeps_as_it_was_asked_to() {
    for wait in ["passive", "auto", "active"] {
        Job::of(2).with("OXMPI_WAIT", wait).succeed(|world| {
            let comm = world.comm();
            let never = env::var("OXMPI_WAIT").is_ok_and(|wait| wait == "active");
            for _ in 0..3 {
                if comm.rank() == 1 {
                    waits(comm, || comm.recv_vec::<u8>(0, 2).map(drop))?;
                    waits(comm, || comm.barrier())?;
                } else {
                    watches(comm, never)?;
                    comm.send(&[1u8], 1, 2)?;
                    watches(comm, never)?;
                    comm.barrier()?;
                }
            }
            Ok(())
        });
    }
}
