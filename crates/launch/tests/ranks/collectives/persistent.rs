//! Tests of persistent collectives: they are prepared once, and run many times with the current content of
//! buffers.

use oxmpi::collective::{self, Blocks};
use oxmpi::{Comm, Op, Request, Result};

use crate::job::Job;

/// Number of runs of each persistent collective.
const RUNS: u64 = 100;

fn value(run: u64, rank: usize, i: usize) -> u64 {
    run * 1_000_003 + rank as u64 * 1009 + i as u64
}

#[test]
fn short_collectives_run_many_times() {
    for ranks in [1, 2, 3, 4, 8] {
        Job::of(ranks).succeed(|world| {
            // Many ranks may share processors, so they run fewer times.
            let runs = if world.comm().size() < 4 { RUNS } else { 20 };
            run_many_times(world.comm(), runs, 1)?;
            world.comm().barrier()
        });
    }
}

#[test]
fn collectives_with_long_blocks_run_many_times() {
    for ranks in [2, 3, 4] {
        Job::of(ranks).succeed(|world| {
            run_many_times(world.comm(), 10, 6000)?;
            world.comm().barrier()
        });
    }
}

fn run_many_times(comm: &Comm, runs: u64, len: usize) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let (mut mine, mut sums) = (vec![0; len], vec![0; len]);
    let (mut block, mut all) = (vec![0; len], vec![0; len * size]);
    let mut data = vec![0; len];
    let mut sum = comm.persistent(collective::allreduce(&mut mine, &mut sums, Op::SUM))?;
    let mut gather = comm.persistent(collective::allgather(&mut block, &mut all))?;
    let mut bcast = comm.persistent(collective::bcast(&mut data, 0))?;
    let mut barrier = comm.persistent(collective::barrier())?;
    for run in 0..runs {
        let fill = |values: &mut [u64], rank: usize| {
            let places = values.iter_mut().enumerate();
            places.for_each(|(i, at)| *at = value(run, rank, i));
        };
        fill(sum.buffers().0, rank);
        fill(gather.buffers().0, rank);
        fill(bcast.buffers(), if rank == 0 { 0 } else { 77 });
        if run % 2 == 0 {
            sum.run()?;
            gather.run()?;
            bcast.run()?;
        } else {
            // All are pending at once, while ranks exchange a message.
            let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
            comm.scope(|s| {
                let started = [
                    s.restart(&mut bcast)?.any(),
                    s.restart(&mut sum)?.any(),
                    s.restart(&mut gather)?.any(),
                ];
                comm.bsend(&[run], right, 5)?;
                assert_eq!(comm.recv_vec::<u64>(left, 5)?.0, [run]);
                Request::wait_all(started).map(drop)
            })?;
        }
        if run % 10 == 0 {
            barrier.run()?;
        }
        let total = |i| (0..size).map(|rank| value(run, rank, i)).sum::<u64>();
        assert!(
            sum.buffers()
                .1
                .iter()
                .enumerate()
                .all(|(i, got)| *got == total(i))
        );
        let (_, all) = gather.buffers();
        let blocks = all.chunks(len).enumerate();
        let of = |rank| move |(i, got): (usize, &u64)| *got == value(run, rank, i);
        assert!({ blocks }.all(|(rank, block)| block.iter().enumerate().all(of(rank))));
        assert!(bcast.buffers().iter().enumerate().all(of(0)));
    }
    Ok(())
}

/// Uneven blocks and a user-defined operation run again; the request returns the operation.
#[test]
fn uneven_blocks_and_user_defined_operations_run_again() {
    for ranks in [1, 3, 4] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            let counts: Vec<_> = (0..size).map(|rank| rank * 50).collect();
            let (mut mine, mut all) = (vec![0; rank * 50], vec![0; counts.iter().sum()]);
            let blocks = Blocks::packed(&mut all[..], &counts);
            let mut gather = comm.persistent(collective::allgatherv(&mut mine, blocks))?;
            let mut last = [0u64];
            let second = Op::ordered(|_: u64, b: u64| b);
            let mut scan = comm.persistent(collective::allreduce_in_place(&mut last, second))?;
            for run in 0..RUNS {
                gather.buffers().0.fill(run + rank as u64);
                scan.buffers()[0] = run + rank as u64;
                let got = comm.scope(|s| {
                    let gathered = s.restart(&mut gather)?;
                    s.restart(&mut scan)?;
                    let (gather, _) = gathered.wait()?;
                    Ok(gather.buffers().1.to_vec())
                })?;
                let expected = (0..size).flat_map(|rank| vec![run + rank as u64; rank * 50]);
                assert!(got.into_iter().eq(expected));
                assert_eq!(scan.buffers()[0], run + size as u64 - 1);
            }
            Ok(())
        });
    }
}

/// A persistent collective starts only in a scope of its own communicator, and may be dropped without a run.
#[test]
fn a_scope_of_another_communicator_refuses_to_start() {
    Job::of(2).succeed(|world| {
        let (comm, other) = (world.comm(), world.comm().dup()?);
        let mut data = [0u64; 4];
        let mut bcast = comm.persistent(collective::bcast(&mut data, 0))?;
        let error = other.scope(|s| s.restart(&mut bcast).map(drop));
        let error = error.expect_err("another one").to_string();
        assert!(error.contains("of another communicator"), "{error}");
        bcast.run()?;
        drop(bcast);
        comm.barrier()
    });
}
