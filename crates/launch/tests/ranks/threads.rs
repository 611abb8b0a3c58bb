//! Communicators that threads share.

use std::thread;

use oxmpi::{Op, Result, SharedComm, Source};

use crate::job::Job;

/// Threads of two ranks talk in pairs, told apart by their tags.
#[test]
fn pairs_of_threads_talk() {
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
    for turn in 0..60u32 {
        let len = if turn % 20 == 19 {
            100_000
        } else {
            turn as usize
        };
        let message = vec![turn * 4 + tag; len];
        if comm.rank() == 0 {
            comm.send(&message, peer, tag)?;
        }
        let mut room = vec![0; len];
        let status = comm.recv(&mut room, Source::Any, tag)?;
        assert_eq!((status.tag, status.count::<u32>()), (tag, Some(len as u64)));
        assert!(room == message, "turn {turn}, tag {tag}");
        if comm.rank() == 1 {
            comm.send(&message, peer, tag)?;
        }
    }
    Ok(())
}

/// Each thread runs collectives on a communicator of its own, scopes and owned requests at once.
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
                        for turn in 0..30u64 {
                            let sum = comm.allreduce(&(turn + rank as u64), Op::SUM)?;
                            let ranks = size as u64;
                            assert_eq!(sum, turn * ranks + ranks * (ranks - 1) / 2);
                            let mine = vec![turn; 10_000];
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

/// A rank that blocks on one lane goes on with what it owes on another.
#[test]
fn a_blocking_call_drives_every_lane() {
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

/// One thread waits on the world while another one works on a shared communicator.
#[test]
fn a_shared_lane_moves_while_the_world_is_waited_for() {
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

/// A shared communicator may outlive its world, and is of no use then.
#[test]
fn a_shared_communicator_ends_with_the_world() {
    for ranks in [1, 2] {
        let done = Job::of(ranks).run(|| {
            let world = oxmpi::World::init()?;
            let shared = world.comm().share()?;
            drop(world);
            let error = shared.barrier().expect_err("the world has ended");
            assert!(matches!(error, oxmpi::Error::Ended), "{error}");
            Ok::<_, oxmpi::Error>(())
        });
        assert_eq!(done.code, 0, "{}", done.err);
    }
}
