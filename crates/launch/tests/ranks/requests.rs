//! Tests of requests: completion, cancellation and dropped requests.

#![allow(
    clippy::forget_non_drop,
    clippy::drop_non_drop,
    reason = "what is tested holds whether or not requests have a destructor"
)]

use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};

use oxmpi::{Error, Request, Result, Source, Tag, Test};

use crate::job::Job;

/// Length of a message whose sender waits for the receive (rendezvous).
const LONG: usize = 300_000;

/// `wait` and `test` of any, some and all requests, which complete in another order than they were started.
#[test]
fn requests_of_a_list_complete_in_any_order() {
    const COUNT: usize = 6;
    for (len, name) in [(4usize, "short"), (LONG, "long")] {
        Job::of(2).with("LENGTH", name).succeed(move |world| {
            let comm = world.comm();
            let len = match std::env::var("LENGTH").as_deref() {
                Ok("long") => LONG,
                _ => len,
            };
            for round in 0..6u32 {
                if comm.rank() == 1 {
                    // Rank 1 sends the last tag first, each message after rank 0 has asked for it.
                    for tag in (0..COUNT as u32).rev() {
                        let (_, status) = comm.recv_vec::<u8>(0, 100)?;
                        assert_eq!(status.bytes, 0);
                        comm.send(&vec![tag as u8; len], 0, tag)?;
                    }
                    continue;
                }
                let mut rooms = vec![vec![0xffu8; len]; COUNT];
                comm.scope(|s| {
                    let mut open = Vec::new();
                    for (room, tag) in rooms.iter_mut().zip(0..) {
                        open.push(s.irecv(room, 1, tag)?);
                    }
                    complete_all(round, open, || comm.send::<u8>(&[], 1, 100))
                })?;
                for (room, tag) in rooms.iter().zip(0..) {
                    assert!(
                        room.iter().all(|&byte| byte == tag),
                        "round {round}, tag {tag}"
                    );
                }
            }
            Ok(())
        });
    }
}

/// Completes the receives of `open` by the wait or test with number `call`. `ask` makes the peer send one
/// more message, with the largest tag that it has not sent.
fn complete_all<'s, 'e>(
    call: u32,
    mut open: Vec<Request<'s, 'e, &'e mut [u8], oxmpi::Single>>,
    ask: impl Fn() -> Result<()>,
) -> Result<()> {
    let count = open.len();
    if call < 2 {
        // The peer sends all messages at once.
        for _ in 0..count {
            ask()?;
        }
        let ended = if call == 0 {
            Request::wait_all(open)?
        } else {
            loop {
                match Request::test_all(open)? {
                    Test::Ready(ended) => break ended,
                    Test::Pending(again) => open = again,
                }
            }
        };
        let tags = ended.iter().map(|(_, status)| status.tag);
        assert!(tags.eq(0..count as u32), "in the order of the list");
        return Ok(());
    }
    let mut order = Vec::new();
    while !open.is_empty() {
        assert!(Request::test_any(&mut open)?.is_none(), "nothing was sent");
        assert!(
            Request::test_some(&mut open)?.is_empty(),
            "nothing was sent"
        );
        ask()?;
        let left = open.len();
        let ended = match call {
            2 => vec![Request::wait_any(&mut open)?.expect("the list is not empty")],
            3 => loop {
                if let Some(ended) = Request::test_any(&mut open)? {
                    break vec![ended];
                }
            },
            4 => Request::wait_some(&mut open)?,
            _ => loop {
                let ended = Request::test_some(&mut open)?;
                if !ended.is_empty() {
                    break ended;
                }
            },
        };
        assert_eq!((ended.len(), open.len()), (1, left - 1));
        for ended in ended {
            assert_eq!(ended.index, left - 1, "its place");
            order.push(ended.result?.1.tag);
        }
    }
    assert!(order.into_iter().eq((0..count as u32).rev()), "call {call}");
    assert!(Request::wait_any(&mut open)?.is_none(), "the list is empty");
    assert!(Request::wait_some(&mut open)?.is_empty());
    Ok(())
}

