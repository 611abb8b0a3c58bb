//! Tests of collectives on values, one of each rank: each gives what the form on slices gives.

use oxmpi::{Error, Grid, Op, Result};

use crate::job::{Job, SIZES};

/// The value that rank `from` has for rank `to`.
fn value(from: usize, to: usize) -> [u32; 2] {
    [from as u32, to as u32 * 100]
}

/// Values of several types and numbers of ranks.
#[test]
fn values_reach_the_ranks_that_slices_reach() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            let mine: Vec<_> = (0..size).map(|to| value(rank, to)).collect();
            let for_me: Vec<_> = (0..size).map(|from| value(from, rank)).collect();
            assert_eq!(comm.allgather(&rank)?, (0..size).collect::<Vec<_>>());
            assert_eq!(comm.alltoall(&mine)?, for_me);
            let one_each = vec![1u64; size];
            assert_eq!(comm.reduce_scatter_block(&one_each, Op::SUM)?, size as u64);
            for root in [0, size - 1] {
                assert_eq!(comm.bcast(value(rank, 1), root)?, value(root, 1));
                let all = comm.gather(&value(rank, 7), root)?;
                let expected: Vec<_> = (0..size).map(|from| value(from, 7)).collect();
                assert_eq!(all, (rank == root).then_some(expected));
                let values = (rank == root).then_some(&mine[..]);
                assert_eq!(comm.scatter(values, root)?, value(root, rank));
            }
            Ok(())
        });
    }
}

/// The neighbours of a ring in their order: left, right.
#[test]
fn values_reach_the_neighbours() {
    for ranks in [1, 3, 4] {
        Job::of(ranks).succeed(|world| {
            let size = world.comm().size();
            let ring = world.comm().cart(Grid::new(&[size], &[true]))?;
            let ring = ring.expect("all ranks are in it");
            let (rank, left, right) = (
                ring.rank(),
                (ring.rank() + size - 1) % size,
                (ring.rank() + 1) % size,
            );
            assert_eq!(ring.neighbor_allgather(&rank)?, [left, right]);
            // The left neighbour sends its second value here, the right one its first.
            let sent = [value(rank, left), value(rank, right)];
            assert_eq!(
                ring.neighbor_alltoall(&sent)?,
                [value(left, rank), value(right, rank)]
            );
            Ok(())
        });
    }
}

/// A wrong number of values is an error before anything is sent.
#[test]
fn a_wrong_number_of_values_is_an_error() {
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        let is_count = |result: Result<Vec<u8>>| {
            matches!(
                result,
                Err(Error::Count {
                    has: 3,
                    needs: 2,
                    ..
                })
            )
        };
        assert!(is_count(comm.alltoall(&[1u8, 2, 3])));
        assert!(
            comm.neighbor_alltoall(&[1u8]).is_err(),
            "it has no neighbours"
        );
        assert!(
            comm.neighbor_allgather(&1u8).is_err(),
            "it has no neighbours"
        );
        comm.barrier()
    });
}
