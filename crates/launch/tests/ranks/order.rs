//! Tests of message order, wildcards, probes and truncated receives.

use oxmpi::{Error, Source, Tag};

use crate::job::{Job, SIZES};

/// Short and long messages of one sender are received in the order in which they were sent, by name or by
/// wildcard (MPI 5.0, section 3.5).
#[test]
fn messages_do_not_overtake() {
    const LENGTHS: [usize; 6] = [1, 100_000, 40, 9000, 8192, 2];
    for ranks in [2, 4] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let lengths = || (0..60usize).map(|i| (i, LENGTHS[i % LENGTHS.len()]));
            if comm.rank() > 0 {
                let messages: Vec<Vec<u8>> = lengths().map(|(i, len)| vec![i as u8; len]).collect();
                return comm.scope(|s| {
                    for message in &messages {
                        s.isend(message, 0, 3)?;
                    }
                    Ok(())
                });
            }
            let mut next = vec![0usize; comm.size()];
            for round in 0..60 * (comm.size() - 1) {
                let mut room = vec![0u8; 100_000];
                // Every third receive names its source, while that source has messages left.
                let named = 1 + round % (comm.size() - 1);
                let source = match (round % 3, next[named] < 60) {
                    (0, true) => Source::Rank(named),
                    _ => Source::Any,
                };
                let tag = if round % 2 == 0 { Tag::Any } else { Tag::Is(3) };
                let status = comm.recv(&mut room, source, tag)?;
                let from = status.source;
                let (number, len) = (next[from], LENGTHS[next[from] % LENGTHS.len()]);
                assert_eq!(
                    (status.tag, status.bytes),
                    (3, len as u64),
                    "{number} of {from}"
                );
                assert!(room[..len].iter().all(|&byte| byte == number as u8));
                next[from] += 1;
            }
            assert!(next[1..].iter().all(|&count| count == 60));
            Ok(())
        });
    }
}

/// A receive takes the first message that matches its source and tag, and leaves the others in the queue.
#[test]
fn receives_match_by_source_and_tag() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            for to in 0..size {
                for tag in [5, 6, 7] {
                    comm.send(&[rank as u32 * 10 + tag], to, tag)?;
                }
            }
            for from in (0..size).rev() {
                let mut value = [0];
                comm.recv(&mut value, from, 6)?;
                assert_eq!(value, [from as u32 * 10 + 6]);
            }
            let mut left = Vec::new();
            for _ in 0..size {
                let mut value = [0];
                let status = comm.recv(&mut value, Source::Any, 7)?;
                assert_eq!(value, [status.source as u32 * 10 + 7]);
                left.push(status.source);
            }
            left.sort_unstable();
            assert!(left.into_iter().eq(0..size), "each rank's once");
            for from in 0..size {
                let mut value = [0];
                let status = comm.recv(&mut value, from, Tag::Any)?;
                assert_eq!((status.tag, value), (5, [from as u32 * 10 + 5]));
            }
            assert_eq!(comm.iprobe(Source::Any, Tag::Any)?, None);
            Ok(())
        });
    }
}

/// A probe leaves the message in the queue; a matched probe removes it.
#[test]
fn a_probe_keeps_the_message_and_a_matched_probe_removes_it() {
    for len in [8usize, 100_000] {
        Job::of(2)
            .with("LENGTH", &len.to_string())
            .succeed(|world| {
                let comm = world.comm();
                let len: usize = std::env::var("LENGTH")
                    .expect("set")
                    .parse()
                    .expect("a number");
                if comm.rank() == 1 {
                    return comm.scope(|s| {
                        for (tag, message) in
                            [(4, &FIRST[..len]), (4, &SECOND[..len]), (5, &FIRST[..len])]
                        {
                            s.isend(message, 0, tag)?;
                        }
                        // This rank stays until rank 0 has probed: a probe of a rank that has left is an
                        // error.
                        comm.recv(&mut [(); 1], 0, 6).map(drop)
                    });
                }
                let status = comm.probe(Source::Any, Tag::Any)?;
                assert_eq!(
                    (status.source, status.tag, status.bytes),
                    (1, 4, len as u64)
                );
                assert_eq!(comm.iprobe(1, 4)?, Some(status), "still there");
                let first = comm.mprobe(1, 4)?;
                assert_eq!(first.status(), status);
                let (second, _) = comm.recv_vec::<u8>(1, 4)?;
                assert_eq!(
                    second,
                    SECOND[..len],
                    "the claimed one is gone from the queue"
                );
                assert!(comm.improbe(1, 4)?.is_none());
                let mut room = vec![0; len];
                assert_eq!(first.recv(&mut room)?.bytes, len as u64);
                assert_eq!(room, FIRST[..len]);
                // The claimed message is dropped; its send completes, as the scope of rank 1 waits for it.
                drop(comm.mprobe(1, 5)?);
                assert!(comm.iprobe(Source::Any, Tag::Any)?.is_none());
                comm.send(&[(); 1], 1, 6)
            });
    }
}

