//! Tests of windows with real ranks: memory in the heap and private memory, a target that does nothing, and killed ranks.

use oxmpi::window::{LockKind, PassiveWindow};
use oxmpi::{Comm, Error, Memory, Op, Result, World};
use rustix::process::Signal;

use crate::job::{Job, SIZES, WINDOW_PATHS};

/// Elements of a rank's memory.
const WORDS: usize = 40_000;

/// Lengths of accesses: within a cache line, a page, more than any frame.
const LENGTHS: [usize; 4] = [1, 6, 700, 30_000];

/// Memory of the heap, or private memory.
fn memories(world: &World) -> Result<[Memory<u64>; 2]> {
    Ok([world.alloc(WORDS)?, vec![0; WORDS].into()])
}

fn value(rank: usize, round: usize, word: usize) -> u64 {
    (rank as u64) << 40 | (round as u64) << 32 | word as u64
}

/// Each rank puts to its right neighbour, and reads back what came from the left one.
fn put_round(comm: &Comm, memory: Memory<u64>) -> Result<Memory<u64>> {
    let (me, n) = (comm.rank(), comm.size());
    let (left, right) = ((me + n - 1) % n, (me + 1) % n);
    let mut window = comm.active_window(memory)?;
    for (round, len) in LENGTHS.into_iter().enumerate() {
        let values: Vec<u64> = (0..len).map(|word| value(me, round, word)).collect();
        window.fence(|epoch| epoch.put(&values, right, 3))?;
        let expected = (0..len).map(|word| value(left, round, word));
        assert!(
            window.local()[3..3 + len]
                .iter()
                .copied()
                .eq(expected.clone())
        );

        let mut read = vec![0; len];
        window.exchange(&[left], &[right], |epoch| epoch.get(&mut read, right, 3))?;
        assert_eq!(read, values);
        window.fence(|epoch| epoch.accumulate(&values, Op::MAX, left, 3))?;
        let from_right = (0..len).map(|word| value(right, round, word));
        let expected = expected.zip(from_right).map(|(a, b)| a.max(b));
        assert!(window.local()[3..3 + len].iter().copied().eq(expected));
        window.local_mut().fill(0);
        comm.barrier()?;
    }
    window.free()
}

#[test]
fn memory_has_what_was_put() {
    for [name, value] in WINDOW_PATHS {
        for ranks in SIZES {
            Job::of(ranks).with(name, value).succeed(|world| {
                for memory in memories(world)? {
                    let memory = put_round(world.comm(), memory)?;
                    assert_eq!(memory.len(), WORDS);
                }
                Ok(())
            });
        }
    }
}

/// A counter gives each number once, whatever path its ranks take to it: among some placements, one rank on each host, and
/// two on each of two hosts.
#[test]
fn numbers_of_a_counter_are_taken_once() {
    const EACH: usize = 500;
    for [name, value] in WINDOW_PATHS {
        let spread = SIZES.map(|ranks| Job::of(ranks).cyclic());
        for job in spread.into_iter().chain([Job::of(4).on_two_hosts()]) {
            job.with(name, value).succeed(|world| {
                let comm = world.comm();
                for memory in memories(world)? {
                    let window = comm.passive_window(memory)?;
                    let mut taken = vec![0u8; EACH * comm.size()];
                    let target = comm.size() - 1;
                    window.lock_all(|epoch| {
                        for _ in 0..EACH {
                            taken[epoch.fetch(&1, Op::SUM, target, 7)? as usize] = 1;
                        }
                        Ok(())
                    })?;
                    let mut by_all = taken.clone();
                    comm.allreduce_into(&taken, &mut by_all, Op::SUM)?;
                    assert!(by_all.iter().all(|&times| times == 1));
                    window.free()?;
                }
                Ok(())
            });
        }
    }
}

/// Reads, adds 1 and writes, alone.
fn add_alone(window: &PassiveWindow<u64>, target: usize) -> Result<()> {
    let mut value = [0];
    window.lock(target, LockKind::Exclusive, |epoch| {
        let read = epoch.load(target, 0)?;
        epoch.put(&[read + 1], target, 0)
    })?;
    window.lock(target, LockKind::Shared, |epoch| {
        epoch.get(&mut value, target, 0)
    })?;
    assert!(value[0] > 0);
    Ok(())
}

