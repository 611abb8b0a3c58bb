//! Tests of the helper thread where something goes wrong, and of its start, its sleep and its end.

use std::fs;
use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, process, thread};

use oxmpi::{Comm, Error, Op, Result, World, collective};
use rustix::process::Signal;

use crate::denied::filter;
use crate::fork::{CHILD_OK, fork, refused, wait};
use crate::progress::{Flags, Folder, job};

/// The name of the helper thread.
const HELPER: &str = "oxmpi-progress";

/// A file of the helper thread of this process, if it has one.
fn of_helper(file: &str) -> Option<String> {
    let tasks = fs::read_dir("/proc/self/task").expect("this process");
    tasks.flatten().find_map(|task| {
        let path = task.path();
        let name = fs::read_to_string(path.join("comm")).ok()?;
        (name.trim_end() == HELPER).then(|| fs::read_to_string(path.join(file)).ok())?
    })
}

/// The time that the helper has run so far, in nanoseconds.
fn helper_time() -> String {
    let schedstat = of_helper("schedstat").expect("there is a helper");
    schedstat.split(' ').next().expect("a number").to_owned()
}

/// Exchanges a long message with the other rank of two, and checks it.
fn exchange(comm: &Comm, round: usize) -> Result<()> {
    let peer = 1 - comm.rank();
    let (sent, mut got) = (vec![comm.rank() + round; 3000], vec![0; 3000]);
    comm.scope(|s| {
        let receive = s.irecv(&mut got, peer, 3)?;
        s.isend(&sent, peer, 3)?;
        receive.wait().map(drop)
    })?;
    assert!(got.iter().all(|&value| value == peer + round));
    Ok(())
}

/// The helper runs nothing while nothing is under way, takes no signals, and ends with the world.
#[test]
fn the_helper_sleeps_and_ends() {
    let folder = Folder::new("sleeps");
    let done = job(2, &folder.0).run(|| {
        let world = World::init()?;
        (0..10).try_for_each(|round| exchange(world.comm(), round))?;
        let status = of_helper("status").expect("there is a helper");
        let mut blocked = status
            .lines()
            .filter_map(|line| line.strip_prefix("SigBlk:"));
        let blocked = blocked.next().expect("a mask").trim();
        let blocked = u64::from_str_radix(blocked, 16).expect("hexadecimal");
        // All but those that nothing blocks, and two of the C library.
        let unblockable = [Signal::KILL, Signal::STOP].map(|signal| 1 << (signal.as_raw() - 1));
        let internal: u64 = 0b11 << 31;
        assert_eq!(
            blocked | unblockable[0] | unblockable[1] | internal,
            u64::MAX
        );
        loop {
            let (before, began) = (helper_time(), Instant::now());
            while began.elapsed() < Duration::from_millis(300) {
                std::hint::spin_loop();
            }
            if helper_time() == before {
                break;
            }
        }
        world.async_progress(false)?;
        while of_helper("comm").is_some() {}
        exchange(world.comm(), 11)?;
        world.async_progress(true)?;
        exchange(world.comm(), 12)?;
        assert!(of_helper("comm").is_some());
        world.finalize()?;
        while of_helper("comm").is_some() {}
        Ok::<(), Error>(())
    });
    assert_eq!((done.code, &*done.err), (0, ""));
}

/// Children of a fork do not touch what the helper was at work on, and the parent goes on.
#[test]
fn a_process_forks_while_its_helper_is_at_work() {
    let folder = Folder::new("forks");
    let done = job(2, &folder.0).run(|| {
        let world = World::init()?;
        let comm = world.comm();
        for round in 0..40 {
            let (mine, mut all) = (vec![comm.rank() + round; 20_000], vec![0; 20_000]);
            let mut child = -1;
            let ended = comm.scope(|s| {
                let sum = s.start(collective::alltoall(&mine, &mut all))?;
                child = fork();
                if child == 0 {
                    refused(comm.barrier());
                    refused(sum.wait());
                    return Err(Error::Forked);
                }
                sum.wait().map(drop)
            });
            if child == 0 {
                refused(ended);
                drop(world);
                process::exit(CHILD_OK);
            }
            assert_eq!(wait(child), CHILD_OK, "the child ended well");
            ended?;
            assert!((0..20_000).all(|at| all[at] == at / 10_000 + round));
        }
        comm.barrier()
    });
    assert_eq!((done.code, &*done.err), (0, ""));
}

