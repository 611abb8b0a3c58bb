//! Tests of communicators that threads share, and of endpoints of threads.

use std::thread;

use oxmpi::{Comm, Endpoint, Op, Result, SharedComm, Source};

use crate::job::Job;

/// Pairs of threads of two ranks exchange messages on one communicator, each pair with a tag of its own.
#[test]
fn pairs_of_threads_exchange_messages() {
    Job::of(2).succeed(|world| {
        let comm = world.comm().share()?;
        assert_eq!((comm.rank(), comm.size()), (world.comm().rank(), 2));
        thread::scope(|threads| {
            let all: Vec<_> = (0..4)
                .map(|tag| {
                    threads.spawn({
                        let comm = &comm;
                        move || ping_pong(comm, tag)
                    })
                })
                .collect();
            all.into_iter()
                .try_for_each(|one| one.join().expect("no panic"))
        })?;
        comm.barrier()
    });
}

fn ping_pong(comm: &SharedComm, tag: u32) -> Result<()> {
    let peer = 1 - comm.rank();
    for round in 0..60u32 {
        let len = if round % 20 == 19 {
            100_000
        } else {
            round as usize
        };
        let message = vec![round * 4 + tag; len];
        if comm.rank() == 0 {
            comm.send(&message, peer, tag)?;
        }
        let mut room = vec![0; len];
        let status = comm.recv(&mut room, Source::Any, tag)?;
        assert_eq!((status.tag, status.count::<u32>()), (tag, Some(len as u64)));
        assert!(room == message, "round {round}, tag {tag}");
        if comm.rank() == 1 {
            comm.send(&message, peer, tag)?;
        }
    }
    Ok(())
}

/// Threads run collectives, scopes and owned requests at the same time, each on a communicator of its own.
#[test]
fn threads_run_collectives_at_once() {
    for ranks in [1, 3] {
        Job::of(ranks).succeed(|world| {
            let shared = world.comm().share()?;
            let copies = [shared.dup()?, shared.dup()?, shared.dup()?];
            thread::scope(|threads| {
                let all = copies.each_ref().map(|comm| {
                    threads.spawn(move || -> Result<()> {
                        let (rank, size) = (comm.rank(), comm.size());
                        let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
                        for round in 0..30u64 {
                            let sum = comm.allreduce(&(round + rank as u64), Op::SUM)?;
                            let ranks = size as u64;
                            assert_eq!(sum, round * ranks + ranks * (ranks - 1) / 2);
                            let mine = vec![round; 10_000];
                            let mut room = vec![0; 10_000];
                            comm.scope(|s| {
                                s.irecv(&mut room, left, 1)?;
                                s.isend(&mine, right, 1).map(drop)
                            })?;
                            assert!(room == mine);
                            let send = comm.isend_owned(mine, right, 2)?;
                            assert_eq!(comm.recv_vec::<u64>(left, 2)?.0, room);
                            send.wait()?;
                        }
                        Ok(())
                    })
                });
                all.into_iter()
                    .try_for_each(|one| one.join().expect("no panic"))
            })
        });
    }
}

/// A rank that blocks on one endpoint progresses its pending sends on another.
#[test]
fn a_blocking_call_progresses_every_endpoint() {
    Job::of(2).succeed(|world| {
        let (comm, shared) = (world.comm(), world.comm().share()?);
        let long = vec![3u8; 500_000];
        let peer = 1 - comm.rank();
        if comm.rank() == 0 {
            let send = shared.isend_owned(long.clone(), peer, 1)?;
            comm.recv_vec::<u8>(peer, 2)?;
            send.wait()?;
            comm.bsend(&long, peer, 3)?;
            shared.recv_vec::<u8>(peer, 4)?;
            let send = shared.isend_owned(long, peer, 5)?;
            comm.barrier()?;
            send.wait().map(drop)
        } else {
            assert!(shared.recv_vec::<u8>(peer, 1)?.0 == long);
            comm.send(&[1u8], peer, 2)?;
            assert!(comm.recv_vec::<u8>(peer, 3)?.0 == long);
            shared.send(&[1u8], peer, 4)?;
            assert!(shared.recv_vec::<u8>(peer, 5)?.0 == long);
            comm.barrier()
        }
    });
}