#[test]
fn exclusive_locks_exclude_across_hosts() {
    for [name, value] in WINDOW_PATHS {
        for ranks in SIZES {
            Job::of(ranks).with(name, value).succeed(|world| {
                let comm = world.comm();
                let mut window = comm.passive_window(world.alloc::<u64>(1)?)?;
                for _ in 0..100 {
                    add_alone(&window, 0)?;
                }
                comm.barrier()?;
                let has = window.with_local(|local| local[0])?;
                let all = if comm.rank() == 0 {
                    100 * comm.size() as u64
                } else {
                    0
                };
                assert_eq!(has, all);
                window.free().map(drop)
            });
        }
    }
}

/// A target that is stopped by a signal is accessed, locked and flushed all the same.
#[test]
fn a_stopped_target_is_accessed() {
    let done = Job::of(2).on_one_host().run(|| {
        let world = World::init()?;
        let comm = world.comm();
        for memory in memories(&world)? {
            let window = comm.passive_window(memory)?;
            if comm.rank() == 0 {
                let target = comm.recv_vec::<u32>(1, 1)?.0[0];
                let target = rustix::process::Pid::from_raw(target.cast_signed());
                let target = target.expect("a process");
                rustix::process::kill_process(target, Signal::STOP).expect("it runs");
                let worked = (0..1000).try_for_each(|i| {
                    let mut read = [0];
                    window.lock(1, LockKind::Exclusive, |epoch| {
                        epoch.put(&[i], 1, 5)?;
                        epoch.get(&mut read, 1, 5)?;
                        epoch.accumulate(&[1; 600], Op::SUM, 1, 100)
                    })?;
                    assert_eq!(read[0], i);
                    window.lock_all(|epoch| epoch.fetch(&1, Op::SUM, 1, 9).map(drop))
                });
                rustix::process::kill_process(target, Signal::CONT).expect("it runs");
                worked?;
            } else {
                comm.send(&[std::process::id()], 0, 1)?;
            }
            comm.barrier()?;
            let memory = window.free()?;
            if comm.rank() == 1 {
                assert_eq!((memory[5], memory[9], memory[100]), (999, 1000, 1000));
            }
        }
        Ok::<(), Error>(())
    });
    assert_eq!(done.code, 0, "{done:?}");
}

/// A rank is killed while it has the lock: whoever waits for it gets an error that names it.
#[test]
fn waiting_for_the_lock_of_a_killed_rank_is_an_error() {
    for [name, value] in WINDOW_PATHS {
        let done = Job::of(3).with(name, value).run(|| {
            let world = World::init()?;
            let comm = world.comm();
            let window = comm.passive_window(world.alloc::<u64>(1)?)?;
            let kind = LockKind::Exclusive;
            if comm.rank() == 2 {
                window.lock(0, kind, |epoch| {
                    epoch.load(0, 0)?;
                    comm.send(&[1u8], 0, 1)?;
                    comm.send(&[1u8], 1, 1)?;
                    // The launcher ends no rank while it is stopped.
                    let launcher = rustix::process::getppid().expect("a launcher");
                    rustix::process::kill_process(launcher, Signal::STOP).expect("it runs");
                    let own = rustix::process::getpid();
                    rustix::process::kill_process(own, Signal::KILL).expect("it runs");
                    Ok(())
                })?;
            }
            comm.recv(&mut [0u8], 2, 1)?;
            let waited = window.lock(0, kind, |epoch| epoch.put(&[1], 0, 0));
            let error = waited.expect_err("the holder is dead");
            let names = matches!(
                error,
                Error::Peer { peer: 2, .. } | Error::Peer { peer: 0, .. }
            );
            assert!(names, "{error}");
            println!("{}", error.to_string().contains("rank 2"));
            // Rank 0 answers rank 1 until that has its error.
            if comm.rank() == 1 {
                comm.send(&[1u8], 0, 2)?;
                return Err(error);
            }
            comm.recv(&mut [0u8], 1, 2)?;
            let launcher = rustix::process::getppid().expect("a launcher");
            rustix::process::kill_process(launcher, Signal::CONT).expect("it runs");
            Err(error)
        });
        assert_eq!(
            done.out.lines().filter(|line| *line == "true").count(),
            2,
            "{done:?}"
        );
    }
}
