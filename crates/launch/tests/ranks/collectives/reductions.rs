//! Tests of reductions (reduce, allreduce, reduce-scatter, scan): in place, with user-defined and
//! noncommutative operations, and with `ValueLoc`.

use oxmpi::{Comm, Op, Result, ValueLoc};
use oxmpi_coll::catalog::Collective;

use super::{compose, fold, names, pairs, value, values};
use crate::job::{Job, for_each_algorithm};

/// Ranks of a job.
const SIZES: [usize; 6] = [1, 2, 3, 4, 7, 8];

/// The operand of [`compose`] that `rank` has for element `i`.
fn operand(rank: usize, i: usize) -> [u32; 2] {
    let bits = value(rank, i);
    [bits as u32 | 1, (bits >> 32) as u32]
}

/// The operands of ranks `0..ranks` composed in this order, for the elements `at`.
fn composed(ranks: usize, at: impl Iterator<Item = usize>) -> Vec<[u32; 2]> {
    let of = |i| {
        (1..ranks)
            .map(|rank| operand(rank, i))
            .fold(operand(0, i), compose)
    };
    at.map(of).collect()
}

fn sums(ranks: usize, len: usize) -> Vec<u64> {
    (0..len)
        .map(|i| fold(ranks, i, u64::wrapping_add))
        .collect()
}

pub(super) fn scans(comm: &Comm, len: usize) -> Result<()> {
    let rank = comm.rank();
    let mine = values(rank, len);
    let (mut apart, mut in_place) = (vec![0; len], mine.clone());
    comm.scan_into(&mine, &mut apart, Op::SUM)?;
    comm.scan_in_place(&mut in_place, Op::SUM)?;
    assert!(apart == sums(rank + 1, len), "scan of {len}");
    assert!(in_place == apart, "scan of {len} in place");

    let mut in_place = mine.clone();
    comm.exscan_into(&mine, &mut apart, Op::SUM)?;
    comm.exscan_in_place(&mut in_place, Op::SUM)?;
    if rank > 0 {
        assert!(apart == sums(rank, len), "exscan of {len}");
        assert!(in_place == apart, "exscan of {len} in place");
    }

    let mine: Vec<_> = (0..len).map(|i| operand(rank, i)).collect();
    let mut ordered = mine.clone();
    comm.scan_in_place(&mut ordered, Op::ordered(compose))?;
    assert!(
        ordered == composed(rank + 1, 0..len),
        "scan of {len} in order"
    );
    comm.exscan_into(&mine, &mut ordered, Op::ordered(compose))?;
    assert!(
        rank == 0 || ordered == composed(rank, 0..len),
        "exscan of {len} in order"
    );
    Ok(())
}

#[test]
fn scans_are_right_by_every_algorithm() {
    let all = pairs(Collective::Scan, Collective::Exscan);
    for (ranks, &(scan, exscan)) in for_each_algorithm(&SIZES)
        .into_iter()
        .flat_map(|ranks| all.iter().map(move |by| (ranks, by)))
    {
        let job = Job::of(ranks).with("OXMPI_SCAN_ALGORITHM", scan);
        job.with("OXMPI_EXSCAN_ALGORITHM", exscan).succeed(|world| {
            let comm = world.comm();
            for len in [0, 1, 7, 1021, 9000] {
                scans(comm, len)?;
            }
            let rank = comm.rank() as u32;
            assert_eq!(comm.scan(&rank, Op::MAX)?, rank);
            let below = comm.exscan(&1u32, Op::SUM)?;
            assert_eq!(below, (rank > 0).then_some(rank));
            comm.barrier()
        });
    }
}

