//! Tests of how ranks wait: sleeping or polling.

use std::env;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use oxmpi::{Comm, Result};

use crate::job::Job;

/// Time after which the test fails if rank 1 does not sleep.
const WATCHDOG: Duration = Duration::from_secs(120);

/// Number of times that rank 0 reads the state of a thread that must not sleep.
const LOOKS: usize = 3_000;

/// Sends rank 0 the path of this thread's `/proc` file, then waits by calling `wait`.
fn report_thread_and_wait(comm: &Comm, wait: impl Fn() -> Result<()>) -> Result<()> {
    let thread = fs::read_link("/proc/thread-self").expect("a system with /proc");
    let path = format!("/proc/{}/stat", thread.display());
    comm.send(path.as_bytes(), 0, 1)?;
    wait()
}

/// Reads the state of rank 1's thread until it sleeps; with `never`, checks [`LOOKS`] times that it does not
/// sleep.
fn check_sleep(comm: &Comm, never: bool) -> Result<()> {
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

/// A rank that waits long for a message or in a barrier sleeps and is woken; with `active` it never sleeps.
#[test]
fn a_waiting_rank_sleeps_as_the_setting_wait_says() {
    for wait in ["passive", "auto", "active"] {
        Job::of(2).with("OXMPI_WAIT", wait).succeed(|world| {
            let comm = world.comm();
            let never = env::var("OXMPI_WAIT").is_ok_and(|wait| wait == "active");
            for _ in 0..3 {
                if comm.rank() == 1 {
                    report_thread_and_wait(comm, || comm.recv_vec::<u8>(0, 2).map(drop))?;
                    report_thread_and_wait(comm, || comm.barrier())?;
                } else {
                    check_sleep(comm, never)?;
                    comm.send(&[1u8], 1, 2)?;
                    check_sleep(comm, never)?;
                    comm.barrier()?;
                }
            }
            Ok(())
        });
    }
}
