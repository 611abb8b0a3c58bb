//! Tests of each algorithm of barrier, bcast, reduce and allreduce.

use std::panic::{AssertUnwindSafe, catch_unwind};

use oxmpi::{Comm, Error, Op, Result, Threading, World};
use oxmpi_coll::catalog::Collective;

use super::{compose, fold, names, pairs, value, values};
use crate::job::{Job, SIZES, for_each_algorithm};

/// Numbers of elements of 8 B: up to 1 MiB, around changes of protocol and algorithm, and no multiples of the
/// number of ranks.
const LENGTHS: [usize; 9] = [0, 1, 2, 6, 7, 1021, 1025, 8193, 131_072];

const ALLREDUCE: &str = "OXMPI_ALLREDUCE_ALGORITHM";

/// A message that one rank sends before a barrier is there when another rank leaves the barrier.
#[test]
fn no_rank_leaves_a_barrier_before_all_have_entered() {
    for ranks in SIZES {
        for algorithm in ["auto", "dissemination"] {
            // On one host only: over a network the message may arrive later than those of the barrier.
            let job = Job::of(ranks).on_one_host();
            let job = job.with("OXMPI_BARRIER_ALGORITHM", algorithm);
            job.succeed(|world| {
                let world = world.comm();
                // More communicators than node barriers, and splits that share one.
                let mut comms = (0..9).map(|_| world.dup()).collect::<Result<Vec<_>>>()?;
                comms.extend(world.split(Some(world.rank() as u32 % 2), 0)?);
                for round in 0..40 {
                    for comm in &comms {
                        late_message(comm, round % comm.size())?;
                    }
                }
                late_message(&world.share()?, 0)
            });
        }
    }
}

fn late_message<A: Threading>(comm: &Comm<A>, root: usize) -> Result<()> {
    for to in (0..comm.size()).filter(|_| comm.rank() == root) {
        comm.bsend(&[root], to, 7)?;
    }
    comm.barrier()?;
    assert!(comm.iprobe(root, 7)?.is_some(), "rank {}", comm.rank());
    comm.recv_vec::<usize>(root, 7).map(drop)
}

#[test]
fn allreduce_is_right_by_every_algorithm() {
    for ranks in for_each_algorithm(&SIZES) {
        for algorithm in names(Collective::Allreduce) {
            Job::of(ranks).with(ALLREDUCE, algorithm).succeed(|world| {
                let comm = world.comm();
                for len in LENGTHS {
                    all_operations(comm, len)?;
                }
                let total = comm.allreduce(&[1u8, 2, 3], Op::SUM)?;
                assert_eq!(total, [1, 2, 3].map(|x: u8| x * comm.size() as u8));
                Ok(())
            });
        }
    }
}

type Combine = fn(u64, u64) -> u64;

pub(super) fn all_operations(comm: &Comm, len: usize) -> Result<()> {
    let operations: [(Op, Combine); 7] = [
        (Op::SUM, u64::wrapping_add),
        (Op::PROD, u64::wrapping_mul),
        (Op::MIN, u64::min),
        (Op::MAX, u64::max),
        (Op::BAND, |a, b| a & b),
        (Op::BOR, |a, b| a | b),
        (Op::BXOR, |a, b| a ^ b),
    ];
    let mine = values(comm.rank(), len);
    let mut result = vec![0; len];
    // The longest vectors are reduced by one operation only, to save time.
    let count = if len < 10_000 { operations.len() } else { 1 };
    for (op, combine) in &operations[..count] {
        comm.allreduce_into(&mine, &mut result, *op)?;
        let mut in_place = mine.clone();
        comm.allreduce_in_place(&mut in_place, *op)?;
        for (i, got) in result.iter().enumerate() {
            assert_eq!(
                *got,
                fold(comm.size(), i, combine),
                "{op:?} of {len}, element {i}"
            );
        }
        assert!(in_place == result, "{op:?} of {len} in place");
    }
    Ok(())
}

#[test]
fn bcast_and_reduce_are_right_by_every_algorithm() {
    let all = pairs(Collective::Bcast, Collective::Reduce);
    for (ranks, &(bcast, reduce)) in for_each_algorithm(&SIZES)
        .into_iter()
        .flat_map(|ranks| all.iter().map(move |by| (ranks, by)))
    {
        let job = Job::of(ranks).with("OXMPI_BCAST_ALGORITHM", bcast);
        job.with("OXMPI_REDUCE_ALGORITHM", reduce).succeed(|world| {
            let comm = world.comm();
            for (root, len) in [0, comm.size() - 1]
                .into_iter()
                .flat_map(|root| [1, 7, 1021, 8193].map(|len| (root, len)))
            {
                bcast_and_reduce(comm, root, len)?;
            }
            Ok(())
        });
    }
}

#[test]
fn bcast_and_reduce_are_right_with_every_root() {
    for ranks in SIZES {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            for root in 0..size {
                for len in LENGTHS.into_iter().filter(|len| len * size < 1 << 19) {
                    bcast_and_reduce(comm, root, len)?;
                }
                let most = comm.reduce(&(rank as i32), Op::MAX, root)?;
                assert_eq!(most, (rank == root).then_some(size as i32 - 1));
                comm.barrier()?;
            }
            Ok(())
        });
    }
}

pub(super) fn bcast_and_reduce(comm: &Comm, root: usize, len: usize) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let mut data = if rank == root {
        values(root, len)
    } else {
        vec![0; len]
    };
    comm.bcast_into(&mut data, root)?;
    assert!(data == values(root, len), "bcast of {len} from {root}");

    let mut result = (rank == root).then(|| vec![0; len]);
    comm.reduce_into(&values(rank, len), result.as_deref_mut(), Op::SUM, root)?;
    for (i, got) in result.iter().flatten().enumerate() {
        let expected = fold(size, i, u64::wrapping_add);
        assert_eq!(*got, expected, "reduce of {len} to {root}, element {i}");
    }
    Ok(())
}