pub(super) fn scattered(comm: &Comm, len: usize) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let mine = values(rank, len * size);
    let expected = &sums(size, len * size)[rank * len..][..len];
    let (mut result, mut in_place) = (vec![0; len], mine.clone());
    comm.reduce_scatter_block_into(&mine, &mut result, Op::SUM)?;
    comm.reduce_scatter_block_in_place(&mut in_place, Op::SUM)?;
    assert!(result == expected, "reduce_scatter_block of {len}");
    assert!(
        in_place[..len] == result,
        "reduce_scatter_block of {len} in place"
    );

    let mine: Vec<_> = (0..len * size).map(|i| operand(rank, i)).collect();
    let mut result = vec![[0; 2]; len];
    comm.reduce_scatter_block_into(&mine, &mut result, Op::ordered(compose))?;
    assert!(
        result == composed(size, rank * len..(rank + 1) * len),
        "in order, {len}"
    );
    Ok(())
}

#[test]
fn reduce_scatter_block_is_right_by_every_algorithm() {
    for ranks in for_each_algorithm(&SIZES) {
        for algorithm in names(Collective::ReduceScatterBlock) {
            let job = Job::of(ranks).with("OXMPI_REDUCE_SCATTER_BLOCK_ALGORITHM", algorithm);
            job.succeed(|world| {
                [0, 1, 13, 2000]
                    .into_iter()
                    .try_for_each(|len| scattered(world.comm(), len))
            });
        }
    }
}

/// The root's values become the result; the values of other ranks do not change.
#[test]
fn reduce_in_place_changes_only_the_root() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            for root in 0..size {
                for len in [0, 3, 1021, 9000] {
                    let mut data = values(rank, len);
                    comm.reduce_in_place(&mut data, Op::SUM, root)?;
                    let expected = match rank == root {
                        true => sums(size, len),
                        false => values(rank, len),
                    };
                    assert!(data == expected, "reduce of {len} to {root}");
                    let mut data: Vec<_> = (0..len).map(|i| operand(rank, i)).collect();
                    comm.reduce_in_place(&mut data, Op::ordered(compose), root)?;
                    let here = rank != root || data == composed(size, 0..len);
                    assert!(here, "reduce of {len} to {root} in order");
                }
            }
            comm.barrier()
        });
    }
}

#[test]
fn minloc_maxloc_and_logical_operations_are_right() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            let here = rank as u64;
            let least = comm.allreduce(&ValueLoc::new(-(rank as i64), here), Op::MINLOC)?;
            assert_eq!(least, ValueLoc::new(1 - size as i64, size as u64 - 1));
            let most = comm.allreduce(&ValueLoc::new((rank / 2) as f64, here), Op::MAXLOC)?;
            // Of equal values MAXLOC takes the one with the smaller index.
            let expected = (size - 1) / 2;
            assert_eq!(
                (most.value(), most.index()),
                (expected as f64, 2 * expected as u64)
            );
            let pairs = vec![ValueLoc::new(rank as u8, here); 1000];
            let mut all = vec![ValueLoc::default(); 1000];
            comm.allreduce_into(&pairs, &mut all, Op::MINLOC)?;
            assert_eq!(all, vec![ValueLoc::new(0, 0); 1000]);

            let is_even = u8::from(rank % 2 == 0);
            assert_eq!(comm.allreduce(&is_even, Op::LOR)?, 1);
            assert_eq!(comm.allreduce(&is_even, Op::LAND)?, u8::from(size == 1));
            let odd = comm.allreduce(&(rank as i32 + 1), Op::LXOR)?;
            assert_eq!(odd, size as i32 % 2);
            Ok(())
        });
    }
}

/// A user-defined operation may capture variables, and is declared commutative or ordered.
#[test]
fn user_defined_operations_are_right() {
    for ranks in [1, 3, 8] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let modulus = 1_000_003;
            let times = Op::commutative(|a: u64, b: u64| a * b % modulus);
            let product = comm.allreduce(&(comm.rank() as u64 + 2), times)?;
            let expected = (2..comm.size() as u64 + 2).fold(1, |a, b| a * b % modulus);
            assert_eq!(product, expected);
            let first = comm.reduce(&[comm.rank() as u32; 2], Op::ordered(|a, _| a), 0)?;
            assert_eq!(first, (comm.rank() == 0).then_some([0; 2]));
            let last = comm.scan(&comm.rank(), Op::ordered(|_, b| b))?;
            assert_eq!(last, comm.rank());
            Ok(())
        });
    }
}
