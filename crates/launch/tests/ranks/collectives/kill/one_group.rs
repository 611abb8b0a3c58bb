//! Collectives of an intracommunicator, for the tests that kill a rank.

use oxmpi::collective::{self, Blocks};
use oxmpi::{Cart, Grid, Op, Result, World};

use super::{LONG, RANKS, Round, check_survivors, repeat};
use crate::job::Job;

const ROUNDS: &[Round<Cart>] = &[
    ("barrier", |comm, _, _| comm.barrier()),
    ("bcast", |comm, _, all| comm.bcast_into(&mut all[..LONG], 1)),
    ("gather", |comm, mine, all| {
        let root = comm.rank() == 1;
        comm.gather_into(&mine[..LONG], root.then_some(all), 1)
    }),
    ("gatherv", |comm, mine, all| {
        let all = (comm.rank() == 1).then(|| Blocks::packed(all, &[LONG; RANKS]));
        comm.gatherv(&mine[..LONG], all, 1)
    }),
    ("scatter", |comm, mine, all| {
        let root = comm.rank() == 1;
        comm.scatter_into(root.then_some(mine), &mut all[..LONG], 1)
    }),
    ("scatterv", |comm, mine, all| {
        let mine = (comm.rank() == 1).then(|| Blocks::packed(mine, &[LONG; RANKS]));
        comm.scatterv(mine, &mut all[..LONG], 1)
    }),
    ("allgather", |comm, mine, all| {
        comm.allgather_into(&mine[..LONG], all)
    }),
    ("allgatherv", |comm, mine, all| {
        comm.allgatherv(&mine[..LONG], Blocks::packed(all, &[LONG; RANKS]))
    }),
    ("alltoall", |comm, mine, all| comm.alltoall_into(mine, all)),
    ("alltoallv", |comm, mine, all| {
        let mine = Blocks::packed(mine, &[LONG; RANKS]);
        comm.alltoallv(mine, Blocks::packed(all, &[LONG; RANKS]))
    }),
    ("alltoallw", |comm, _, _| {
        let (mine, mut all) = (vec![1; 8 * LONG], vec![0; 8 * RANKS * LONG]);
        let mut all: Vec<_> = all.chunks_mut(8 * LONG).collect();
        comm.alltoallw(&[&mine[..]; RANKS], &mut all)
    }),
    ("reduce", |comm, mine, all| {
        let root = comm.rank() == 1;
        comm.reduce_into(mine, root.then_some(all), Op::SUM, 1)
    }),
    ("allreduce", |comm, mine, all| {
        comm.allreduce_into(mine, all, Op::SUM)
    }),
    ("short allreduce", |comm, mine, _| {
        comm.allreduce(&mine[0], Op::SUM).map(drop)
    }),
    ("reduce_scatter", |comm, mine, all| {
        comm.reduce_scatter(mine, &[LONG; RANKS], &mut all[..LONG], Op::SUM)
    }),
    ("reduce_scatter_block", |comm, mine, all| {
        comm.reduce_scatter_block_into(mine, &mut all[..LONG], Op::SUM)
    }),
    ("scan", |comm, mine, all| comm.scan_into(mine, all, Op::SUM)),
    ("exscan", |comm, mine, all| {
        comm.exscan_into(mine, all, Op::SUM)
    }),
    ("neighbor_allgather", |comm, mine, all| {
        comm.neighbor_allgather_into(&mine[..LONG], &mut all[..2 * LONG])
    }),
    ("neighbor_allgatherv", |comm, mine, all| {
        let all = Blocks::packed(&mut all[..2 * LONG], &[LONG; 2]);
        comm.neighbor_allgatherv(&mine[..LONG], all)
    }),
    ("neighbor_alltoall", |comm, mine, all| {
        comm.neighbor_alltoall_into(&mine[..2 * LONG], &mut all[..2 * LONG])
    }),
    ("neighbor_alltoallv", |comm, mine, all| {
        let mine = Blocks::packed(&mine[..2 * LONG], &[LONG; 2]);
        comm.neighbor_alltoallv(mine, Blocks::packed(&mut all[..2 * LONG], &[LONG; 2]))
    }),
    ("neighbor_alltoallw", |comm, _, _| {
        let (mine, mut all) = (vec![1; 8 * LONG], vec![0; 16 * LONG]);
        let mut all: Vec<_> = all.chunks_mut(8 * LONG).collect();
        comm.neighbor_alltoallw(&[&mine[..]; 2], &mut all)
    }),
    ("started barrier", |comm, _, _| {
        comm.scope(|scope| scope.start(collective::barrier())?.wait().map(drop))
    }),
    ("started allreduce", |comm, mine, all| {
        comm.scope(|scope| {
            let sum = scope.start(collective::allreduce(mine, all, Op::SUM))?;
            sum.wait().map(drop)
        })
    }),
    ("started gather", |comm, mine, all| {
        let all = (comm.rank() == 1).then_some(all);
        comm.scope(|scope| {
            let blocks = scope.start(collective::gather(&mine[..LONG], all, 1))?;
            blocks.wait().map(drop)
        })
    }),
    ("started alltoall", |comm, mine, all| {
        comm.scope(|scope| {
            scope
                .start(collective::alltoall(mine, all))?
                .wait()
                .map(drop)
        })
    }),
    ("two started", |comm, mine, all| {
        // The scope waits for both collectives.
        comm.scope(|scope| {
            let (first, second) = all.split_at_mut(LONG);
            scope.start(collective::bcast(first, 1))?;
            let second = &mut second[..LONG];
            scope.start(collective::reduce_scatter_block(mine, second, Op::SUM))?;
            Ok(())
        })
    }),
    ("persistent alltoall", |comm, mine, all| {
        let mut exchange = comm.persistent(collective::alltoall(mine, all))?;
        (0..2).try_for_each(|_| exchange.run().map(drop))
    }),
    ("persistent allreduce", |comm, mine, all| {
        let mut sum = comm.persistent(collective::allreduce(mine, all, Op::SUM))?;
        (0..2).try_for_each(|_| sum.run().map(drop))
    }),
];

/// Collectives that ranks of a node run in shared memory, without messages.
const IN_SHARED_MEMORY: [&str; 17] = [
    "barrier",
    "bcast",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
    "reduce",
    "allreduce",
    "short allreduce",
    "reduce_scatter_block",
    "started barrier",
    "started allreduce",
    "started gather",
    "started alltoall",
    "two started",
    "persistent alltoall",
    "persistent allreduce",
];

fn ring(world: &World) -> Result<Cart> {
    let ring = world.comm().cart(Grid::new(&[RANKS], &[true]))?;
    let ring = ring.expect("every rank has a place");
    // Started collectives go through shared memory from then on.
    ring.barrier()?;
    Ok(ring)
}

#[test]
fn survivors_get_errors_when_a_rank_is_killed_in_a_collective() {
    let names: Vec<_> = ROUNDS.iter().map(|round| round.0).collect();
    let rank = |path: &str| repeat(path, ROUNDS, ring);
    check_survivors("", &names, || Job::of(RANKS), rank);
}

#[test]
fn survivors_get_errors_when_a_rank_is_killed_in_a_collective_by_messages() {
    let job = || Job::of(RANKS).with("OXMPI_SHM_COLLECTIVES", "off");
    let rank = |path: &str| repeat(path, ROUNDS, ring);
    check_survivors(" by messages", &IN_SHARED_MEMORY, job, rank);
}
