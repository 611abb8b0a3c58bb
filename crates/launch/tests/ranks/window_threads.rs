//! Tests of windows that several threads of each real rank access at once.

use std::thread;

use oxmpi::window::LockKind;
use oxmpi::{ErrorClass, Memory, Op, Result, SharedComm};

use crate::job::{Job, WINDOW_PATHS};

const THREADS: usize = 4;

/// Memory of the heap, or private memory.
fn memories(comm: &SharedComm, words: usize) -> Result<[Memory<u64>; 2]> {
    Ok([comm.alloc(words)?, vec![0; words].into()])
}

/// Runs `body` on each of [`THREADS`] threads.
fn on_threads<R: Send>(body: impl Fn(usize) -> Result<R> + Sync) -> Result<Vec<R>> {
    thread::scope(|threads| {
        let body = &body;
        let all: Vec<_> = (0..THREADS)
            .map(|number| threads.spawn(move || body(number)))
            .collect();
        all.into_iter()
            .map(|one| one.join().expect("no panic"))
            .collect()
    })
}

/// The threads of all ranks take each number of a counter once, in one epoch that they share.
#[test]
fn threads_share_an_epoch_of_all_targets() {
    const EACH: usize = 100;
    for [name, value] in WINDOW_PATHS {
        for ranks in [1, 2, 3] {
            Job::of(ranks).with(name, value).succeed(|world| {
                let comm = world.comm().share()?;
                for memory in memories(&comm, 8)? {
                    let window = comm.passive_window(memory)?;
                    let target = comm.size() - 1;
                    let mut taken = vec![0u8; EACH * THREADS * comm.size()];
                    let numbers = window.lock_all(|epoch| {
                        on_threads(|_| {
                            (0..EACH)
                                .map(|_| epoch.fetch(&1, Op::SUM, target, 3))
                                .collect::<Result<Vec<_>>>()
                        })
                    })?;
                    numbers
                        .into_iter()
                        .flatten()
                        .for_each(|number| taken[number as usize] += 1);
                    comm.allreduce_in_place(&mut taken, Op::SUM)?;
                    assert!(taken.iter().all(|&times| times == 1), "{taken:?}");
                    window.free()?;
                }
                Ok(())
            });
        }
    }
}

/// The threads of a rank put and get parts in an epoch of fences, and their buffers are filled when it ends.
#[test]
fn threads_share_an_epoch_of_fences() {
    const PART: usize = 3000;
    for [name, value] in WINDOW_PATHS {
        Job::of(3).with(name, value).succeed(|world| {
            let comm = world.comm().share()?;
            let (me, size) = (comm.rank(), comm.size());
            let (left, right) = ((me + size - 1) % size, (me + 1) % size);
            for memory in memories(&comm, THREADS * PART)? {
                let mut window = comm.active_window(memory)?;
                window.fence(|epoch| {
                    on_threads(|number| {
                        epoch.put(
                            &[(me * THREADS + number) as u64; PART],
                            right,
                            number * PART,
                        )
                    })
                })?;
                let parts = window.local().chunks(PART).enumerate();
                for (number, part) in parts {
                    assert!(
                        part.iter()
                            .all(|&word| word == (left * THREADS + number) as u64)
                    );
                }
                let mut read = vec![0; THREADS * PART];
                window.fence(|epoch| {
                    thread::scope(|threads| {
                        let parts = read.chunks_mut(PART).enumerate();
                        let all: Vec<_> = parts
                            .map(|(number, part)| {
                                threads.spawn(move || epoch.get(part, right, number * PART))
                            })
                            .collect();
                        all.into_iter()
                            .try_for_each(|one| one.join().expect("no panic"))
                    })
                })?;
                let expected = (0..THREADS * PART).map(|at| (me * THREADS + at / PART) as u64);
                assert!(read.into_iter().eq(expected), "what this rank has put");
                window.free()?;
            }
            Ok(())
        });
    }
}

/// Each thread locks another rank, adds to it alone, and may access no target but its own.
#[test]
fn threads_lock_a_target_each() {
    const ROUNDS: u64 = 50;
    for [name, value] in WINDOW_PATHS {
        Job::of(4).with(name, value).succeed(|world| {
            let comm = world.comm().share()?;
            let (me, size) = (comm.rank(), comm.size());
            for memory in memories(&comm, 2)? {
                let mut window = comm.passive_window(memory)?;
                on_threads(|number| {
                    let target = (me + number) % size;
                    for _ in 0..ROUNDS {
                        window.lock(target, LockKind::Exclusive, |epoch| {
                            let value = epoch.load(target, 1)?;
                            epoch.put(&[value + 1], target, 1)?;
                            let other = epoch.put(&[1], (target + 1) % size, 1);
                            let class = other.expect_err("a target of another thread").class();
                            assert_eq!(class, ErrorClass::RmaSync);
                            Ok(())
                        })?;
                    }
                    Ok(())
                })?;
                comm.barrier()?;
                let value = window.with_local(|local| local[1])?;
                assert_eq!(value, ROUNDS * size as u64);
                window.free()?;
            }
            Ok(())
        });
    }
}

