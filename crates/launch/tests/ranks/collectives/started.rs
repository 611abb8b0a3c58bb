//! Tests of nonblocking collectives: results, several at once, beside messages and blocking collectives,
//! dropped requests, errors.

use oxmpi::collective::{self, Blocks};
use oxmpi::{Comm, Error, Grid, Op, Request, Result, Test, Threading, World};

use super::{compose, fold, values};
use crate::job::Job;

/// Ranks of a job.
const SIZES: [usize; 6] = [1, 2, 3, 4, 7, 8];

fn concat(size: usize, of: impl Fn(usize) -> Vec<u64>) -> Vec<u64> {
    (0..size).flat_map(of).collect()
}

fn sums(size: usize, len: usize) -> Vec<u64> {
    (0..len).map(|i| fold(size, i, u64::wrapping_add)).collect()
}

/// Starts one of each collective, and waits for them from the last to the first.
fn all_at_once<A: Threading>(comm: &Comm<A>, len: usize) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let root = size - 1;
    let mine = values(rank, len);
    let wide = concat(size, |to| values(rank * 100 + to, len));
    let given = concat(size, |to| values(root * 100 + to, len));
    let counts: Vec<_> = (0..size).map(|rank| rank % 3 * len).collect();
    let uneven = values(rank, counts[rank]);
    let (room, total) = (len * size, counts.iter().sum());
    let at_root = |len: usize| (rank == root).then(|| vec![0; len]);

    let mut data = if rank == root {
        mine.clone()
    } else {
        vec![0; len]
    };
    let (mut gathered, mut gathered_v) = (at_root(room), at_root(total));
    let (mut part, mut part_v) = (vec![0; len], vec![0; counts[rank]]);
    let (mut all, mut all_v) = (vec![0; room], vec![0; total]);
    let mut exchanged = vec![0; room];
    let (mut least, mut sum, mut prefix) = (at_root(len), vec![0; len], mine.clone());
    let mut block = vec![0; len];
    comm.scope(|s| {
        let started = [
            s.start(collective::barrier())?,
            s.start(collective::bcast(&mut data, root))?.any(),
            s.start(collective::gather(&mine, gathered.as_deref_mut(), root))?
                .any(),
            {
                let room = gathered_v
                    .as_mut()
                    .map(|all| Blocks::packed(&mut all[..], &counts));
                s.start(collective::gatherv(&uneven, room, root))?.any()
            },
            {
                let given = (rank == root).then_some(&given);
                s.start(collective::scatter(given, &mut part, root))?.any()
            },
            {
                let given = (rank == root).then_some(Blocks::packed(&given, &counts));
                s.start(collective::scatterv(given, &mut part_v, root))?
                    .any()
            },
            s.start(collective::allgather(&mine, &mut all))?.any(),
            s.start(collective::allgatherv(
                &uneven,
                Blocks::packed(&mut all_v[..], &counts),
            ))?
            .any(),
            s.start(collective::alltoall(&wide, &mut exchanged))?.any(),
            s.start(collective::reduce(
                &mine,
                least.as_deref_mut(),
                Op::MIN,
                root,
            ))?
            .any(),
            s.start(collective::allreduce(&mine, &mut sum, Op::SUM))?
                .any(),
            s.start(collective::scan_in_place(&mut prefix, Op::SUM))?
                .any(),
            s.start(collective::reduce_scatter_block(&wide, &mut block, Op::MAX))?
                .any(),
        ];
        Request::wait_all(started.into_iter().rev()).map(drop)
    })?;

    assert!(data == values(root, len), "bcast");
    let expected = concat(size, |rank| values(rank, len));
    assert!(gathered.is_none_or(|all| all == expected), "gather");
    assert!(part == values(root * 100 + rank, len), "scatter");
    assert!(all == expected, "allgather");
    let expected = concat(size, |rank| values(rank, counts[rank]));
    assert!(gathered_v.is_none_or(|all| all == expected), "gatherv");
    assert!(all_v == expected, "allgatherv");
    let start: usize = counts[..rank].iter().sum();
    assert!(part_v == given[start..start + counts[rank]], "scatterv");
    assert!(
        exchanged == concat(size, |from| values(from * 100 + rank, len)),
        "alltoall"
    );
    let expected: Vec<_> = (0..len).map(|i| fold(size, i, u64::min)).collect();
    assert!(least.is_none_or(|least| least == expected), "reduce");
    assert!(sum == sums(size, len), "allreduce");
    assert!(prefix == sums(rank + 1, len), "scan");
    let most = |i| {
        (0..size)
            .map(|from| values(from * 100 + rank, len)[i])
            .max()
    };
    assert!(
        block
            .iter()
            .enumerate()
            .all(|(i, got)| Some(*got) == most(i)),
        "reduce_scatter"
    );
    Ok(())
}

