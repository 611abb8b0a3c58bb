//! Tests of groups, and of communicators made of them.

use std::thread;

use oxmpi::{Comparison, Op, Source, Tag};

use crate::job::{Job, SIZES};

/// The members talk to one another by their ranks in the group, and collectives run among them alone.
fn exercise(comm: &oxmpi::Comm, members: &[usize], own: usize) -> oxmpi::Result<()> {
    assert_eq!(members.get(comm.rank()), Some(&own));
    assert_eq!(comm.size(), members.len());
    for to in 0..members.len() {
        comm.bsend(&[own], to, 5)?;
    }
    for (from, &member) in members.iter().enumerate() {
        assert_eq!(comm.recv_vec::<usize>(from, 5)?.0, [member]);
    }
    let sum = comm.allreduce(&(own as u64), Op::SUM)?;
    assert_eq!(sum, members.iter().sum::<usize>() as u64);
    comm.barrier()
}

/// Groups know processes: they compare and translate also between communicators, and between endpoints.
#[test]
fn groups_of_parts_and_of_other_endpoints_know_their_processes() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size, all) = (comm.rank(), comm.size(), comm.group());
            assert_eq!((all.size(), all.rank()), (size, Some(rank)));
            let copy = comm.dup()?;
            assert_eq!(comm.compare(comm), Comparison::Identical);
            assert_eq!(comm.compare(&copy), Comparison::Congruent);
            let back = comm.split(Some(0), -(rank as i32))?.expect("a colour");
            let expected = match size {
                1 => Comparison::Congruent,
                _ => Comparison::Similar,
            };
            assert_eq!(comm.compare(&back), expected);

            let part = comm.split(Some((rank % 2) as u32), 0)?.expect("a colour");
            let mates: Vec<_> = (rank % 2..size).step_by(2).map(Some).collect();
            let group = part.group();
            assert_eq!(group.translate(0..part.size(), &all)?, mates);
            let expected = match size {
                1 => Comparison::Congruent,
                _ => Comparison::Unequal,
            };
            assert_eq!(comm.compare(&part), expected);

            // An endpoint of the part numbers its ranks anew; the processes stay.
            let endpoint = part.endpoint()?.open();
            assert_eq!(endpoint.compare(&part), Comparison::Congruent);
            let deeper = endpoint.split(Some(0), -(rank as i32))?.expect("a colour");
            let deeper = deeper.endpoint()?.open();
            let reversed: Vec<_> = mates.iter().rev().copied().collect();
            assert_eq!(deeper.group().translate(0..mates.len(), &all)?, reversed);
            assert_eq!(all.difference(&group).rank(), None);
            Ok(())
        });
    }
}

/// The group that rank `rank` of `size` creates: the odd ranks in order, or the even ones but 0 in reverse order.
fn mates_of(rank: usize, size: usize) -> Vec<usize> {
    match rank % 2 {
        1 => (1..size).step_by(2).collect(),
        _ => (2..size).step_by(2).rev().collect(),
    }
}

/// All ranks call `create`, with two groups at once, of which one is in reverse order, and rank 0 is in none.
#[test]
fn create_makes_several_communicators_at_once() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size, all) = (comm.rank(), comm.size(), comm.group());
            let members = mates_of(rank, size);
            for _ in 0..3 {
                let part = comm.create(&all.incl(members.iter().copied())?)?;
                match &part {
                    None => assert_eq!(rank, 0),
                    Some(part) => exercise(part, &members, rank)?,
                }
                comm.barrier()?;
            }
            Ok(())
        });
    }
}