/// An operation that fails keeps no other one's result from the caller, and is named by its index.
#[test]
fn each_request_of_a_list_has_its_own_result() {
    /// The tags of messages that arrive, and the indexes of those that are too long.
    fn summary<'a>(
        results: impl IntoIterator<Item = &'a Result<(&'a mut [u8], oxmpi::Status)>>,
    ) -> Vec<Result<u32, u32>> {
        let tag = |result: &Result<(&mut [u8], oxmpi::Status)>| match result {
            Ok((bytes, status)) => {
                assert_eq!(bytes[0] as u32, status.tag);
                Ok(status.tag)
            }
            Err(Error::Truncated { tag, .. }) => Err(*tag),
            Err(other) => panic!("{other}"),
        };
        results.into_iter().map(tag).collect()
    }
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        if comm.rank() == 1 {
            for _ in 0..4 {
                // The messages with tags 0 and 2 are too long, the last is sent later.
                for (tag, len) in [(0, 9), (1, 8), (2, 9), (3, 1)] {
                    comm.send(&vec![tag as u8; len], 0, tag)?;
                }
                comm.send::<u8>(&[], 0, 9)?;
                comm.recv::<u8>(&mut [], 0, 9)?;
                comm.send(&[4u8], 0, 4)?;
            }
            return Ok(());
        }
        let expected = [Err(0), Ok(1), Err(2), Ok(3)];
        for round in 0..4 {
            let mut rooms = [[0xffu8; 8]; 5];
            comm.scope(|s| {
                let receives = rooms.iter_mut().zip(0..);
                let receives = receives.map(|(room, tag)| s.irecv(&mut room[..], 1, tag));
                let mut open = receives.collect::<Result<Vec<_>>>()?;
                comm.recv::<u8>(&mut [], 1, 9)?;
                let ask = || comm.send::<u8>(&[], 1, 9);
                if round < 2 {
                    let some = match round {
                        0 => Request::wait_some(&mut open)?,
                        _ => Request::test_some(&mut open)?,
                    };
                    let indexes: Vec<_> = some.iter().map(|ended| ended.index).collect();
                    assert_eq!(indexes, [0, 1, 2, 3]);
                    assert_eq!(summary(some.iter().map(|ended| &ended.result)), expected);
                    assert_eq!(open.len(), 1, "the last is open");
                    ask()?;
                    let last = Request::wait_any(&mut open)?.expect("one is left");
                    assert_eq!(summary([&last.result]), [Ok(4)]);
                    return Ok(());
                }
                ask()?;
                let each = match round {
                    2 => Request::wait_each(open),
                    _ => loop {
                        match Request::test_each(open)? {
                            Test::Ready(each) => break each,
                            Test::Pending(again) => open = again,
                        }
                    },
                };
                assert_eq!(summary(&each)[..4], expected);
                assert_eq!(summary(&each)[4], Ok(4));
                Ok(())
            })?;
        }
        Ok(())
    });
}

/// Sends and receives with different buffers are waited for in one list.
#[test]
fn sends_and_receives_fit_one_list() {
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        let peer = 1 - comm.rank();
        let (numbers, text) = ([comm.rank() as f64; 3], [b'a'; 5]);
        let (mut their_numbers, mut their_text) = ([0.0; 3], [0u8; 5]);
        comm.scope(|s| {
            let all = vec![
                s.irecv(&mut their_numbers, peer, 1)?.any(),
                s.irecv(&mut their_text, peer, 2)?.any(),
                s.isend(&numbers, peer, 1)?.any(),
                s.isend(&text, peer, 2)?.any(),
            ];
            let ended = Request::wait_all(all)?;
            let bytes: Vec<u64> = ended.iter().map(|(_, status)| status.bytes).collect();
            assert_eq!(bytes, [24, 5, 24, 5]);
            Ok(())
        })?;
        assert_eq!((their_numbers, their_text), ([peer as f64; 3], text));
        Ok(())
    });
}