/// Threads put, add and flush in a window of bytes; the landing has what the last one got.
#[test]
fn threads_flush_a_window_of_bytes() {
    for [name, value] in WINDOW_PATHS {
        Job::of(2).with(name, value).succeed(|world| {
            let comm = world.comm().share()?;
            let target = 1 - comm.rank();
            let mut window = comm.byte_window(comm.alloc(4096)?, comm.alloc(4096)?)?;
            window.lock_all()?;
            on_threads(|number| {
                let at = 512 * number;
                for round in 0..100u8 {
                    window.put(&[round; 256], target, at)?;
                    window.accumulate(&[1u64; 8], Op::SUM, target, at + 256)?;
                    window.flush(target)?;
                    window.get(at..at + 512, target, at)?;
                }
                window.flush_local(target)
            })?;
            let landing = window.landing()?;
            for part in landing.chunks(512).take(THREADS) {
                assert_eq!(part[..256], [99; 256]);
                assert_eq!(part[256..264], 100u64.to_ne_bytes());
            }
            window.unlock_all()?;
            window.free().map(drop)
        });
    }
}

/// Threads that begin their accesses to a target at the same time have one lock of it, while another rank wants it alone.
#[test]
fn threads_that_access_a_target_first_take_one_lock() {
    const ROUNDS: usize = 300;
    for [name, value] in WINDOW_PATHS {
        Job::of(2).with(name, value).succeed(|world| {
            let comm = world.comm().share()?;
            let window = comm.passive_window(comm.alloc::<u64>(2)?)?;
            for _ in 0..ROUNDS {
                window.lock_all(|epoch| on_threads(|_| epoch.accumulate(&[1], Op::SUM, 0, 0)))?;
                window.lock(0, LockKind::Exclusive, |epoch| {
                    let value = epoch.load(0, 1)?;
                    epoch.put(&[value + 1], 0, 1)
                })?;
            }
            comm.barrier()?;
            if comm.rank() == 0 {
                let has = window.lock_all(|epoch| Ok([epoch.load(0, 0)?, epoch.load(0, 1)?]))?;
                assert_eq!(has, [(2 * ROUNDS * THREADS) as u64, 2 * ROUNDS as u64]);
            }
            comm.barrier()?;
            window.free().map(drop)
        });
    }
}

/// Of threads that want one target's lock at once one has it, and the others are refused, while another rank wants it, too.
#[test]
fn threads_that_want_one_lock_are_refused_or_have_it() {
    const ROUNDS: usize = 200;
    for [name, value] in WINDOW_PATHS {
        Job::of(3).with(name, value).succeed(|world| {
            let comm = world.comm().share()?;
            for memory in memories(&comm, 2)? {
                let window = comm.passive_window(memory)?;
                let had = on_threads(|_| {
                    let mut had = 0;
                    for _ in 0..ROUNDS {
                        let added = window.lock(0, LockKind::Exclusive, |epoch| {
                            let value = epoch.load(0, 1)?;
                            epoch.put(&[value + 1], 0, 1)
                        });
                        match added {
                            Ok(()) => had += 1,
                            Err(error) => assert_eq!(error.class(), ErrorClass::RmaSync, "{error}"),
                        }
                    }
                    Ok(had)
                })?;
                let mut all = [had.iter().sum::<u64>()];
                comm.allreduce_in_place(&mut all, Op::SUM)?;
                let has = window.lock(0, LockKind::Shared, |epoch| epoch.load(0, 1))?;
                assert_eq!(has, all[0]);
                comm.barrier()?;
                window.free()?;
            }
            Ok(())
        });
    }
}

/// A thread whose access has no memory gets the error itself, and no other thread does.
#[test]
fn each_thread_has_the_errors_of_its_own_accesses() {
    const ROUNDS: usize = 300;
    for [name, value] in WINDOW_PATHS {
        Job::of(2).with(name, value).succeed(|world| {
            let comm = world.comm().share()?;
            let window = comm.dynamic_window()?;
            let attached = window.attach(comm.alloc::<u64>(1)?)?;
            let address = comm.bcast(attached.address(), 1)?;
            if comm.rank() == 0 {
                let epoch = window.lock_all(|epoch| {
                    on_threads(|number| {
                        for _ in 0..ROUNDS {
                            let at = [address, address - 8][number % 2];
                            let fetched = epoch.fetch(&1u64, Op::SUM, 1, at);
                            let class = fetched.err().map(|error| error.class());
                            let expected = [None, Some(ErrorClass::RmaRange)][number % 2];
                            assert_eq!(class, expected, "thread {number}");
                        }
                        Ok(())
                    })
                });
                epoch?;
            }
            comm.barrier()?;
            assert!(comm.rank() == 0 || attached.detach()?[0] == (ROUNDS * THREADS / 2) as u64);
            comm.barrier()?;
            window.free()
        });
    }
}
