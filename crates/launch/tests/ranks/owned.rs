//! Tests of requests that own their buffers: they are waited for, dropped or forgotten.

use std::mem::forget;
use std::thread;

use oxmpi::{Error, Result, Source, World};

use crate::job::{Job, SIZES};

const LENGTHS: [usize; 4] = [0, 10, 8193, 300_000];

#[test]
fn owned_requests_return_their_vectors() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
            for len in LENGTHS {
                let receive = comm.irecv_owned::<u16>(len + 5, left, 1)?;
                let send = comm.isend_owned(vec![rank as u16; len], right, 1)?;
                while !receive.is_done()? {}
                let (got, status) = receive.wait()?;
                assert_eq!((got, status.source), (vec![left as u16; len], left));
                assert_eq!(send.wait()?.0, vec![rank as u16; len]);
            }
            Ok(())
        });
    }
}

/// A send continues after its handle is dropped or forgotten, also after the world is dropped.
#[test]
fn sends_outlive_their_handles() {
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        let peer = 1 - comm.rank();
        for len in LENGTHS {
            drop(comm.isend_owned(vec![1u8; len], peer, 1)?);
            forget(comm.isend_owned(vec![2u8; len], peer, 2)?);
        }
        for len in LENGTHS {
            assert_eq!(comm.recv_vec::<u8>(peer, 2)?.0, vec![2; len]);
            assert_eq!(comm.recv_vec::<u8>(peer, 1)?.0, vec![1; len]);
        }
        comm.bsend(&[3u8; 300_000], peer, 3)?;
        if comm.rank() == 0 {
            assert_eq!(comm.recv_vec::<u8>(peer, 3)?.0, [3; 300_000]);
        } else {
            assert_eq!(comm.recv_vec::<u8>(Source::Any, 3)?.0, [3; 300_000]);
        }
        Ok(())
    });
}

/// A receive whose handle is dropped or forgotten takes its message. A receive without a message does not
/// keep the job from ending.
#[test]
fn receives_outlive_their_handles() {
    for ranks in [1, 2] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let peer = comm.size() - 1 - comm.rank();
            for len in LENGTHS {
                drop(comm.irecv_owned::<u8>(len, peer, 1)?);
                forget(comm.irecv_owned::<u8>(len, peer, 2)?);
                for tag in [1, 2] {
                    comm.bsend(&vec![1u8; len], peer, tag)?;
                    comm.bsend(&[tag], peer, tag)?;
                    assert_eq!(comm.recv_vec::<u32>(peer, tag)?.0, [tag], "the next one");
                }
            }
            comm.barrier()?;
            drop(comm.irecv_owned::<u8>(1, peer, 8)?);
            drop(comm.irecv_owned::<u8>(1, Source::Any, 8)?);
            forget(comm.irecv_owned::<u8>(1, peer, 9)?);
            Ok(())
        });
    }
}

/// Buffered messages without a receive do not keep the job from ending.
#[test]
fn a_job_ends_with_buffered_messages_not_received() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            for len in LENGTHS {
                for to in 0..comm.size() {
                    comm.bsend(&vec![1u8; len], to, 1)?;
                }
            }
            Ok(())
        });
    }
}

/// A rank progresses its pending sends while it waits for the others in `share`.
#[test]
fn pending_sends_progress_in_share() {
    Job::of(3).succeed(|world| {
        let comm = world.comm();
        if comm.rank() == 0 {
            comm.bsend(&[7u8; 300_000], 1, 1)?;
        } else if comm.rank() == 1 {
            assert_eq!(comm.recv_vec::<u8>(0, 1)?.0, [7; 300_000]);
        }
        comm.share()?.barrier()
    });
}

/// `finalize` progresses all endpoints: its peer still waits for a message on a shared one.
#[test]
fn finalize_progresses_shared_endpoints() {
    let done = Job::of(2).run(|| -> Result<()> {
        let world = World::init()?;
        let shared = world.comm().share()?;
        if world.comm().rank() == 0 {
            world.comm().bsend(&[1u8; 300_000], 1, 1)?;
            shared.bsend(&[2u8; 300_000], 1, 1)?;
            return world.finalize();
        }
        thread::scope(|threads| {
            let receiving = threads.spawn(|| shared.recv_vec::<u8>(0, 1));
            receiving.join().expect("no panic")
        })?;
        world.comm().recv_vec::<u8>(0, 1).map(drop)
    });
    assert_eq!(done.code, 0, "{}", done.err);
}

/// A thread that panics with the only handle of a shared endpoint does not block other ranks.
#[test]
fn a_shared_endpoint_closes_when_its_thread_panics() {
    Job::of(2).succeed(|world| {
        let shared = world.comm().share()?;
        if world.comm().rank() == 1 {
            let got = shared.recv(&mut [0u8], 0, 1);
            assert!(matches!(got, Err(Error::Peer { peer: 0, .. })), "{got:?}");
            return world.comm().send(&[1u8], 0, 1);
        }
        let thread = thread::spawn(move || {
            let _shared = shared;
            panic!("as the test wants it");
        });
        assert!(thread.join().is_err());
        world.comm().recv(&mut [0u8], 1, 1).map(drop)
    });
}