/// A shared communicator progresses while another thread of the rank waits on the world's communicator.
#[test]
fn a_shared_endpoint_progresses_while_another_thread_waits() {
    Job::of(2).succeed(|world| {
        let shared = world.comm().share()?;
        let peer = 1 - shared.rank();
        thread::scope(|threads| {
            let other = threads.spawn(|| -> Result<()> {
                for tag in 0..20 {
                    let mine = vec![tag as u8; 100_000];
                    let mut room = vec![0u8; 100_000];
                    let status = shared.sendrecv(&mine, peer, tag, &mut room, peer, tag)?;
                    assert!(status.bytes == 100_000 && room == mine);
                }
                shared.send(&[1u8], peer, 50)?;
                shared.recv_vec::<u8>(peer, 50).map(drop)
            });
            if world.comm().rank() == 0 {
                world.comm().recv_vec::<u8>(peer, 1)?;
            }
            let joined = other.join().expect("no panic");
            if world.comm().rank() == 1 {
                world.comm().send(&[1u8], peer, 1)?;
            }
            joined
        })
    });
}

/// Calls on a shared communicator that outlives its world return errors.
#[test]
fn a_shared_communicator_that_outlives_its_world_returns_errors() {
    for ranks in [1, 2] {
        let done = Job::of(ranks).run(|| {
            let world = oxmpi::World::init()?;
            let shared = world.comm().share()?;
            drop(world);
            let error = shared.barrier().expect_err("the world has ended");
            assert!(matches!(error, oxmpi::Error::Finalized), "{error}");
            Ok::<_, oxmpi::Error>(())
        });
        assert_eq!(done.code, 0, "{}", done.err);
    }
}

/// Exchanges messages around the ring and calls allreduce, `rounds` times.
fn around(comm: &Comm, rounds: usize) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
    for round in 0..rounds {
        let len = [1, 9, 2_000, 40_000][round % 4];
        let mine = vec![(rank * 1_000 + round) as u64; len];
        let mut room = vec![0; len];
        comm.sendrecv(&mine, right, 3, &mut room, left, 3)?;
        assert!(
            room == vec![(left * 1_000 + round) as u64; len],
            "round {round}"
        );
        let sum = comm.allreduce(&(rank + round), Op::SUM)?;
        assert_eq!(sum, size * round + size * (size - 1) / 2);
    }
    comm.barrier()
}

/// Threads exchange messages at the same time, each on its own endpoint; the first thread has the world's
/// endpoint.
#[test]
fn threads_use_endpoints_at_once() {
    for ranks in [1, 2, 3] {
        Job::of(ranks).succeed(|world| {
            let endpoints = [world.comm().endpoint()?, world.comm().endpoint()?];
            thread::scope(|threads| {
                let all =
                    endpoints.map(|endpoint| threads.spawn(move || around(&endpoint.open(), 40)));
                around(world.comm(), 40)?;
                all.into_iter()
                    .try_for_each(|one| one.join().expect("no panic"))
            })
        });
    }
}

/// Endpoints are made of a part of the ranks, of a shared communicator and of another endpoint, and are
/// opened at once, later or never.
#[test]
fn endpoints_are_opened_and_dropped_at_any_time() {
    Job::of(3).succeed(|world| {
        let comm = world.comm();
        for round in 0..12 {
            let unopened = comm.endpoint()?;
            let part = comm.split(Some(u32::from(comm.rank() == round % 3)), 0)?;
            let part = part.expect("every rank has a colour");
            around(&part.endpoint()?.open(), 2)?;
            let endpoint = comm.endpoint()?.open();
            let of_endpoint = endpoint.dup()?.endpoint()?;
            drop(endpoint);
            around(&of_endpoint.open(), 2)?;
            around(&comm.share()?.endpoint()?.open(), 2)?;
            drop(unopened);
        }
        comm.barrier()
    });
}

/// A thread that waits on one endpoint progresses its pending sends on its other endpoints.
#[test]
fn a_thread_progresses_all_its_endpoints() {
    Job::of(2).succeed(|world| {
        let endpoints: [Endpoint; 3] = [
            world.comm().endpoint()?,
            world.comm().endpoint()?,
            world.comm().endpoint()?,
        ];
        thread::spawn(move || {
            let comms = endpoints.map(Endpoint::open);
            let peer = 1 - comms[0].rank();
            let long = vec![5u8; 400_000];
            for (one, other) in [(0, 1), (1, 2), (2, 0), (2, 1)] {
                let (one, other) = (&comms[one], &comms[other]);
                if one.rank() == 0 {
                    let send = one.isend_owned(long.clone(), peer, 1)?;
                    other.recv_vec::<u8>(peer, 2)?;
                    send.wait()?;
                    other.barrier()?;
                } else {
                    assert!(one.recv_vec::<u8>(peer, 1)?.0 == long);
                    other.send(&[1u8], peer, 2)?;
                    other.barrier()?;
                }
            }
            Ok(())
        })
        .join()
        .expect("no panic")
    });
}
