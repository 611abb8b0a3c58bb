//! Tests of wrong calls: each returns an error that says what is wrong, and the job continues.

use oxmpi::{Error, MAX_TAG, Op, Request, Result, Source, Tag, World};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::job::Job;

/// The error of `result`, as text.
fn text<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn unknown_ranks_and_tags_are_refused() {
    for ranks in [1, 3] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (me, size) = (comm.rank(), comm.size());
            let named = |rank: usize| {
                format!(
                    "rank {me} named rank {rank}, but the communicator has ranks 0 to {}",
                    size - 1
                )
            };
            for wrong in [size, usize::MAX, u32::MAX as usize] {
                let mut room = [0u8; 1];
                assert_eq!(text(comm.send(&[0u8], wrong, 1)), named(wrong));
                assert_eq!(text(comm.bsend(&[0u8], wrong, 1)), named(wrong));
                assert_eq!(text(comm.recv(&mut room, wrong, 1)), named(wrong));
                assert_eq!(text(comm.probe(wrong, 1)), named(wrong));
                assert_eq!(text(comm.improbe(wrong, 1)), named(wrong));
                assert_eq!(text(comm.irecv_owned::<u8>(1, wrong, 1)), named(wrong));
                assert_eq!(text(comm.bcast_into(&mut room, wrong)), named(wrong));
                assert_eq!(text(comm.reduce(&1, Op::SUM, wrong)), named(wrong));
                let started = comm.scope(|s| s.isend(&[0u8], wrong, 1).map(drop));
                assert_eq!(text(started), named(wrong));
            }
            let tag = MAX_TAG + 1;
            let tagged = format!("rank {me} used tag {tag}, but the largest tag is {MAX_TAG}");
            assert_eq!(text(comm.send(&[0u8], me, tag)), tagged);
            assert_eq!(text(comm.recv(&mut [0u8], me, tag)), tagged);
            comm.send(&[1u8], me, MAX_TAG)?;
            assert_eq!(comm.recv_vec::<u8>(me, MAX_TAG)?.0, [1]);
            comm.barrier()
        });
    }
}

#[test]
fn wrong_operations_and_lengths_are_refused() {
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        let mut result = [0.0f64; 3];
        let error = comm.allreduce(&1.5, Op::BXOR);
        assert_eq!(text(error), "the operation BXOR does not exist for f64");
        let error = text(comm.allreduce_into(&[1.0; 4], &mut result, Op::SUM));
        assert!(
            error.contains("the result has 3 elements, it needs 4"),
            "{error}"
        );
        comm.barrier()
    });
}

/// Ranks that call a collective with different lengths get an error.
#[test]
fn a_collective_with_different_lengths_is_an_error() {
    let done = Job::of(2).run(|| -> Result<()> {
        let world = World::init()?;
        let comm = world.comm();
        let mut values = vec![1u32; 4 + comm.rank()];
        comm.allreduce_in_place(&mut values, Op::SUM)
    });
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.err.contains("Error: "), "{}", done.err);
}

/// A receive buffer larger than any memory is refused with its size.
#[test]
fn a_buffer_beyond_all_memory_is_refused_with_its_size() {
    Job::of(1).succeed(|world| {
        let refused = text(world.comm().irecv_owned::<u64>(1 << 60, 0, 1));
        assert_eq!(
            refused,
            "rank 0 has no memory for a message of 9223372036854775808 bytes"
        );
        Ok(())
    });
}

/// Rank 0 has no descriptor left for the agreement in `share`. All ranks get an error, and none waits for
/// rank 0.
#[test]
fn an_agreement_that_fails_on_one_rank_fails_on_all() {
    Job::of(4).succeed(|world| {
        let comm = world.comm();
        let limit = getrlimit(Resource::Nofile);
        if comm.rank() == 0 {
            let current = Some(3);
            setrlimit(Resource::Nofile, Rlimit { current, ..limit }).expect("it may be lowered");
        }
        let said = text(comm.share());
        setrlimit(Resource::Nofile, limit).expect("it may be raised as far as before");
        let says = match comm.rank() {
            0 => "Too many open files",
            _ => "the part of rank 0 failed",
        };
        assert!(said.contains(says), "{said}");
        Ok(())
    });
}