/// A scope that returns `Ok` waits for requests whose handles were dropped or forgotten.
#[test]
fn a_scope_waits_for_dropped_and_forgotten_requests() {
    for ranks in [1, 2] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (me, peer) = (comm.rank(), comm.size() - 1 - comm.rank());
            for len in [3, LONG] {
                let mine = vec![me as u8 + 1; len];
                let mut dropped = vec![0; len];
                let mut forgotten = vec![0; len];
                comm.scope(|s| {
                    drop(s.irecv(&mut dropped, peer, 1)?);
                    forget(s.irecv(&mut forgotten, peer, 2)?);
                    forget(s.isend(&mine, peer, 2)?);
                    drop(s.issend(&mine, peer, 1)?);
                    Ok(())
                })?;
                let theirs = vec![peer as u8 + 1; len];
                assert!(dropped == theirs && forgotten == theirs, "length {len}");
            }
            Ok(())
        });
    }
}

/// A scope waits for pending requests whose handles were dropped, beside 1000 requests that have completed.
#[test]
fn a_scope_waits_for_pending_among_many_completed_requests() {
    Job::of(1).succeed(|world| {
        let comm = world.comm();
        let (mut early, mut rooms) = ([0u64; 3], vec![0u64; 1000]);
        comm.scope(|s| {
            // The handles are dropped; only the scope can complete these receives.
            for (room, tag) in early.chunks_mut(1).zip(0..) {
                s.irecv(room, 0, tag)?;
            }
            for (room, value) in rooms.chunks_mut(1).zip(1u64..) {
                let receive = s.irecv(room, 0, 100)?;
                let out = [value];
                comm.scope(|inner| inner.isend(&out, 0, 100)?.wait().map(drop))?;
                receive.wait()?;
            }
            (0..3).try_for_each(|tag| comm.send(&[u64::from(tag) + 7], 0, tag))
        })?;
        assert_eq!(early, [7, 8, 9]);
        assert!(rooms.iter().copied().eq(1..=1000));
        Ok(())
    });
}

/// A cancelled receive takes no message, and a cancelled send is not received. Cancelling a receive that has
/// matched returns its status.
#[test]
fn requests_are_cancelled_unless_they_have_matched() {
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        for len in [3, LONG] {
            let bytes = vec![5u8; len];
            let mut room = vec![0u8; len];
            if comm.rank() == 0 {
                comm.scope(|s| {
                    let (_, status) = s.irecv(&mut room, 1, 1)?.cancel()?;
                    assert_eq!(status, None, "nobody had sent");
                    let (_, status) = s.issend(&bytes, 1, 2)?.cancel()?;
                    assert_eq!(status, None, "nobody receives it");
                    // The peer now receives with that tag, and gets the message that follows the cancelled
                    // one.
                    comm.send(&[0u8], 1, 7)?;
                    comm.send(&[6u8], 1, 2)
                })?;
                comm.recv_vec::<u8>(1, 3)?;
                comm.scope(|s| {
                    let receive = s.irecv(&mut room, 1, 4)?;
                    comm.send(&[0u8], 1, 5)?;
                    comm.recv_vec::<u8>(1, 6)?;
                    let (room, status) = receive.cancel()?;
                    let status = status.expect("it had come, or was coming");
                    assert_eq!((status.source, status.bytes), (1, len as u64));
                    assert!(room.iter().all(|&byte| byte == 5));
                    Ok(())
                })?;
            } else {
                comm.recv_vec::<u8>(0, 7)?;
                let (first, _) = comm.recv_vec::<u8>(0, 2)?;
                assert_eq!(first, [6], "the one before was taken back");
                comm.send(&[0u8], 0, 3)?;
                comm.recv_vec::<u8>(0, 5)?;
                comm.scope(|s| {
                    s.isend(&bytes, 0, 4)?;
                    comm.send(&[0u8], 0, 6)
                })?;
            }
        }
        Ok(())
    });
}

