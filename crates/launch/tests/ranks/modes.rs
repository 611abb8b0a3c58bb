//! Tests of every send mode, blocking and nonblocking, at sizes of every protocol, to the same and to other
//! ranks.

use std::collections::VecDeque;

use oxmpi::{Comm, Request, Result};

use crate::job::{Job, SIZES};

/// Message lengths: 0; below, at and above the size of a slot, of the eager limit and of a larger buffer; and
/// 1 MiB.
const LENGTHS: [usize; 12] = [
    0,
    1,
    8,
    48,
    49,
    8191,
    8192,
    8193,
    65_472,
    65_536,
    65_537,
    (1 << 20) + 3,
];

/// The content of the message with `tag` that rank `from` sends.
fn pattern(from: usize, tag: u32, len: usize) -> Vec<u8> {
    let seed = (from as u32).wrapping_mul(31).wrapping_add(tag);
    (0..len as u32)
        .map(|i| (i ^ (i >> 8)).wrapping_add(seed) as u8)
        .collect()
}

type Send = fn(&Comm, &[u8], usize, u32) -> Result<()>;
type Isend = for<'s, 'e> fn(
    &'s oxmpi::Scope<'s, 'e, oxmpi::Single>,
    &'e [u8],
    usize,
    u32,
) -> Result<Request<'s, 'e, &'e [u8], oxmpi::Single>>;

const BLOCKING: [Send; 4] = [Comm::send, Comm::ssend, Comm::bsend, Comm::rsend];
const NONBLOCKING: [Isend; 3] = [
    |s, bytes, to, tag| s.isend(bytes, to, tag),
    |s, bytes, to, tag| s.issend(bytes, to, tag),
    |s, bytes, to, tag| s.irsend(bytes, to, tag),
];

/// Rank 0 sends by every blocking call to each other rank, which receives and answers by the same call.
#[test]
fn blocking_sends_of_every_mode_and_size() {
    for ranks in [2, 3] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, others) = (comm.rank(), 1..comm.size());
            for (send, tag) in BLOCKING.iter().zip(0..) {
                for len in LENGTHS {
                    let mut room = vec![0xee; len + 2];
                    if rank == 0 {
                        for to in others.clone() {
                            send(comm, &pattern(0, tag, len), to, tag)?;
                            let status = comm.recv(&mut room, to, tag)?;
                            let got = (status.source, status.tag, status.bytes);
                            assert_eq!(got, (to, tag, len as u64));
                            assert_eq!(room[..len], pattern(to, tag, len), "length {len}");
                            assert_eq!(room[len..], [0xee; 2], "past the message's end");
                        }
                    } else {
                        let status = comm.recv(&mut room, 0, tag)?;
                        assert_eq!(status.count::<u8>(), Some(len as u64));
                        assert_eq!(room[..len], pattern(0, tag, len), "length {len}");
                        send(comm, &pattern(rank, tag, len), 0, tag)?;
                    }
                }
            }
            Ok(())
        });
    }
}

/// Every rank starts sends to all ranks, itself included, before it waits for any.
#[test]
fn nonblocking_sends_of_every_mode_and_size() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            for (isend, tag) in NONBLOCKING.iter().zip(0..) {
                // The number of messages grows with the square of the number of ranks, so many ranks skip
                // long messages.
                for len in LENGTHS.into_iter().filter(|len| len * size <= 1 << 22) {
                    let mine = pattern(rank, tag, len);
                    let mut rooms = vec![vec![0; len]; size];
                    comm.scope(|s| {
                        for (from, room) in rooms.iter_mut().enumerate() {
                            s.irecv(room, from, tag)?;
                        }
                        let sends: Result<VecDeque<_>> =
                            (0..size).map(|to| isend(s, &mine, to, tag)).collect();
                        Request::wait_all(sends?).map(drop)
                    })?;
                    for (from, room) in rooms.iter().enumerate() {
                        assert_eq!(*room, pattern(from, tag, len), "from {from}, length {len}");
                    }
                }
            }
            Ok(())
        });
    }
}

/// A rank sends to itself in every mode; calls that wait for the receive find it posted.
#[test]
fn a_rank_sends_to_itself_in_every_mode() {
    for ranks in [1, 2] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let me = comm.rank();
            for len in LENGTHS {
                let bytes = pattern(me, 1, len);
                let mut room = vec![0; len];
                comm.bsend(&bytes, me, 1)?;
                comm.recv(&mut room, me, 1)?;
                assert_eq!(room, bytes, "buffered, length {len}");
                if len <= 8192 {
                    comm.send(&bytes, me, 2)?;
                    room.fill(0);
                    comm.recv(&mut room, me, 2)?;
                    assert_eq!(room, bytes, "standard, length {len}");
                }
                for (send, tag) in BLOCKING.iter().zip(10..) {
                    room.fill(0);
                    comm.scope(|s| {
                        let receive = s.irecv(&mut room, me, tag)?;
                        send(comm, &bytes, me, tag)?;
                        receive.wait()
                    })?;
                    assert_eq!(room, bytes, "call {tag}, length {len}");
                }
                let other = pattern(me, 9, len);
                let status = comm.sendrecv(&other, me, 5, &mut room, me, 5)?;
                assert_eq!((status.source, status.bytes), (me, len as u64));
                assert_eq!(room, other, "sendrecv, length {len}");
            }
            Ok(())
        });
    }
}

/// A synchronous send of any length is pending until its receive is posted.
#[test]
fn a_synchronous_send_waits_for_its_receive() {
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        for len in LENGTHS {
            let bytes = pattern(0, 1, len);
            let mut room = vec![0; len];
            if comm.rank() == 0 {
                comm.scope(|s| {
                    let mut send = s.issend(&bytes, 1, 1)?;
                    // The peer sends this message after its probe has found the synchronous one.
                    let (go, _) = comm.recv_vec::<u8>(1, 2)?;
                    assert_eq!(go, [7]);
                    for _ in 0..100 {
                        match send.test()? {
                            oxmpi::Test::Pending(open) => send = open,
                            oxmpi::Test::Ready(_) => panic!("{len} bytes: it did not wait"),
                        }
                    }
                    comm.send(&[8u8], 1, 3)?;
                    send.wait().map(drop)
                })?;
            } else {
                comm.probe(0, 1)?;
                comm.send(&[7u8], 0, 2)?;
                comm.recv_vec::<u8>(0, 3)?;
                comm.recv(&mut room, 0, 1)?;
                assert_eq!(room, bytes);
            }
        }
        Ok(())
    });
}

/// A buffered send of any length returns without a posted receive.
#[test]
fn a_buffered_send_returns_before_its_receive() {
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        let peer = 1 - comm.rank();
        for len in LENGTHS {
            comm.bsend(&pattern(comm.rank(), 1, len), peer, 1)?;
        }
        for len in LENGTHS {
            let (got, _) = comm.recv_vec::<u8>(peer, 1)?;
            assert_eq!(got, pattern(peer, 1, len));
        }
        Ok(())
    });
}
