//! Tests of intercommunicators.

mod blocks;
mod messages;
mod started;

use oxmpi::intercomm::{Peer, Root};
use oxmpi::{Comm, Comparison, InterComm, Op, Result, Source, Tag, World};

use crate::job::Job;

const SIZES: [usize; 4] = [2, 3, 5, 8];

/// Makes an intercommunicator. The first group has a third of the job, at least one rank, in reverse order.
/// The other group has the remaining ranks; its last rank is its leader.
fn groups(world: &World) -> Result<InterComm> {
    let comm = world.comm();
    let cut = (comm.size() / 3).max(1);
    let is_first = comm.rank() < cut;
    let key = if is_first { -(comm.rank() as i32) } else { 0 };
    let local = comm.split(Some(u32::from(is_first)), key)?.expect("colour");
    let (leader, other) = match is_first {
        true => (0, comm.size() - 1),
        false => (local.size() - 1, cut - 1),
    };
    let leads = local.rank() == leader;
    let peer = leads.then_some(Peer {
        comm,
        rank: other,
        tag: 3,
    });
    local.intercomm(leader, peer)
}

/// A number for this rank in its group: 100 plus the rank in the first group, the rank in the other group.
fn name(comm: &Comm, local: &Comm) -> u64 {
    let is_first = comm.rank() < (comm.size() / 3).max(1);
    u64::from(is_first) * 100 + local.rank() as u64
}

/// The numbers, as of [`name`], of the ranks of a group.
fn names(first: bool, size: usize) -> Vec<u64> {
    (0..size as u64)
        .map(|rank| u64::from(first) * 100 + rank)
        .collect()
}

/// The root argument of this rank, for rank `root` of its own group (`is_here`) or of the other group.
fn seen(inter: &InterComm, is_here: bool, root: usize) -> Root {
    match is_here {
        true if root == inter.local().rank() => Root::This,
        true => Root::ProcNull,
        false => Root::Rank(root),
    }
}

/// The remote group is the other one, in the order of its ranks.
#[test]
fn the_remote_group_is_the_other_one() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let (comm, inter) = (world.comm(), groups(world)?);
            let (all, remote) = (comm.group(), inter.remote_group());
            let cut = (comm.size() / 3).max(1);
            let expected: Vec<_> = match comm.rank() < cut {
                true => (cut..comm.size()).map(Some).collect(),
                false => (0..cut).rev().map(Some).collect(),
            };
            assert_eq!(remote.translate(0..remote.size(), &all)?, expected);
            assert_eq!(remote.rank(), None);
            let both = inter.local().group().union(&remote);
            assert_ne!(both.compare(&all), Comparison::Unequal);
            Ok(())
        });
    }
}

#[test]
fn messages_go_between_ranks_of_both_groups() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let (comm, inter) = (world.comm(), groups(world)?);
            let me = name(comm, inter.local());
            let others = names(me < 100, inter.remote_size());
            assert_eq!(inter.local().size() + others.len(), comm.size());
            for to in 0..others.len() {
                inter.send(&[me], to, 4)?;
            }
            for (from, &other) in others.iter().enumerate().rev() {
                let (got, status) = inter.recv_vec::<u64>(from, 4)?;
                assert_eq!((got, status.source), (vec![other], from));
            }
            inter.barrier()?;
            for to in 0..others.len() {
                inter.send(&[me], to, 5)?;
            }
            let mut seen = vec![false; others.len()];
            for _ in &others {
                let found = inter.probe(Source::Any, Tag::Any)?;
                let mut got = [0];
                let status = inter.recv(&mut got, found.source, 5)?;
                assert_eq!((status, got[0]), (found, others[status.source]));
                seen[status.source] = true;
            }
            assert!(seen.into_iter().all(|seen| seen));
            assert_eq!(inter.iprobe(Source::Any, Tag::Any)?, None);
            let error = inter
                .send(&[me], others.len(), 4)
                .expect_err("no such rank");
            assert!(error.to_string().contains("named rank"), "{error}");
            inter.barrier()
        });
    }
}

