//! Tests of nonblocking messages and matched probes between two groups.

use oxmpi::{PROC_NULL, Request, Source, Status};

use super::{SIZES, groups, name, names};
use crate::job::Job;

/// Statuses name ranks of the remote group, whichever call gives them. A rank has the same number as some rank of
/// the remote group, and is not taken for it.
#[test]
fn requests_and_matched_probes_name_remote_ranks() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let (comm, inter) = (world.comm(), groups(world)?);
            let me = name(comm, inter.local());
            let others = names(me < 100, inter.remote_size());
            let long = vec![me; 100_000];

            // Sends that wait for their receivers, to every rank and from every rank.
            let mut got = vec![vec![0u64; long.len()]; others.len()];
            inter.scope(|s| {
                let receives = got.iter_mut().enumerate();
                let receives: Vec<_> = receives
                    .map(|(from, room)| s.irecv(room, from, 4))
                    .collect();
                for to in 0..others.len() {
                    s.issend(&long, to, 4)?;
                }
                for (from, request) in receives.into_iter().enumerate() {
                    let (room, status) = request?.wait()?;
                    assert_eq!((room[0], room[99_999]), (others[from], others[from]));
                    assert_eq!((status.source, status.tag), (from, 4));
                }
                Ok(())
            })?;

            // Any source, short messages, and a list of both kinds.
            let mut got = vec![[0u64]; others.len()];
            let mine = [me];
            inter.scope(|s| {
                let mut requests = Vec::new();
                for room in &mut got {
                    requests.push(s.irecv(room, Source::Any, 5)?.any());
                }
                for to in 0..others.len() {
                    s.isend(&mine, to, 5)?;
                }
                let mut seen: Vec<_> = Request::wait_all(requests)?
                    .into_iter()
                    .map(|((), status)| status.source)
                    .collect();
                seen.sort_unstable();
                assert_eq!(seen, (0..others.len()).collect::<Vec<_>>());
                Ok(())
            })?;
            inter.barrier()?;

            for to in 0..others.len() {
                inter.bsend(&mine, to, 6)?;
            }
            for _ in &others {
                let message = inter.mprobe(Source::Any, 6)?;
                let from = message.status().source;
                let (got, status) = message.recv_vec::<u64>()?;
                assert_eq!((got[0], status.source), (others[from], from));
            }
            assert!(inter.improbe(Source::Any, 6)?.is_none());
            let waiting = inter.irecv_owned::<u64>(1, 0, 7)?;
            for to in 0..others.len() {
                inter.isend_owned(vec![me], to, 7)?.wait()?;
            }
            let (got, status) = waiting.wait()?;
            assert_eq!((got, status.source), (vec![others[0]], 0));
            for from in 1..others.len() {
                inter.recv(&mut [0u64], from, 7)?;
            }
            inter.send(&mine, PROC_NULL, 8)?;
            assert_eq!(inter.recv(&mut [0u64], None, 8)?, Status::PROC_NULL);
            inter.barrier()
        });
    }
}

/// A blocking send to the remote rank that has this rank's number waits for its receiver, and is no send of a rank
/// to itself; a receive waits too.
#[test]
fn a_remote_rank_of_the_same_number_is_another_process() {
    Job::of(2).succeed(|world| {
        let inter = groups(world)?;
        let is_first = world.comm().rank() == 0;
        let long = vec![3u8; 8 << 20];
        let mut room = vec![0u8; long.len()];
        for _ in 0..5 {
            if is_first {
                inter.ssend(&long, 0, 1)?;
                inter.recv(&mut room, 0, 2)?;
            } else {
                inter.recv(&mut room, 0, 1)?;
                inter.ssend(&long, 0, 2)?;
            }
            assert_eq!(room, long);
            room.fill(0);
        }
        inter.sendrecv(&long, 0, 3, &mut room, Source::Any, 3)?;
        assert_eq!(room, long);
        inter.barrier()
    });
}

/// A wait for a message of any remote rank ends with an error when all of them have left, also the one with this
/// rank's number.
#[test]
fn a_wait_for_ranks_that_have_left_is_an_error() {
    Job::of(3).succeed(|world| {
        let inter = groups(world)?;
        inter.barrier()?;
        if world.comm().rank() == 0 {
            let error = inter
                .recv(&mut [0u8], Source::Any, 1)
                .expect_err("both others have left");
            assert!(error.to_string().contains("no rank can send"), "{error}");
        }
        Ok(())
    });
}