#[test]
fn all_collectives_are_pending_at_once() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            for len in [1, 60, 5000] {
                all_at_once(world.comm(), len)?;
            }
            world.comm().barrier()
        });
    }
}

#[test]
fn collectives_are_pending_on_parts_and_in_threads() {
    Job::of(4).succeed(|world| {
        let comm = world.comm();
        let part = comm.split(Some(comm.rank() as u32 % 2), 0)?;
        all_at_once(&part.expect("every rank has a colour"), 60)?;
        let shared = [comm.share()?, comm.share()?];
        std::thread::scope(|threads| {
            let all = shared
                .each_ref()
                .map(|comm| threads.spawn(|| all_at_once(comm, 5000)));
            all.into_iter()
                .try_for_each(|thread| thread.join().expect("no panic"))
        })
    });
}

/// Messages and blocking collectives complete while nonblocking collectives are pending.
#[test]
fn messages_and_blocking_collectives_complete_meanwhile() {
    for ranks in [2, 3, 8] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
            let mine = vec![[rank as u32 * 2 + 3, 1]; 4000];
            let own = [rank];
            let expected = (1..size as u32).fold([3, 1], |all, r| compose(all, [r * 2 + 3, 1]));
            for round in 0..40u32 {
                let mut result = vec![[0; 2]; 4000];
                let mut got = [0];
                let mut list = vec![0; size];
                comm.scope(|s| {
                    let op = Op::ordered(compose);
                    let folded = s.start(collective::allreduce(&mine, &mut result, op))?;
                    let receive = s.irecv(&mut got, oxmpi::Source::Any, oxmpi::Tag::Any)?;
                    let ranks = s.start(collective::allgather(&own, &mut list))?;
                    assert_eq!(comm.allreduce(&round, Op::MAX)?, round);
                    comm.send(&[round + rank as u32], right, round)?;
                    comm.barrier()?;
                    let mut all = vec![folded.any(), receive.any(), ranks.any()];
                    while let Some(ended) = Request::wait_any(&mut all)? {
                        ended.result?;
                    }
                    Ok(())
                })?;
                assert_eq!(got, [round + left as u32]);
                assert!(result.iter().all(|got| *got == expected));
                assert!(list.into_iter().eq(0..size));
            }
            Ok(())
        });
    }
}

/// Repeated tests complete a collective and return its buffers.
#[test]
fn tests_complete_a_collective() {
    for ranks in [1, 3] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let mine = [comm.rank() as u64; 3000];
            let mut sums = [0; 3000];
            let got = comm.scope(|s| {
                let mut open = s.start(collective::allreduce(&mine, &mut sums, Op::SUM))?;
                loop {
                    match open.test()? {
                        Test::Pending(request) => open = request,
                        Test::Ready(((mine, sums), _)) => {
                            assert_eq!(mine[0], comm.rank() as u64);
                            break Ok(sums[2999]);
                        }
                    }
                }
            })?;
            let ranks = comm.size() as u64;
            assert_eq!(got, ranks * (ranks - 1) / 2);
            comm.barrier()
        });
    }
}