/// Both ranks compute when one is killed; the next call of the other names it.
#[test]
fn the_next_call_names_a_rank_that_was_killed() {
    for [name, value] in [["OXMPI_WAIT", "auto"], ["OXMPI_TRANSPORTS", "tcp"]] {
        let folder = Folder::new("killed");
        let done = job(2, &folder.0).with(name, value).run(|| {
            let world = World::init()?;
            let (comm, flags) = (world.comm(), Flags::of_job());
            let mut room = vec![0u8; 100_000];
            comm.barrier()?;
            let launcher = rustix::process::getppid().expect("a launcher");
            if comm.rank() == 1 {
                // The launcher ends no rank while it is stopped.
                rustix::process::kill_process(launcher, Signal::STOP).expect("it runs");
                flags.set(0, 1);
                let own = rustix::process::getpid();
                rustix::process::kill_process(own, Signal::KILL).expect("it runs");
            }
            let received = comm.scope(|s| {
                let request = s.irecv(&mut room, 1, 7)?;
                flags.compute_until(0, [1]);
                request.wait().map(drop)
            });
            rustix::process::kill_process(launcher, Signal::CONT).expect("it is stopped");
            match received {
                Err(Error::Peer { peer: 1, .. }) => Ok(()),
                Ok(()) => panic!("nobody has sent"),
                Err(other) => Err(other),
            }
        });
        assert_eq!(done.code, 137, "{}", done.err);
    }
}

/// The panic of an operation that the helper calls is the error of the request, on all ranks.
#[test]
fn an_operation_panics_in_the_helper() {
    let folder = Folder::new("panics");
    let done = job(3, &folder.0)
        .with("OXMPI_SHM_COLLECTIVES", "off")
        .run(|| {
            let world = World::init()?;
            let (comm, flags) = (world.comm(), Flags::of_job());
            let (me, mine, mut all) = (comm.rank(), [1u64; 100], [0; 100]);
            let operation = Op::commutative(move |a: u64, b: u64| match me {
                0 => panic_any("the operation of rank 0"),
                _ => a + b,
            });
            let sum = comm.scope(|s| {
                if me != 0 {
                    flags.compute_until(0, [0]);
                }
                let request = s.start(collective::allreduce(&mine, &mut all, operation))?;
                if me == 0 {
                    flags.set(0, 0);
                    flags.compute_until(1, [1, 2]);
                }
                request.wait().map(drop)
            });
            let why = sum.expect_err("it cannot succeed").to_string();
            flags.set(1, me);
            assert!(why.contains("operation panicked"), "{why}");
            Ok::<(), Error>(())
        });
    assert_eq!(done.code, 0, "{}", done.err);
}

/// An operation that waits in the helper keeps no call of the rank from the endpoint.
#[test]
fn an_operation_waits_in_the_helper_for_a_call() {
    let folder = Folder::new("waits");
    job(2, &folder.0)
        .with("OXMPI_SHM_COLLECTIVES", "off")
        .succeed(|world| {
            let (comm, flags) = (world.comm(), Flags::of_job());
            let (me, mine, mut all) = (comm.rank(), [1u64], [0]);
            let states = Arc::new([false, me == 1].map(AtomicBool::new));
            let of_operation = Arc::clone(&states);
            let operation = Op::commutative(move |a: u64, b: u64| {
                let [entered, may_end] = &*of_operation;
                entered.store(true, Ordering::Relaxed);
                while !may_end.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
                a + b
            });
            comm.scope(|s| {
                if me == 1 {
                    flags.compute_until(0, [0]);
                }
                let request = s.start(collective::allreduce(&mine, &mut all, operation))?;
                if me == 0 {
                    flags.set(0, 0);
                    let [entered, may_end] = &*states;
                    while !entered.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                    exchange(comm, 1)?;
                    may_end.store(true, Ordering::Relaxed);
                } else {
                    exchange(comm, 1)?;
                }
                request.wait().map(drop)
            })?;
            assert_eq!(all, [2]);
            Ok(())
        });
}