/// A receive of a rank from itself fails when it has sent nothing, and gets a message that it has sent.
#[test]
fn a_receive_from_itself_without_a_send_is_an_error() {
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        let rank = comm.rank();
        let nobody = text::<()>(Err(Error::NoSender { rank }));
        let mut room = [0u8; 1];
        assert_eq!(text(comm.recv(&mut room, rank, 1)), nobody);
        assert_eq!(text(comm.probe(rank, Tag::Any)), nobody);
        let waited = comm.scope(|s| s.irecv(&mut room, rank, 1)?.wait().map(drop));
        assert_eq!(text(waited), nobody);
        let mut rooms = [[0u8; 1]; 2];
        let waited = comm.scope(|s| {
            let receives = rooms.iter_mut().map(|room| s.irecv(room, rank, 1));
            let mut receives = receives.collect::<Result<Vec<_>>>()?;
            Request::wait_any(&mut receives).map(drop)
        });
        assert_eq!(text(waited), nobody);
        comm.bsend(&vec![7u8; 100_000], rank, 2)?;
        assert_eq!(comm.recv_vec::<u8>(rank, 2)?.0.len(), 100_000);
        comm.barrier()
    });
}

/// A wait for any rank returns an error when all other ranks of the communicator have left, also while other
/// ranks of the job remain.
#[test]
fn a_receive_from_any_rank_is_an_error_when_all_have_left() {
    Job::of(3).succeed(|world| {
        let pair = world
            .comm()
            .split(Some((world.comm().rank() / 2) as u32), 0)?;
        match (world.comm().rank(), pair) {
            (0, Some(pair)) => {
                let deserted = text::<()>(Err(Error::NoSender { rank: 0 }));
                let mut room = [0u8; 1];
                assert_eq!(text(pair.recv(&mut room, Source::Any, 1)), deserted);
                assert_eq!(text(pair.probe(Source::Any, 1)), deserted);
                assert_eq!(text(pair.recv_vec::<u8>(Source::Any, 1)), deserted);
                let waited = pair.scope(|s| s.irecv(&mut room, Source::Any, 1)?.wait().map(drop));
                assert_eq!(text(waited), deserted);
                let owned = pair.irecv_owned::<u8>(1, Source::Any, 1)?;
                pair.bsend(&[5u8], 0, 1)?;
                assert_eq!(owned.wait()?.0, [5]);
                world.comm().send(&[1u8], 2, 1)
            }
            (2, _) => world.comm().recv(&mut [0u8], 0, 1).map(drop),
            _ => Ok(()),
        }
    });
}

#[test]
fn a_second_init_is_an_error() {
    for ranks in [1, 2] {
        Job::of(ranks).succeed(|world| {
            let again = World::init().expect_err("it has joined");
            assert!(matches!(again, Error::SecondInit), "{again}");
            world.comm().barrier()
        });
    }
}

/// Calls on a communicator that outlives its world return errors.
#[test]
fn calls_after_finalize_are_errors() {
    for ranks in [1, 2] {
        let done = Job::of(ranks).run(|| {
            let world = World::init()?;
            let comm = world.comm().dup()?;
            let peer = comm.size() - 1 - comm.rank();
            drop(world);
            let ended = text::<()>(Err(Error::Finalized));
            assert_eq!(text(comm.send(&[1u8], peer, 1)), ended);
            assert_eq!(text(comm.recv(&mut [1u8], peer, 1)), ended);
            assert_eq!(text(comm.probe(Source::Any, 1)), ended);
            assert_eq!(text(comm.iprobe(Source::Any, 1)), ended);
            assert_eq!(text(comm.barrier()), ended);
            assert_eq!(text(comm.dup()), ended);
            assert_eq!(text(comm.split(Some(1), 0)), ended);
            assert_eq!(text(comm.share()), ended);
            assert_eq!(text(comm.scope(|_| Ok(()))), "no error");
            assert_eq!(text(World::init()), text::<()>(Err(Error::SecondInit)));
            Ok::<_, Error>(())
        });
        assert_eq!(done.code, 0, "{}", done.err);
    }
}

/// Requests on a communicator that outlives its world complete with an error when the world is dropped.
#[test]
fn requests_complete_when_the_world_is_dropped() {
    for ranks in [1, 2] {
        let done = Job::of(ranks).run(|| {
            let world = World::init()?;
            let comm = world.comm().dup()?;
            let peer = comm.size() - 1 - comm.rank();
            let long = vec![1u8; 300_000];
            let mut room = [0u8; 8];
            comm.scope(|s| {
                let send = s.issend(&long, peer, 1)?;
                let receive = s.irecv(&mut room, peer, 2)?;
                let owned = comm.irecv_owned::<u8>(4, peer, 3)?;
                drop(world);
                let ended = text::<()>(Err(Error::Finalized));
                assert_eq!(text(receive.wait()), ended);
                assert_eq!(text(owned.wait()), ended);
                // The send has completed, with or without an error: the receiver has discarded it, or has
                // left.
                let _ = send.wait();
                Ok(())
            })
        });
        assert_eq!(done.code, 0, "{}", done.err);
    }
}
