//! Tests of gather, scatter, allgather and alltoall with equal blocks: every root, in place, every algorithm.

use oxmpi::{Comm, Result, Threading};
use oxmpi_coll::catalog::Collective;

use super::{pairs, values};
use crate::job::{Job, for_each_algorithm};

/// Ranks of a job.
const SIZES: [usize; 6] = [1, 2, 3, 4, 7, 8];

/// Elements of 8 B in a block.
const LENGTHS: [usize; 5] = [0, 1, 5, 700, 9000];

/// Blocks of all ranks, in their order.
fn all_values(size: usize, len: usize) -> Vec<u64> {
    (0..size).flat_map(|rank| values(rank, len)).collect()
}

/// The blocks that `rank` sends to each rank.
fn sent(rank: usize, size: usize, len: usize) -> Vec<u64> {
    (0..size)
        .flat_map(|to| values(rank * 100 + to, len))
        .collect()
}

/// The blocks that `rank` receives from each rank.
fn received(rank: usize, size: usize, len: usize) -> Vec<u64> {
    (0..size)
        .flat_map(|from| values(from * 100 + rank, len))
        .collect()
}

pub(super) fn gather_and_scatter<A: Threading>(
    comm: &Comm<A>,
    root: usize,
    len: usize,
) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let (mine, expected) = (values(rank, len), all_values(size, len));
    let at_root = rank == root;

    let mut all = at_root.then(|| vec![0; len * size]);
    comm.gather_into(&mine, all.as_deref_mut(), root)?;
    assert!(
        all.is_none_or(|all| all == expected),
        "gather of {len} to {root}"
    );

    let mut room = vec![0; len];
    comm.scatter_into(at_root.then_some(&expected[..]), &mut room, root)?;
    assert!(room == mine, "scatter of {len} from {root}");

    let mut all = vec![0; len * size];
    if at_root {
        all[rank * len..][..len].copy_from_slice(&mine);
        comm.gather_in_place(&mut all)?;
        assert!(all == expected, "gather of {len} to {root} in place");
        comm.scatter_in_place(&expected)
    } else {
        comm.gather_into(&mine, None, root)?;
        comm.scatter_into(None, &mut room, root)?;
        assert!(room == mine, "scatter of {len} from {root} in place");
        Ok(())
    }
}

pub(super) fn allgather_and_alltoall<A: Threading>(comm: &Comm<A>, len: usize) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let (mine, expected) = (values(rank, len), all_values(size, len));

    let mut all = vec![0; len * size];
    comm.allgather_into(&mine, &mut all)?;
    assert!(all == expected, "allgather of {len}");
    all.fill(0);
    all[rank * len..][..len].copy_from_slice(&mine);
    comm.allgather_in_place(&mut all)?;
    assert!(all == expected, "allgather of {len} in place");

    let (mut blocks, expected) = (sent(rank, size, len), received(rank, size, len));
    comm.alltoall_into(&blocks, &mut all)?;
    assert!(all == expected, "alltoall of {len}");
    comm.alltoall_in_place(&mut blocks)?;
    assert!(blocks == expected, "alltoall of {len} in place");
    Ok(())
}

#[test]
fn gather_and_scatter_are_right_with_every_root() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            for root in 0..comm.size() {
                for len in LENGTHS {
                    gather_and_scatter(comm, root, len)?;
                }
            }
            comm.barrier()
        });
    }
}

#[test]
fn allgather_and_alltoall_are_right_with_every_length() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            LENGTHS
                .into_iter()
                .try_for_each(|len| allgather_and_alltoall(world.comm(), len))
        });
    }
}

#[test]
fn gather_and_scatter_are_right_by_every_algorithm() {
    for ranks in for_each_algorithm(&[2, 4, 7]) {
        for (gather, scatter) in pairs(Collective::Gather, Collective::Scatter) {
            let job = Job::of(ranks).with("OXMPI_GATHER_ALGORITHM", gather);
            job.with("OXMPI_SCATTER_ALGORITHM", scatter)
                .succeed(|world| {
                    let comm = world.comm();
                    for len in [1, 700, 9000] {
                        gather_and_scatter(comm, comm.size() / 2, len)?;
                    }
                    comm.barrier()
                });
        }
    }
}

#[test]
fn allgather_and_alltoall_are_right_by_every_algorithm() {
    for ranks in for_each_algorithm(&[2, 4, 7]) {
        for (allgather, alltoall) in pairs(Collective::Allgather, Collective::Alltoall) {
            let job = Job::of(ranks).with("OXMPI_ALLGATHER_ALGORITHM", allgather);
            job.with("OXMPI_ALLTOALL_ALGORITHM", alltoall)
                .succeed(|world| {
                    [1, 700, 9000]
                        .into_iter()
                        .try_for_each(|len| allgather_and_alltoall(world.comm(), len))
                });
        }
    }
}

/// Ranks of parts of the world and of shared communicators differ from their ranks in the world.
#[test]
fn collectives_are_right_on_parts_and_shared_communicators() {
    Job::of(7).succeed(|world| {
        let comm = world.comm();
        let part = comm.split(Some(comm.rank() as u32 % 2), -(comm.rank() as i32))?;
        let part = part.expect("every rank has a colour");
        for len in [1, 700] {
            gather_and_scatter(&part, part.size() - 1, len)?;
            allgather_and_alltoall(&part, len)?;
        }
        let shared = [comm.share()?, part.share()?];
        std::thread::scope(|threads| {
            let all = shared.each_ref().map(|comm| {
                threads.spawn(|| -> Result<()> {
                    for len in [1, 9000] {
                        gather_and_scatter(comm, 1, len)?;
                        allgather_and_alltoall(comm, len)?;
                    }
                    Ok(())
                })
            });
            all.into_iter()
                .try_for_each(|thread| thread.join().expect("no panic"))
        })
    });
}
