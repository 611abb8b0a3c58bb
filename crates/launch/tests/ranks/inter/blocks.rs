//! Tests of intercommunicator collectives with block lengths per rank.

use oxmpi::collective::Blocks;
use oxmpi::intercomm::Root;
use oxmpi::{Op, World};

use super::{SIZES, groups, name, names, seen};
use crate::job::Job;

/// The number of values of the rank with number `name`; some ranks have none.
const fn count(name: u64) -> usize {
    name as usize % 3
}

/// The values that rank `from` sends to rank `to`.
fn values(from: u64, to: u64, count: usize) -> impl Iterator<Item = u64> {
    (0..count as u64).map(move |at| from * 10_000 + to * 10 + at)
}

#[test]
fn gatherv_and_scatterv_work_with_every_root() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world: &World| {
            let inter = groups(world)?;
            let me = name(world.comm(), inter.local());
            let others = names(me < 100, inter.remote_size());
            let sizes = [inter.remote_size(), inter.local().size()];
            for first in [false, true] {
                let is_here = (me >= 100) == first;
                for (rank, root_name) in names(first, sizes[usize::from(is_here)])
                    .into_iter()
                    .enumerate()
                {
                    let root = seen(&inter, is_here, rank);
                    let counts: Vec<usize> = others.iter().map(|&other| count(other)).collect();
                    let total = counts.iter().sum();
                    let mine: Vec<u64> = values(me, 0, count(me)).collect();

                    let mut all = vec![0; total];
                    let room = (root == Root::This).then(|| Blocks::packed(&mut all[..], &counts));
                    inter.gatherv(&mine, room, root)?;
                    let theirs = others
                        .iter()
                        .flat_map(|&other| values(other, 0, count(other)));
                    assert!(root != Root::This || theirs.eq(all));

                    let all: Vec<u64> = others
                        .iter()
                        .flat_map(|&other| values(me, other, count(other)))
                        .collect();
                    let given = (root == Root::This).then(|| Blocks::packed(&all[..], &counts));
                    let mut part = vec![7; count(me)];
                    inter.scatterv(given, &mut part, root)?;
                    match is_here {
                        true => assert!(part.iter().all(|&value| value == 7)),
                        false => assert!(values(root_name, me, count(me)).eq(part)),
                    }
                }
            }
            inter.barrier()
        });
    }
}

#[test]
fn allgatherv_and_alltoallv_exchange_blocks_between_groups() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let inter = groups(world)?;
            let me = name(world.comm(), inter.local());
            let others = names(me < 100, inter.remote_size());

            // Before each block is room for one value, which must not change.
            let counts: Vec<usize> = others.iter().map(|&other| count(other)).collect();
            let mut end = 0;
            let starts: Vec<usize> = counts
                .iter()
                .map(|count| {
                    let start = end + 1;
                    end = start + count;
                    start
                })
                .collect();
            let mine: Vec<u64> = values(me, 0, count(me)).collect();
            let mut all = vec![7; end];
            inter.allgatherv(&mine, Blocks::at(&mut all[..], &counts, &starts))?;
            let wanted = others
                .iter()
                .flat_map(|&other| std::iter::once(7).chain(values(other, 0, count(other))));
            assert!(wanted.eq(all));

            let counts: Vec<usize> = others.iter().map(|&other| count(me + other)).collect();
            let given = |from: u64, to: u64| values(from, to, count(from + to));
            let mine: Vec<u64> = others.iter().flat_map(|&to| given(me, to)).collect();
            let mut got = vec![0; mine.len()];
            let mine = Blocks::packed(&mine[..], &counts);
            inter.alltoallv(mine, Blocks::packed(&mut got[..], &counts))?;
            assert!(others.iter().flat_map(|&from| given(from, me)).eq(got));

            let bytes = |from: u64, to: u64| vec![(from + 3 * to) as u8; count(from + to)];
            let mine: Vec<Vec<u8>> = others.iter().map(|&to| bytes(me, to)).collect();
            let mut got: Vec<Vec<u8>> = counts.iter().map(|&count| vec![0; count]).collect();
            let given: Vec<&[u8]> = mine.iter().map(Vec::as_slice).collect();
            let mut room: Vec<&mut [u8]> = got.iter_mut().map(Vec::as_mut_slice).collect();
            inter.alltoallw(&given, &mut room)?;
            assert!(
                got.into_iter()
                    .eq(others.iter().map(|&from| bytes(from, me)))
            );
            inter.barrier()
        });
    }
}

#[test]
fn reduce_scatter_returns_blocks_of_the_other_group_s_sum() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let inter = groups(world)?;
            let me = name(world.comm(), inter.local());
            let others = names(me < 100, inter.remote_size());
            // Both groups reduce the same number of values. The first rank gets most of them, the last rank
            // none.
            let (total, rank) = (20, inter.local().rank());
            let mut counts = vec![1; inter.local().size()];
            *counts.last_mut().expect("this rank") = 0;
            counts[0] = total + counts[0] - counts.iter().sum::<usize>();
            let values: Vec<u64> = (0..total as u64).map(|at| me + at).collect();
            let mut part = vec![0; counts[rank]];
            inter.reduce_scatter(&values, &counts, &mut part, Op::SUM)?;
            let first: usize = counts[..rank].iter().sum();
            let sums = (first as u64..)
                .map(|at| others.iter().map(|other| other + at).sum::<u64>())
                .take(counts[rank]);
            assert!(sums.eq(part));

            // The operation does not commute: operands are in the order of the other group's ranks.
            let digits = Op::ordered(|a: [u64; 2], b: [u64; 2]| [a[0] * b[1] + b[0], a[1] * b[1]]);
            let mut all = [[0; 2]];
            inter.allreduce_into(&[[rank as u64 + 1, 10]], &mut all, digits)?;
            let wanted = (1..=others.len() as u64).fold(0, |number, digit| number * 10 + digit);
            assert_eq!(all[0][0], wanted);
            inter.barrier()
        });
    }
}

#[test]
fn blocks_that_do_not_fit_are_refused_before_anything_is_sent() {
    Job::of(4).succeed(|world| {
        let inter = groups(world)?;
        let (mut room, mine) = ([0_u8; 8], [1_u8; 8]);
        let text = |result: oxmpi::Result<()>| result.expect_err("wrong").to_string();
        let counts = vec![1; inter.remote_size() + 1];
        let wrong = inter.allgatherv(&mine[..1], Blocks::packed(&mut room[..], &counts));
        assert!(text(wrong).contains("counts for"), "{counts:?}");
        let beyond = vec![9; inter.remote_size()];
        let wrong = inter.gatherv(
            &mine,
            Some(Blocks::packed(&mut room[..], &beyond)),
            Root::This,
        );
        assert!(text(wrong).contains("block 0 has 9"));
        let given = Some(Blocks::packed(&mine[..], &beyond));
        let wrong = inter.scatterv(given, &mut [0], Root::ProcNull);
        assert!(text(wrong).contains("only the root has"));
        let wrong = inter.gather_into(&mine, None, Root::Rank(9));
        assert!(text(wrong).contains("named rank 9"));
        let counts = vec![1; inter.local().size() + 1];
        let wrong = inter.reduce_scatter(&mine, &counts, &mut [0], Op::SUM);
        assert!(text(wrong).contains("the list of counts"));
        inter.barrier()
    });
}
