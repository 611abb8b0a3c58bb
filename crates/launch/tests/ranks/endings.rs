//! Tests of ranks that end early: by finalize, an error, a panic, or exit.

use std::path::Path;

use oxmpi::{Error, Op, Result, Source, Tag, World};

use crate::job::Job;

/// Whether the call failed because rank `lost` has left the job.
fn failed_as_it_left<T>(result: Result<T>, lost: usize) -> bool {
    match result {
        Err(error @ Error::Peer { peer, .. }) => {
            peer == lost && error.to_string().ends_with("the peer has left the job")
        }
        _ => false,
    }
}

/// Rank 1 finalizes. Ranks that wait for it, or call it later, get an error.
#[test]
fn waiting_for_a_rank_that_left_is_an_error() {
    for ranks in [2, 4] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            if comm.rank() == 1 {
                // The other ranks still receive what rank 1 sent before it left.
                return (0..comm.size()).try_for_each(|to| comm.send(&[1u8], to, 1));
            }
            let long = vec![0u8; 300_000];
            let mut room = [0u8; 8];
            assert!(
                failed_as_it_left(comm.recv(&mut room, 1, 2), 1),
                "a receive"
            );
            assert_eq!(comm.recv_vec::<u8>(1, 1)?.0, [1]);
            assert!(
                failed_as_it_left(comm.recv(&mut room, 1, 2), 1),
                "a receive, later"
            );
            assert!(failed_as_it_left(comm.probe(1, Tag::Any), 1), "a probe");
            assert!(failed_as_it_left(comm.send(&long, 1, 2), 1), "a send");
            assert!(failed_as_it_left(
                comm.scope(|s| s.irecv(&mut room, 1, 2)?.wait().map(drop)),
                1
            ));
            Ok(())
        });
    }
}

/// A rank gets an error when its peer leaves during a send, a collective, a receive or a probe.
#[test]
fn a_transfer_in_flight_with_a_lost_rank_is_an_error() {
    for call in ["ssend", "send", "barrier", "allreduce", "any", "probe"] {
        let done = Job::of(2).with("CALL", call).run(|| {
            let world = World::init()?;
            let comm = world.comm();
            if comm.rank() == 1 {
                // Rank 0 has begun its call, or begins it after this rank has left.
                comm.probe(0, 9)?;
                return Ok(());
            }
            comm.send(&[1u8], 1, 9)?;
            let call = std::env::var("CALL").expect("set");
            match call.as_str() {
                "ssend" => comm.ssend(&[1u8], 1, 2),
                "send" => comm.send(&[1u8; 300_000], 1, 2),
                "barrier" => comm.barrier(),
                "allreduce" => comm.allreduce(&[1u64; 1000], Op::SUM).map(drop),
                "any" => comm.recv(&mut [0u8], Source::Any, 1).map(drop),
                _ => comm.probe(Source::Any, 1).map(drop),
            }
        });
        assert_eq!(done.code, 1, "{call}: {}", done.err);
        let says = done.err.contains("Error: rank 0") && done.err.contains("left the job");
        assert!(says, "{call}: {}", done.err);
    }
}

/// Rank 2 returns an error from `main`: its `World` is dropped, its exit code is 1, the launcher names it,
/// and the ranks that wait for it do not hang.
#[test]
fn a_rank_that_returns_an_error_ends_the_job() {
    let done = Job::of(4).run(|| {
        let world = World::init()?;
        let comm = world.comm();
        if comm.rank() == 2 {
            comm.send(&[0u8], 17, 1)?;
        }
        let received = comm.recv(&mut [0u8], 2, 1);
        let Err(Error::Peer { pid: Some(pid), .. }) = received else {
            panic!("{received:?}");
        };
        // The other ranks end after rank 2: otherwise the launcher could end rank 2 before it has printed its
        // error.
        let process = format!("/proc/{pid}");
        while Path::new(&process).exists() {
            std::thread::yield_now();
        }
        received.map(drop)
    });
    assert_eq!(done.code, 1, "{}", done.err);
    let says = "Error: rank 2 named rank 17, but the communicator has ranks 0 to 3\n";
    assert!(done.err.contains(says), "{}", done.err);
    assert!(done.err.contains("exited with code 1"), "{}", done.err);
}