#[test]
fn rooted_collectives_work_with_every_root() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let (comm, inter) = (world.comm(), groups(world)?);
            let me = name(comm, inter.local());
            let others = names(me < 100, inter.remote_size());
            for first in [false, true] {
                let here = (me >= 100) == first;
                let size = if here {
                    inter.local().size()
                } else {
                    others.len()
                };
                for (rank, root_name) in names(first, size).into_iter().enumerate() {
                    let root = seen(&inter, here, rank);
                    let is_root = root == Root::This;

                    let mut value = [me, 7];
                    inter.bcast_into(&mut value, root)?;
                    assert_eq!(value, [if here { me } else { root_name }, 7]);

                    let mut all = is_root.then(|| vec![0; 2 * others.len()]);
                    inter.gather_into(&[me, 1], all.as_deref_mut(), root)?;
                    let wanted: Vec<u64> = others.iter().flat_map(|&name| [name, 1]).collect();
                    assert!(all.is_none_or(|all| all == wanted));

                    let parts = is_root.then_some(&others[..]);
                    let mut part = [0];
                    inter.scatter_into(parts, &mut part, root)?;
                    assert_eq!(part, [if here { 0 } else { me }]);

                    let mut sum = is_root.then_some([0]);
                    inter.reduce_into(
                        &[me],
                        sum.as_mut().map(|sum| &mut sum[..]),
                        Op::SUM,
                        root,
                    )?;
                    assert!(sum.is_none_or(|sum| sum == [others.iter().sum::<u64>()]));
                }
            }
            Ok(())
        });
    }
}

#[test]
fn collectives_return_the_data_of_the_other_group() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let (comm, inter) = (world.comm(), groups(world)?.dup()?);
            let me = name(comm, inter.local());
            let others = names(me < 100, inter.remote_size());

            let mut all = vec![0; others.len()];
            inter.allgather_into(&[me], &mut all)?;
            assert_eq!(all, others);

            let parts: Vec<u64> = others.iter().map(|&other| me * 1000 + other).collect();
            let mut got = vec![0; others.len()];
            inter.alltoall_into(&parts, &mut got)?;
            assert!(
                got.iter()
                    .zip(&others)
                    .all(|(got, other)| *got == other * 1000 + me)
            );

            let mut most = [0];
            inter.allreduce_into(&[me], &mut most, Op::MAX)?;
            assert_eq!(most.first(), others.last());

            // Both groups reduce the same number of values, for groups of any two sizes.
            let each = others.len();
            let total = each * inter.local().size();
            let values: Vec<u64> = (0..total as u64).map(|at| at + me).collect();
            let mut part = vec![0; each];
            inter.reduce_scatter_block_into(&values, &mut part, Op::SUM)?;
            let (count, sum) = (others.len() as u64, others.iter().sum::<u64>());
            for (at, got) in part.into_iter().enumerate() {
                let place = (inter.local().rank() * each + at) as u64;
                assert_eq!(got, place * count + sum);
            }
            Ok(())
        });
    }
}

#[test]
fn merge_orders_groups_by_the_flag_high() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let (comm, inter) = (world.comm(), groups(world)?);
            let me = name(comm, inter.local());
            for first_is_high in [false, true] {
                let high = (me >= 100) == first_is_high;
                let merged = inter.merge(high)?;
                let mut all = vec![0; comm.size()];
                merged.allgather_into(&[me], &mut all)?;
                let size = |here: bool| {
                    if here {
                        inter.local().size()
                    } else {
                        inter.remote_size()
                    }
                };
                let low = names(!first_is_high, size(!high));
                let mut wanted = low;
                wanted.extend(names(first_is_high, size(high)));
                assert_eq!(all, wanted);
            }
            Ok(())
        });
    }
}

#[test]
fn mistakes_are_reported_on_every_rank() {
    Job::of(4).succeed(|world| {
        let comm = world.comm();
        let mine = comm.rank() % 2;
        let local = comm.split(Some(mine as u32), 0)?.expect("a colour");
        // The leaders use another endpoint than the groups.
        let apart = comm.endpoint()?;
        let apart = apart.open();
        let peer = (local.rank() == 0).then_some(Peer {
            comm: &apart,
            rank: 1 - mine,
            tag: 1,
        });
        let error = local.intercomm(0, peer).expect_err("two endpoints");
        let text = error.to_string();
        assert!(
            text.contains("another endpoint") || text.contains("failed"),
            "{text}"
        );

        let inter = groups(world)?;
        let error = inter
            .gather_into(&[1u8], None, Root::This)
            .expect_err("the root gives no room");
        assert!(error.to_string().contains("does not give"), "{error}");
        inter.barrier()
    });
}