/// Where the system gives no thread, each rank warns once and goes on without.
#[test]
fn a_job_goes_on_where_there_is_no_thread() {
    let folder = Folder::new("refused");
    let done = job(2, &folder.0).run(|| {
        filter(&[libc::SYS_clone, libc::SYS_clone3]);
        let world = World::init()?;
        assert_eq!(of_helper("comm"), None);
        exchange(world.comm(), 5)
    });
    assert_eq!(done.code, 0, "{}", done.err);
    let warnings: Vec<&str> = done.err.lines().collect();
    let is_expected =
        |line: &&str| line.starts_with("oxmpi: ") && line.ends_with("; the job goes on without it");
    assert_eq!(warnings.len(), 2, "{}", done.err);
    assert!(warnings.iter().all(is_expected), "{}", done.err);
}

/// The endpoint is lent again and again while messages and collectives are under way.
///
/// `TEST_LENDS` is the number of rounds, of about 40 calls each (default: 2500).
#[test]
fn an_endpoint_is_lent_under_load() {
    let rounds = env::var("TEST_LENDS").ok();
    let rounds = rounds.unwrap_or_else(|| "2500".to_owned());
    for [name, value] in [
        ["OXMPI_SHM_PROTOCOL", "auto"],
        ["OXMPI_SHM_PROTOCOL", "copy"],
        ["OXMPI_SHM_COLLECTIVES", "off"],
        ["OXMPI_TRANSPORTS", "tcp"],
    ] {
        let folder = Folder::new("lent");
        let job = job(2, &folder.0).with("TEST_LENDS", &rounds);
        job.with(name, value).succeed(|world| {
            let rounds = env::var("TEST_LENDS").expect("set");
            let rounds: usize = rounds.parse().expect("a number of rounds");
            (0..rounds).try_for_each(|round| load(world.comm(), round))
        });
    }
}

/// Messages of several lengths and two collectives at once, tested while they are under way.
fn load(comm: &Comm, round: usize) -> Result<()> {
    let (me, peer) = (comm.rank(), 1 - comm.rank());
    let lengths = [1, 700, 2000, 9000 + round % 1000];
    let sent = lengths.map(|len| vec![me + round + len; len]);
    let mut got = lengths.map(|len| vec![0; len]);
    let (mine, mut sums, mut blocks) = (vec![round + me; 600], vec![0; 600], vec![0; 600]);
    comm.scope(|s| {
        let sum = s.start(collective::allreduce(&mine, &mut sums, Op::SUM))?;
        for (tag, room) in (0..).zip(&mut got) {
            s.irecv(room, peer, tag)?;
        }
        let exchange = s.start(collective::alltoall(&mine, &mut blocks))?;
        for (tag, message) in (0..).zip(&sent) {
            s.isend(message, peer, tag)?;
            comm.send(&[round], peer, 9)?;
            comm.progress()?;
        }
        for _ in lengths {
            assert_eq!(comm.recv_vec::<usize>(peer, 9)?.0, [round]);
        }
        sum.wait().map(drop)?;
        exchange.wait().map(drop)
    })?;
    for (len, got) in lengths.into_iter().zip(got) {
        assert!(got.iter().all(|&value| value == peer + round + len));
    }
    assert!(sums.iter().all(|&value| value == 2 * round + 1));
    assert!((0..600).all(|at| blocks[at] == round + at / 300));
    Ok(())
}