#[test]
fn a_rank_that_panics_ends_the_job() {
    let done = Job::of(3).run(|| {
        let world = World::init()?;
        assert_ne!(world.comm().rank(), 1, "rank 1 has had enough");
        world.comm().barrier()
    });
    assert_eq!(done.code, 101, "{}", done.err);
    assert!(done.err.contains("rank 1 has had enough"), "{}", done.err);
    let named = done.err.contains("oxmpi: rank 1 on ");
    assert!(
        named && done.err.contains("called abort with code 101"),
        "{}",
        done.err
    );
}

#[test]
fn a_rank_that_aborts_ends_the_job() {
    let done = Job::of(3).run(|| {
        let world = World::init()?;
        if world.comm().rank() == 2 {
            world.abort(42);
        }
        world.comm().barrier()
    });
    assert_eq!(done.code, 42, "{}", done.err);
    let named = done.err.contains("oxmpi: rank 2 on ");
    assert!(
        named && done.err.contains("called abort with code 42"),
        "{}",
        done.err
    );
}

#[test]
fn a_rank_that_exits_without_leaving_is_named() {
    let done = Job::of(3).run(|| {
        let world = World::init()?;
        if world.comm().rank() == 1 {
            std::process::exit(0);
        }
        world.comm().barrier()
    });
    assert_ne!(done.code, 0, "{}", done.err);
    let named = done.err.contains("oxmpi: rank 1 on ");
    assert!(
        named && done.err.contains("without finalize"),
        "{}",
        done.err
    );
}

/// Rank 1 leaves before rank 0 has connected to it. Rank 0 gets an error from a receive from rank 1, and a
/// pending receive from any rank still gets the message of rank 2.
#[test]
fn a_rank_that_left_before_it_connected_blocks_no_message_of_others() {
    let marker = std::env::temp_dir().join(format!("oxmpi-left-{}", std::process::id()));
    let text = marker.to_str().expect("text");
    let done = Job::of(3).cyclic().with("MARKER", text).run(|| {
        let world = World::init()?;
        let marker = std::env::var_os("MARKER").expect("set");
        let comm = world.comm();
        match comm.rank() {
            1 => {
                world.finalize()?;
                std::fs::write(marker, "left").expect("a folder for temporary files");
                Ok(())
            }
            2 => {
                comm.recv(&mut [0u8], 0, 3)?;
                comm.send(&[7u8], 0, 3)
            }
            _ => {
                while !Path::new(&marker).exists() {
                    std::thread::yield_now();
                }
                let mut room = [0u8];
                comm.scope(|s| {
                    let any = s.irecv(&mut room, Source::Any, 3)?;
                    let received = comm.recv(&mut [0u8], 1, 4);
                    assert!(
                        matches!(received, Err(Error::Peer { peer: 1, .. })),
                        "{received:?}"
                    );
                    comm.send(&[0u8], 2, 3)?;
                    any.wait().map(drop)
                })?;
                assert_eq!(room, [7]);
                Ok(())
            }
        }
    });
    // A test that fails earlier leaves the file behind.
    let _ = std::fs::remove_file(&marker);
    assert_eq!(done.code, 0, "{done:?}");
}

/// Each rank finalizes without an error, also long before the others. (`World::finalize` returns errors that
/// dropping a `World` only prints.)
#[test]
fn ranks_leave_one_by_one() {
    for ranks in [1, 4, 8] {
        let done = Job::of(ranks).run(|| {
            let world = World::init()?;
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            if rank > 0 {
                // Each rank leaves after the rank before it has sent its last message.
                comm.recv(&mut [0u8; 1], rank - 1, 1)?;
            }
            if rank + 1 < size {
                comm.send(&[0u8], rank + 1, 1)?;
            }
            world.finalize()
        });
        assert_eq!((done.code, done.err.as_str()), (0, ""));
    }
}
