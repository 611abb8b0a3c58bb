//! Tests of persistent messages: they are prepared once, and run many times with the current content of
//! buffers.

use std::mem::forget;

use oxmpi::{Comm, Error, Persistent, Request, Result, Single, Source, Tag};

use crate::job::{Job, SIZES};

/// Message lengths: 0; below and above the size of a slot and of the eager limit.
const LENGTHS: [usize; 6] = [0, 1, 48, 8193, 65_537, 300_000];

/// Number of runs of each persistent message.
const RUNS: u8 = 6;

type SendInit = for<'c, 'b> fn(
    &'c Comm,
    &'b mut [u8],
    usize,
    u32,
) -> Result<Persistent<'c, &'b mut [u8], Single>>;

/// All modes. A ready send has its receive posted, as every rank posts receives first.
const MODES: [SendInit; 4] = [
    |comm, bytes, to, tag| comm.send_init(bytes, to, tag),
    |comm, bytes, to, tag| comm.ssend_init(bytes, to, tag),
    |comm, bytes, to, tag| comm.bsend_init(bytes, to, tag),
    |comm, bytes, to, tag| comm.rsend_init(bytes, to, tag),
];

/// Each rank sends to the right by all modes at once, with other bytes in each run.
#[test]
fn messages_of_every_mode_run_many_times() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
            for len in LENGTHS {
                let mut out = vec![vec![0u8; len]; MODES.len()];
                let mut rooms = vec![vec![0u8; len + 3]; MODES.len()];
                let sends = (out.iter_mut().zip(MODES).zip(0..))
                    .map(|((bytes, init), tag)| init(comm, bytes, right, tag));
                let mut sends = sends.collect::<Result<Vec<_>>>()?;
                let receives = (rooms.iter_mut().zip(0u32..))
                    .map(|(room, tag)| comm.recv_init(room, left, tag));
                let mut receives = receives.collect::<Result<Vec<_>>>()?;
                for run in 0..RUNS {
                    for send in &mut sends {
                        send.buffers().fill(run ^ rank as u8);
                    }
                    comm.scope(|s| {
                        let receives = s.restart_all(&mut receives)?;
                        let sent = Request::wait_all(s.restart_all(&mut sends)?)?;
                        for (tag, (_, status)) in sent.iter().enumerate() {
                            let expected = (right, tag as u32, len as u64);
                            assert_eq!((status.source, status.tag, status.bytes), expected);
                        }
                        for (tag, (_, status)) in Request::wait_all(receives)?.iter().enumerate() {
                            let expected = (left, tag as u32, len as u64);
                            assert_eq!((status.source, status.tag, status.bytes), expected);
                        }
                        Ok(())
                    })?;
                    for receive in &mut receives {
                        let room = receive.buffers();
                        assert_eq!(room[..len], vec![run ^ left as u8; len], "run {run}");
                        assert_eq!(room[len..], [0; 3], "past the message's end");
                    }
                }
            }
            Ok(())
        });
    }
}

/// Two ranks exchange messages by blocking runs, the receiver by wildcards.
#[test]
fn runs_wait_as_blocking_calls_do() {
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        let peer = 1 - comm.rank();
        for len in LENGTHS {
            for (init, tag) in MODES.iter().zip(0..) {
                let (mut out, mut room) = (vec![0u8; len], vec![0u8; len]);
                let mut send = init(comm, &mut out, peer, tag)?;
                let mut receive = comm.recv_init(&mut room, Source::Any, Tag::Any)?;
                for run in 0..RUNS {
                    let status = if comm.rank() == 0 {
                        send.buffers().fill(run);
                        let sent = send.run()?;
                        assert_eq!((sent.source, sent.tag, sent.bytes), (peer, tag, len as u64));
                        receive.run()?
                    } else {
                        let status = receive.run()?;
                        assert_eq!(*receive.buffers(), vec![run; len]);
                        send.buffers().copy_from_slice(receive.buffers());
                        send.run()?;
                        status
                    };
                    assert_eq!(
                        (status.source, status.tag, status.bytes),
                        (peer, tag, len as u64)
                    );
                    assert_eq!(*receive.buffers(), vec![run; len]);
                }
            }
        }
        Ok(())
    });
}

/// A run that its scope cancels, or that fails, does not end the persistent message.
#[test]
fn messages_run_again_after_a_cancelled_or_failed_run() {
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        let peer = 1 - comm.rank();
        let mut room = [0u32; 2];
        let mut receive = comm.recv_init(&mut room, peer, 5)?;
        let left = comm.scope(|s| {
            s.restart(&mut receive)?;
            Err::<(), _>(Error::Contexts)
        });
        assert!(matches!(left, Err(Error::Contexts)));
        let cancelled = comm.scope(|s| Ok(s.restart(&mut receive)?.cancel()?.1));
        assert_eq!(cancelled?, None);
        comm.barrier()?;
        comm.bsend(&[1u32, 2, 3], peer, 5)?;
        let truncated = receive.run();
        assert!(matches!(
            truncated,
            Err(Error::Truncated {
                sent: 12,
                room: 8,
                ..
            })
        ));
        comm.bsend(&[4u32, 5], peer, 5)?;
        assert_eq!(receive.run()?.bytes, 8);
        assert_eq!(*receive.buffers(), [4, 5]);
        // Nothing is in progress, so nothing is kept from the buffer.
        forget(receive);
        room[0] = 6;
        assert_eq!(room, [6, 5]);
        comm.barrier()
    });
}

/// A rank or tag that does not exist is an error of the preparation; a long message of a rank to itself is one
/// of the run, as it is of a blocking send.
#[test]
fn wrong_messages_are_refused() {
    Job::of(2).succeed(|world| {
        let (comm, other) = (world.comm(), world.comm().dup()?);
        let (mut values, long) = ([0u64; 4], vec![0u8; 300_000]);
        for init in MODES {
            let bytes = &mut [0u8; 4];
            assert!(matches!(
                init(comm, bytes, 2, 0),
                Err(Error::Rank { named: 2, .. })
            ));
            assert!(matches!(
                init(comm, bytes, 0, u32::MAX),
                Err(Error::Tag { .. })
            ));
        }
        let wrong = comm.recv_init(&mut values, 3, 0);
        assert!(matches!(wrong, Err(Error::Rank { named: 3, .. })));
        let mut to_itself = comm.ssend_init(&long, comm.rank(), 4)?;
        assert!(matches!(
            to_itself.run(),
            Err(Error::SelfSend { tag: 4, .. })
        ));
        let mut from_itself = comm.recv_init(&mut values, comm.rank(), 4)?;
        assert!(matches!(from_itself.run(), Err(Error::NoSender { .. })));
        let foreign = other.scope(|s| s.restart(&mut from_itself).map(drop));
        assert!(matches!(foreign, Err(Error::Persistent { .. })));
        comm.barrier()
    });
}