/// A scope that is left by an error or a panic cancels its requests: no data of them arrives, no rank waits
/// for them, and the job continues.
#[test]
fn a_scope_left_by_an_error_cancels_its_requests() {
    for ranks in [1, 2, 4] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (me, size) = (comm.rank(), comm.size());
            for (panics, len) in [(false, 3), (true, 3), (false, LONG), (true, LONG)] {
                let bytes = vec![9u8; len];
                let mut rooms = vec![vec![1u8; len]; size];
                let leave = AssertUnwindSafe(|| {
                    comm.scope(|s| {
                        for (from, room) in rooms.iter_mut().enumerate() {
                            forget(s.irecv(room, from, 77)?);
                            s.issend(&bytes, from, 78)?;
                        }
                        if panics {
                            std::panic::resume_unwind(Box::new("left"));
                        }
                        comm.send(&[0u8], size, 1)
                    })
                });
                match catch_unwind(leave) {
                    Ok(result) => {
                        let error = result.expect_err("there is no such rank");
                        assert!(matches!(error, Error::Rank { .. }), "{error}");
                    }
                    Err(panic) => assert_eq!(panic.downcast_ref(), Some(&"left")),
                }
                assert!(rooms.iter().flatten().all(|&byte| byte == 1));
                comm.barrier()?;
                assert_eq!(comm.iprobe(Source::Any, 78)?, None, "all were taken back");
                // A receive that was not cancelled would take this message.
                comm.send(&[2u8; 3], (me + 1) % size, 77)?;
                let (got, _) = comm.recv_vec::<u8>(Source::Any, Tag::Any)?;
                assert_eq!(got, [2; 3]);
                comm.barrier()?;
            }
            Ok(())
        });
    }
}

/// A scope that is left by an error waits for a transfer under way, and the peer receives all of it; a
/// transfer that has not begun is cancelled.
#[test]
fn a_transfer_that_has_begun_is_completed() {
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        for round in 0..40usize {
            let len = LONG + round;
            let bytes = vec![round as u8; len];
            if comm.rank() == 0 {
                let left = comm.scope(|s| {
                    s.isend(&bytes, 1, 1)?;
                    for _ in 0..round {
                        comm.iprobe(Source::Any, 9)?;
                    }
                    comm.send::<u8>(&[], 2, 0)
                });
                assert!(left.is_err());
                comm.send(&[0xabu8], 1, 1)?;
            } else {
                let mut room = vec![0xcdu8; len];
                let status = comm.recv(&mut room, 0, 1)?;
                if status.bytes == 1 {
                    assert_eq!(room[0], 0xab);
                    assert!(room[1..].iter().all(|&byte| byte == 0xcd));
                } else {
                    assert!(status.bytes == len as u64 && room == bytes);
                    assert_eq!(comm.recv_vec::<u8>(0, 1)?.0, [0xab]);
                }
            }
        }
        Ok(())
    });
}

/// A scope returns the error of its first request that fails, after it has waited for the others.
#[test]
fn a_scope_returns_the_error_of_a_request() {
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        if comm.rank() == 1 {
            comm.send(&[1u8; 8], 0, 1)?;
            return comm.send(&[2u8; 8], 0, 2);
        }
        let (mut small, mut fits) = ([0u8; 4], [0u8; 8]);
        let error = comm
            .scope(|s| {
                s.irecv(&mut small, 1, 1)?;
                s.irecv(&mut fits, 1, 2)?;
                Ok(())
            })
            .expect_err("the first one is truncated");
        assert!(
            matches!(
                error,
                Error::Truncated {
                    sent: 8,
                    room: 4,
                    ..
                }
            ),
            "{error}"
        );
        assert_eq!((small, fits), ([1; 4], [2; 8]));
        Ok(())
    });
}