/// The scope completes collectives whose requests were dropped.
#[test]
fn a_scope_completes_dropped_collectives() {
    for ranks in [1, 4] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (size, mine) = (comm.size(), vec![comm.rank(); 2000]);
            for _ in 0..10 {
                let (mut first, mut second) = (vec![0; 2000 * size], vec![0; 2000 * size]);
                comm.scope(|s| {
                    s.start(collective::allgather(&mine, &mut first))?;
                    s.start(collective::allgather(&mine, &mut second))?;
                    Ok(())
                })?;
                let is_whole = |all: &[usize]| {
                    all.chunks(2000)
                        .enumerate()
                        .all(|(rank, block)| block == [rank; 2000])
                };
                assert!(is_whole(&first) && is_whole(&second));
            }
            comm.barrier()
        });
    }
}

/// A scope that is left by an error cancels its collectives. That communicator fails on all ranks; other
/// communicators still work.
#[test]
fn a_scope_left_by_an_error_cancels_its_collectives() {
    for ranks in [2, 4] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm().dup()?;
            let mine = vec![1u64; 5000];
            let mut sums = vec![0; 5000];
            let leaves = comm.rank() == 1;
            let left = comm.scope(|s| {
                if leaves {
                    let _open = s.start(collective::allreduce(&mine, &mut sums, Op::SUM))?;
                    return Err(Error::Finalized);
                }
                let sum = s.start(collective::allreduce(&mine, &mut sums, Op::SUM))?;
                sum.wait().map(drop)
            });
            // Other ranks succeed if they needed nothing more from rank 1.
            assert!(left.is_err() || !leaves);
            world.comm().barrier()
        });
    }
}

/// Wrong arguments are an error at the start, and no request is pending.
#[test]
fn wrong_arguments_are_refused_at_the_start() {
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        let (mine, mut all) = ([1u8; 2], [0u8; 5]);
        let error = comm.scope(|s| s.start(collective::allgather(&mine, &mut all)).map(drop));
        let error = error.expect_err("5 is not 4").to_string();
        assert!(
            error.ends_with("the result has 5 elements, it needs 4"),
            "{error}"
        );
        comm.barrier()
    });
}

#[test]
fn neighborhood_collectives_are_pending_at_once() {
    for ranks in [1, 2, 5] {
        Job::of(ranks).succeed(|world| {
            let ring = world
                .comm()
                .cart(Grid::new(&[world.comm().size()], &[true]))?;
            let ring = ring.expect("every rank has a place");
            let [left, right] = ring.shift(0, 1).map(|rank| rank.expect("a ring"));
            let mine = values(ring.rank(), 3000);
            let (mut one, mut other) = (vec![0; 6000], vec![0; 6000]);
            let (mine, both) = (&mine[..], [&mine[..], &mine[..]].concat());
            ring.scope(|s| {
                let one = s.start(collective::neighbor_allgather(mine, &mut one))?;
                let other = s.start(collective::neighbor_alltoall(&both, &mut other))?;
                other.wait()?;
                one.wait().map(drop)
            })?;
            let expected = [values(left, 3000), values(right, 3000)].concat();
            assert!(one == expected && other == expected);
            Ok(())
        });
    }
}

/// An operation that panics fails its collective; the rank's other communicators still work.
#[test]
fn an_operation_that_panics_fails_its_collective() {
    let done = Job::of(2).run(|| {
        let world = World::init()?;
        let comm = world.comm().dup()?;
        let mine = vec![1u64; 2000];
        let mut result = vec![0; 2000];
        let failed = comm.scope(|s| {
            let op = Op::commutative(|_: u64, _: u64| -> u64 { panic!("no result") });
            s.start(collective::allreduce(&mine, &mut result, op))?
                .wait()
                .map(drop)
        });
        let error = failed.expect_err("no rank has a result");
        assert!(matches!(error, Error::Collective { .. }), "{error}");
        world.comm().barrier()
    });
    assert_eq!(done.code, 0, "{}", done.err);
}
