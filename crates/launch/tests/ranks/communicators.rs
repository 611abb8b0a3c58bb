//! Tests of communicators made from communicators: duplicates and splits.

use oxmpi::{Op, Source, Tag};

use crate::job::{Job, SIZES};

/// A receive on one communicator never matches a message of another, also with wildcards.
#[test]
fn receives_match_within_their_communicator() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let first = world.comm();
            let second = first.dup()?;
            let third = second.dup()?;
            let (rank, size) = (first.rank(), first.size());
            let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
            assert_eq!((third.rank(), third.size()), (rank, size));
            for (comm, value) in [(first, 1u8), (&second, 2), (&third, 3)] {
                comm.send(&[value], right, 4)?;
            }
            for (comm, value) in [(&third, 3u8), (first, 1), (&second, 2)] {
                let mut got = [0];
                let status = comm.recv(&mut got, Source::Any, Tag::Any)?;
                assert_eq!((got, status.source), ([value], left));
                assert_eq!(comm.iprobe(Source::Any, Tag::Any)?, None);
            }
            Ok(())
        });
    }
}

/// `split` groups ranks by colour and orders them by key, then by the old rank. A rank without a colour gets
/// no communicator.
#[test]
fn split_orders_ranks_by_key() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            let colour = |rank: usize| (rank % 3 != 2).then_some(u32::MAX - rank as u32 % 3);
            // Keys are negative, and four ranks share each.
            let key = |rank: usize| -(rank as i32 / 4);
            let part = comm.split(colour(rank), key(rank))?;
            let mut members: Vec<usize> = (0..size)
                .filter(|&other| colour(other) == colour(rank))
                .collect();
            members.sort_by_key(|&other| key(other));
            let Some(part) = part else {
                assert_eq!(colour(rank), None);
                return comm.barrier();
            };
            assert_eq!(members.get(part.rank()), Some(&rank));
            assert_eq!(part.size(), members.len());
            for (other, &old) in members.iter().enumerate() {
                part.send(&[rank as u32], other, 1)?;
                // The old communicator names the same process by its old rank.
                comm.send(&[rank as u32 + 100], old, 1)?;
            }
            for (other, &old) in members.iter().enumerate() {
                assert_eq!(part.recv_vec::<u32>(other, 1)?.0, [old as u32]);
                let (got, status) = comm.recv_vec::<u32>(old, 1)?;
                assert_eq!((got, status.source), (vec![old as u32 + 100], old));
            }
            let error = part.send(&[0u8], part.size(), 1).expect_err("no such rank");
            let last = part.size() - 1;
            let says = format!("the communicator has ranks 0 to {last}");
            assert!(error.to_string().contains(&says), "{error}");
            comm.barrier()
        });
    }
}

/// Collectives run on a communicator, on parts of it, and on parts of these in turn.
#[test]
fn collectives_stay_in_their_part() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            let half = comm.split(Some((rank % 2) as u32), 0)?.expect("a colour");
            let quarter = half.split(Some((half.rank() % 2) as u32), -(rank as i32))?;
            let quarter = quarter.expect("a colour");
            let copy = quarter.dup()?;
            let sum = |step: usize, first: usize| (first..size).step_by(step).sum::<usize>() as u64;
            for _ in 0..20 {
                let mine = rank as u64;
                assert_eq!(comm.allreduce(&mine, Op::SUM)?, sum(1, 0));
                assert_eq!(half.allreduce(&mine, Op::SUM)?, sum(2, rank % 2));
                assert_eq!(quarter.allreduce(&mine, Op::SUM)?, sum(4, rank % 4));
                // Keys reverse the order: rank 0 here was the last rank of the old communicator.
                let mut last = [mine];
                copy.bcast_into(&mut last, 0)?;
                let expected = (rank % 4..size).step_by(4).next_back();
                assert_eq!(last.first().map(|&last| last as usize), expected);
                quarter.barrier()?;
                half.barrier()?;
            }
            Ok(())
        });
    }
}

/// After the ranks of one part have made communicators without the other ranks, all ranks agree on the
/// context of the next communicator.
#[test]
fn contexts_are_agreed_on_by_all() {
    Job::of(4).succeed(|world| {
        let comm = world.comm();
        let rank = comm.rank();
        let half = comm.split(Some((rank / 2) as u32), 0)?.expect("a colour");
        let mut kept = Vec::new();
        for _ in 0..=rank / 2 * 5 {
            kept.push(half.dup()?);
        }
        let again = comm.dup()?;
        for comm in kept.iter().chain([&half]) {
            comm.send(&[1u8], 1 - half.rank(), 3)?;
        }
        again.send(&[9u8], (rank + 1) % 4, 3)?;
        assert_eq!(again.recv_vec::<u8>(Source::Any, Tag::Any)?.0, [9]);
        for comm in kept.iter().chain([&half]) {
            assert_eq!(comm.recv_vec::<u8>(Source::Any, Tag::Any)?.0, [1]);
            assert_eq!(comm.iprobe(Source::Any, Tag::Any)?, None);
        }
        assert_eq!(again.allreduce(&1u32, Op::SUM)?, 4);
        Ok(())
    });
}

/// `split_by_node` groups the ranks of a host, ordered by key: here the last rank comes first.
#[test]
fn parts_by_node_are_the_ranks_of_a_host() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let mut own = [0u8; 64];
            own[..world.host().len()].copy_from_slice(world.host().as_bytes());
            let mut hosts = vec![[0u8; 64]; comm.size()];
            comm.allgather_into(&own, hosts.as_flattened_mut())?;
            let here = (0..comm.size()).filter(|&rank| hosts[rank] == own);
            let expected: Vec<usize> = here.rev().collect();

            let part = comm.split_by_node(-(comm.rank() as i32))?;
            let mut members = vec![0; part.size()];
            part.allgather_into(&[comm.rank()], &mut members)?;
            assert_eq!(members, expected);

            // The same for a communicator without rank 0.
            let some = comm.split((comm.rank() > 0).then_some(7), 0)?;
            let Some(some) = some else { return Ok(()) };
            let part = some.split_by_node(0)?;
            let here = expected.iter().filter(|&&rank| rank > 0);
            assert_eq!(part.size(), here.count());
            part.barrier()
        });
    }
}
