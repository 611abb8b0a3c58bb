//! Tests of receives into memory that is not initialised.

use std::mem::MaybeUninit;

use oxmpi::{Error, Request, Source, Tag};

use crate::job::{Job, SIZES};

/// Elements of messages, in every protocol.
const LENGTHS: [usize; 5] = [0, 1, 6, 2000, 100_000];

/// Elements behind the message's, which keep their value.
const MORE: usize = 3;

/// A message fills its elements, and no other.
#[test]
fn a_message_fills_its_elements_only() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
            for len in LENGTHS {
                let sent = vec![rank as u64 + 1; len];
                comm.bsend(&sent, right, 3)?;
                comm.bsend(&sent, right, 4)?;
                let mut room = vec![MaybeUninit::new(99u64); len + MORE];
                let (got, status) = comm.recv_uninit(&mut room, left, 3)?;
                assert_eq!(*got, vec![left as u64 + 1; len]);
                assert_eq!((status.source, status.tag), (left, 3));
                for behind in &room[len..] {
                    // SAFETY: the vector was made of initialised elements.
                    assert_eq!(unsafe { behind.assume_init() }, 99);
                }
                let mut room = Vec::<u64>::with_capacity(len);
                let message = comm.mprobe(Source::Any, Tag::Is(4))?;
                let (got, _) = message.recv_uninit(room.spare_capacity_mut())?;
                assert_eq!(*got, vec![left as u64 + 1; len]);
            }
            Ok(())
        });
    }
}

/// Receives that are posted before their messages, shorter ones and longer ones.
#[test]
fn posted_receives_fill_the_rest_with_zeros() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
            let mut rooms = LENGTHS.map(|len| vec![MaybeUninit::new(99u64); len + MORE]);
            let sent = LENGTHS.map(|len| vec![rank as u64 + 1; len]);
            comm.scope(|s| {
                let receives = rooms.iter_mut().map(|room| s.irecv_uninit(room, left, 3));
                let receives = receives.collect::<oxmpi::Result<Vec<_>>>()?;
                for sent in &sent {
                    s.isend(sent, right, 3)?;
                }
                for ((got, status), len) in Request::wait_all(receives)?.iter().zip(LENGTHS) {
                    let (message, rest) = got.split_at(len);
                    assert_eq!(status.count::<u64>(), Some(len as u64));
                    assert_eq!(*message, vec![left as u64 + 1; len]);
                    assert_eq!(*rest, [0; MORE]);
                }
                Ok(())
            })?;
            Ok(())
        });
    }
}

/// A message that does not fit, or is no whole number of elements, is an error; the next one arrives.
#[test]
fn wrong_lengths_are_errors() {
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        let peer = 1 - comm.rank();
        for bytes in [12u8, 16, 8] {
            comm.bsend(&vec![bytes; bytes.into()], peer, 1)?;
        }
        let mut room = [MaybeUninit::<u64>::uninit(); 1];
        let partial = comm.recv_uninit(&mut room, peer, 1);
        assert!(matches!(
            partial,
            Err(Error::PartialElement {
                sent: 12,
                element: 8,
                ..
            })
        ));
        let truncated = comm.recv_uninit(&mut room, peer, 1);
        assert!(matches!(
            truncated,
            Err(Error::Truncated {
                sent: 16,
                room: 8,
                ..
            })
        ));
        assert_eq!(
            *comm.recv_uninit(&mut room, peer, 1)?.0,
            [0x0808_0808_0808_0808]
        );
        Ok(())
    });
}