static FIRST: [u8; 100_000] = [1; 100_000];
static SECOND: [u8; 100_000] = [2; 100_000];

/// A receive that truncates a message returns an error with source, tag and lengths; the buffer has the
/// beginning of the message, and nothing is written past it.
#[test]
fn a_truncated_receive_reports_source_tag_and_lengths() {
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        for (sent, room) in [(9usize, 8usize), (8192, 100), (100_000, 8192), (100_000, 0)] {
            for posted_first in [false, true] {
                if comm.rank() == 1 {
                    if posted_first {
                        comm.recv_vec::<u8>(0, 2)?;
                    }
                    comm.send(&FIRST[..sent], 0, 1)?;
                    comm.recv_vec::<u8>(0, 3)?;
                    continue;
                }
                let mut buffer = vec![0xeeu8; room + 8];
                let outcome = comm.scope(|s| {
                    if !posted_first {
                        comm.probe(1, 1)?;
                    }
                    let receive = s.irecv(&mut buffer[..room], 1, 1)?;
                    if posted_first {
                        comm.send(&[0u8], 1, 2)?;
                    }
                    receive.wait().map(drop)
                });
                let Err(error) = outcome else {
                    panic!("{sent} bytes fit {room}, posted first: {posted_first}")
                };
                let fields = match &error {
                    Error::Truncated {
                        rank,
                        source,
                        tag,
                        sent,
                        room,
                    } => (*rank, *source, *tag, *sent, *room),
                    other => panic!("{other}"),
                };
                assert_eq!(fields, (0, 1, 1, sent as u64, room as u64));
                let text = error.to_string();
                assert!(
                    text.contains(&format!("{sent} bytes from rank 1 with tag 1")),
                    "{text}"
                );
                assert!(
                    buffer[..room].iter().all(|&byte| byte == 1),
                    "the beginning is there"
                );
                assert_eq!(buffer[room..], [0xee; 8]);
                comm.send(&[0u8], 1, 3)?;
            }
        }
        Ok(())
    });
}

/// A receiver learns the length of a message by a probe or by receiving into a new vector.
#[test]
fn receivers_learn_the_length_of_a_message() {
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        if comm.rank() == 1 {
            for len in [0u64, 3, 5000] {
                comm.send(&(0..len).collect::<Vec<u64>>(), 0, 1)?;
            }
            comm.send(&[1u8; 7], 0, 1)?;
            comm.send(&[(); 3], 0, 2)?;
            // This rank stays until rank 0 has probed: a probe of a rank that has left is an error.
            comm.recv(&mut [(); 1], 0, 3)?;
            return Ok(());
        }
        for len in [0u64, 3, 5000] {
            let (values, status) = comm.recv_vec::<u64>(Source::Any, 1)?;
            assert!(values.into_iter().eq(0..len));
            assert_eq!(status.count::<u64>(), Some(len));
        }
        let error = comm
            .recv_vec::<u32>(1, 1)
            .expect_err("7 bytes are no whole number of u32");
        assert!(
            matches!(
                error,
                Error::PartialElement {
                    rank: 0,
                    source: 1,
                    tag: 1,
                    sent: 7,
                    element: 4
                }
            ),
            "{error}"
        );
        assert!(comm.iprobe(1, 1)?.is_none(), "the message is gone");
        assert_eq!(
            comm.recv(&mut [(); 3], 1, 2)?.bytes,
            0,
            "nothing is something to wait for"
        );
        comm.send(&[(); 1], 1, 3)?;
        Ok(())
    });
}