#[test]
fn operands_of_ordered_operations_are_in_the_order_of_ranks() {
    for ranks in SIZES {
        for algorithm in ["auto", "recursive-doubling"] {
            Job::of(ranks).with(ALLREDUCE, algorithm).succeed(|world| {
                for len in [1, 5, 1021, 20_000] {
                    in_order(world.comm(), len)?;
                }
                Ok(())
            });
        }
    }
}

pub(super) fn in_order(comm: &Comm, len: usize) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let of = |rank: usize| [2 * rank as u32 + 3, rank as u32 + len as u32];
    let mine = vec![of(rank); len];
    let expected = (1..size).map(of).fold(of(0), compose);
    let mut result = vec![[0; 2]; len];
    comm.allreduce_into(&mine, &mut result, Op::ordered(compose))?;
    assert!(
        result.iter().all(|got| *got == expected),
        "allreduce of {len}"
    );
    for root in 0..size {
        result.fill([0; 2]);
        let room = (rank == root).then_some(&mut result[..]);
        comm.reduce_into(&mine, room, Op::ordered(compose), root)?;
        let here = rank != root || result.iter().all(|got| *got == expected);
        assert!(here, "reduce of {len} to {root}");
    }
    Ok(())
}

/// Every rank adds in the same order, so rounding gives the same bits on all ranks.
#[test]
fn sums_of_floats_have_the_same_bits_on_all_ranks() {
    for ranks in SIZES {
        for algorithm in ["auto", "recursive-doubling", "ring"] {
            Job::of(ranks).with(ALLREDUCE, algorithm).succeed(|world| {
                let comm = world.comm();
                for len in [1, 7, 1021, 20_000] {
                    let mut sums: Vec<f64> = (0..len)
                        .map(|i| value(comm.rank(), i) as f64 * 10f64.powi(comm.rank() as i32 * 3))
                        .collect();
                    comm.allreduce_in_place(&mut sums, Op::SUM)?;
                    let mut bits: Vec<u64> = sums.iter().map(|sum| sum.to_bits()).collect();
                    comm.bcast_into(&mut bits, 0)?;
                    assert!(sums.iter().map(|sum| sum.to_bits()).eq(bits), "{len} sums");
                }
                Ok(())
            });
        }
    }
}

/// Collectives accept elements of size 0.
#[test]
fn elements_may_have_no_size() {
    for ranks in [1, 3] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let mut result = [(); 4];
            comm.allreduce_into(&[(); 4], &mut result, Op::ordered(|(), ()| ()))?;
            comm.reduce_in_place(&mut result, Op::commutative(|(), ()| ()), 0)?;
            comm.bcast_into(&mut result, 0)
        });
    }
}

/// A receive with wildcards matches a message of the user beside collectives, and never a message of a
/// collective.
#[test]
fn collectives_and_messages_do_not_match_each_other() {
    for ranks in [2, 4] {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
            for round in 0..200u32 {
                let mut got = [0];
                comm.scope(|s| {
                    let receive = s.irecv(&mut got, oxmpi::Source::Any, oxmpi::Tag::Any)?;
                    assert_eq!(comm.allreduce(&round, Op::MAX)?, round);
                    comm.send(&[round + rank as u32], right, round)?;
                    comm.barrier()?;
                    receive.wait()
                })?;
                assert_eq!(got, [round + left as u32]);
            }
            Ok(())
        });
    }
}

/// A user-defined operation panics: the communicator fails on that rank, and ranks that wait for it get an
/// error when it leaves.
#[test]
fn an_operation_that_panics_fails_the_communicator() {
    for (ranks, algorithm, only) in [
        (2, "recursive-doubling", "none"),
        (2, "ring", "1"),
        (3, "ring", "none"),
        (4, "recursive-doubling", "1"),
        (8, "ring", "1"),
    ] {
        let job = Job::of(ranks)
            .with(ALLREDUCE, algorithm)
            .with("PANICS", only);
        let done = job.run(|| {
            let world = World::init()?;
            let comm = world.comm().dup()?;
            let only: Option<usize> = std::env::var("PANICS").expect("set").parse().ok();
            let panics = only.is_none_or(|rank| rank == comm.rank());
            let mine = values(comm.rank(), 30_000);
            let mut result = mine.clone();
            let reduced = catch_unwind(AssertUnwindSafe(|| {
                let sum = Op::commutative(|a: u64, b: u64| {
                    if panics {
                        std::panic::resume_unwind(Box::new("no result"));
                    }
                    a.wrapping_add(b)
                });
                comm.allreduce_into(&mine, &mut result, sum)
            }));
            match reduced {
                Err(panic) => assert!(panics && panic.downcast_ref() == Some(&"no result")),
                Ok(Err(error)) => {
                    let is_expected =
                        matches!(error, Error::Peer { .. } | Error::Collective { .. });
                    assert!(is_expected, "{error}");
                }
                // This rank's result needs no operand from the rank that panicked.
                Ok(Ok(())) => assert!(!panics && only.is_some()),
            }
            let error = comm.barrier().expect_err("the ranks are out of step");
            assert!(
                matches!(error, Error::Collective { .. } | Error::Peer { .. }),
                "{error}"
            );
            Ok::<_, Error>(())
        });
        assert_eq!(done.code, 0, "{}", done.err);
    }
}