/// Only the members call `create_group`: disjoint groups at the same time, again and again, while rank 0 is in
/// none and waits for a message. Messages with the same tag stay apart.
#[test]
fn create_group_needs_its_members_only() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size, all) = (comm.rank(), comm.size(), comm.group());
            let members = mates_of(rank, size);
            let group = all.incl(members.iter().copied())?;
            if rank == 0 {
                assert!(comm.create_group(&group, 0)?.is_none());
                for _ in 1..size {
                    comm.recv(&mut [0u8], Source::Any, 7)?;
                }
            } else {
                let next = members[(group.rank().expect("a member") + 1) % members.len()];
                // The groups create different numbers of communicators.
                for _ in 0..3 + 4 * (rank % 2) {
                    comm.bsend(&[rank], next, 7)?;
                    let part = comm.create_group(&group, 7)?.expect("a member");
                    exercise(&part, &members, rank)?;
                    comm.recv(&mut [0usize], Source::Any, 7)?;
                    let nested = part.create_group(&part.group(), 7)?.expect("a member");
                    assert_eq!(nested.compare(&part), Comparison::Congruent);
                    exercise(&nested, &members, rank)?;
                }
                comm.send(&[1u8], 0, 7)?;
            }
            comm.barrier()?;
            // Ranks agree on contexts again that none of them has.
            let copy = comm.dup()?;
            assert_eq!(copy.iprobe(Source::Any, Tag::Any)?, None);
            Ok(())
        });
    }
}

/// Threads of the same ranks create overlapping groups at the same time, under different tags.
#[test]
fn threads_create_groups_under_their_own_tags() {
    Job::of(3).succeed(|world| {
        let comm = world.comm().share()?;
        let (rank, all) = (comm.rank(), comm.group());
        thread::scope(|threads| {
            let creating = [0, 1, 2].map(|tag| {
                let (comm, all) = (&comm, &all);
                threads.spawn(move || -> oxmpi::Result<()> {
                    // The group without rank `tag`; the order of ranks differs from tag to tag.
                    let members = (0..3).map(|n| (n + tag) % 3).filter(|&n| n != tag);
                    let (group, tag) = (all.incl(members)?, tag as u32);
                    for step in 0..50 {
                        let Some(part) = comm.create_group(&group, tag)? else {
                            assert_eq!(rank, tag as usize);
                            continue;
                        };
                        let value = tag * 100 + step;
                        assert_eq!(part.allreduce(&value, Op::MIN)?, value);
                        assert_eq!(part.allreduce(&value, Op::MAX)?, value);
                    }
                    Ok(())
                })
            });
            let ended = creating.map(|thread| thread.join().expect("no panic"));
            ended.into_iter().collect::<oxmpi::Result<()>>()
        })?;
        comm.barrier()
    });
}

/// Wrong groups are errors on the ranks that they concern, and nothing hangs.
#[test]
fn wrong_groups_are_refused() {
    Job::of(4).succeed(|world| {
        let comm = world.comm();
        let (rank, all) = (comm.rank(), comm.group());
        assert!(
            all.incl([4])
                .is_err_and(|error| error.to_string().contains("has 4 ranks"))
        );
        assert!(
            all.incl([1, 1])
                .is_err_and(|error| error.to_string().contains("twice"))
        );

        let part = comm.split(Some((rank / 2) as u32), 0)?.expect("a colour");
        let refused = part.create(&all).expect_err("half of them are elsewhere");
        assert!(
            refused.to_string().contains("not in this communicator"),
            "{refused}"
        );
        let refused = part
            .create_group(&all, 1)
            .expect_err("half of them are elsewhere");
        assert!(
            refused.to_string().contains("not in this communicator"),
            "{refused}"
        );
        let refused = comm
            .create_group(&all, 1 << 31)
            .expect_err("a tag beyond the bound");
        assert!(refused.to_string().contains("largest tag"), "{refused}");

        // Rank 3 gives another group than the other members.
        let mine = if rank == 3 {
            all.incl([1, 3])?
        } else {
            all.incl([1, 2, 3])?
        };
        let made = comm.create(&mine);
        match rank {
            0 => assert!(made?.is_none()),
            3 => assert!(made.is_err_and(|why| why.to_string().contains("different groups"))),
            _ => assert_eq!(made?.expect("a member").size(), 3),
        }
        comm.barrier()
    });
}
