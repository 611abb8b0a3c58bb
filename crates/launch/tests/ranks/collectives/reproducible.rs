//! Tests of reproducible reductions: the same bits for any placement and any number of ranks.

use oxmpi::{Error, ExactSum, Op, World, collective};

use crate::job::Job;

const REPRODUCIBLE: &str = "OXMPI_COLL_REPRODUCIBLE";

/// Numbers whose sum is 2: rounded additions give 0, 1 or 2, by their order.
const NUMBERS: [f64; 4] = [1e16, 1.0, -1e16, 1.0];

/// The contribution of `rank` to element `at`: one of [`NUMBERS`] or 0. The ranks that have a number differ
/// between elements.
fn part(rank: usize, size: usize, at: usize) -> f64 {
    NUMBERS.get((rank + at) % size).copied().unwrap_or(0.0)
}

/// An exact sum has the same bits for any number of ranks, with numbers distributed cyclically or in blocks.
#[test]
fn exact_sums_do_not_depend_on_the_distribution() {
    let number = |n: usize| {
        let sign = if n.is_multiple_of(3) { -1.0 } else { 1.0 };
        sign * (1.0 + n as f64).recip() * 2f64.powi((n as i32 * 37) % 200 - 100)
    };
    const COUNT: usize = 1000;
    for ranks in 1..=8 {
        Job::of(ranks).succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            let alone: ExactSum = (0..COUNT).map(number).collect();
            let cyclic: ExactSum = (rank..COUNT).step_by(size).map(number).collect();
            let blocks = (rank * COUNT / size..(rank + 1) * COUNT / size).map(number);
            let blocks: ExactSum = blocks.collect();
            for mine in [cyclic, blocks] {
                let all = comm.allreduce(&mine, Op::SUM)?;
                assert_eq!(all.value().to_bits(), alone.value().to_bits());
                assert_eq!(all.value_f32().to_bits(), alone.value_f32().to_bits());
            }
            Ok(())
        });
    }
}

#[test]
fn sums_do_not_depend_on_the_number_of_ranks() {
    for ranks in 4..=8 {
        Job::of(ranks).with(REPRODUCIBLE, "ranks").succeed(|world| {
            let comm = world.comm();
            let (rank, size) = (comm.rank(), comm.size());
            let len = 3 * size;
            let mine: Vec<f64> = (0..len).map(|at| part(rank, size, at)).collect();
            let right = |sums: &[f64]| sums.iter().all(|&sum| sum == 2.0);

            let mut sums = vec![0.0; len];
            comm.allreduce_into(&mine, &mut sums, Op::SUM)?;
            assert!(right(&sums), "{sums:?}");
            sums.copy_from_slice(&mine);
            comm.allreduce_in_place(&mut sums, Op::SUM)?;
            assert!(right(&sums), "{sums:?}");
            let mut sums = (rank == 2).then(|| vec![0.0; len]);
            comm.reduce_into(&mine, sums.as_deref_mut(), Op::SUM, 2)?;
            assert!(sums.is_none_or(|sums| right(&sums)));
            let mut share = [0.0; 3];
            comm.reduce_scatter_block_into(&mine, &mut share, Op::SUM)?;
            assert!(right(&share));
            let mut counts = vec![2; size];
            counts[0] += len - 2 * size;
            let mut share = vec![0.0; counts[rank]];
            comm.reduce_scatter(&mine, &counts, &mut share, Op::SUM)?;
            assert!(right(&share));
            let mut sums = mine.clone();
            comm.reduce_scatter_in_place(&mut sums, &counts, Op::SUM)?;
            assert!(right(&sums[..counts[rank]]));
            let mut sums = mine.clone();
            comm.scan_in_place(&mut sums, Op::SUM)?;
            assert!(rank + 1 < size || right(&sums));
            // Rank 0 keeps its content of the buffer.
            let mut before = vec![-0.0; len];
            comm.exscan_into(&mine, &mut before, Op::SUM)?;
            let kept = before
                .iter()
                .all(|sum| sum.to_bits() == (-0.0_f64).to_bits());
            assert_eq!(rank == 0, kept);

            let short: Vec<f32> = mine.iter().map(|&value| value as f32).collect();
            let mut sums = vec![0.0; len];
            comm.scope(|s| {
                s.start(collective::allreduce(&short, &mut sums, Op::SUM))?
                    .wait()?;
                Ok(())
            })?;
            assert!(sums.iter().all(|&sum| sum == 2.0), "{sums:?}");

            let (mut given, mut sums) = (mine.clone(), vec![0.0; len]);
            let mut again =
                comm.persistent(collective::allreduce(&mut given, &mut sums, Op::SUM))?;
            for run in 0..3 {
                let (given, _) = again.buffers();
                given.rotate_left(run);
                again.run()?;
                let (_, sums) = again.buffers();
                assert!(right(sums), "{sums:?}");
            }

            let why = comm.allreduce(&1.5, Op::PROD).expect_err("it rounds");
            assert!(
                why.to_string().starts_with("PROD may have other bits"),
                "{why}"
            );
            assert_eq!(comm.allreduce(&2_u64, Op::PROD)?, 1 << size);
            comm.barrier()
        });
    }
}

/// With `placement` results have the same bits with and without the protocols of shared memory, which combine
/// in another order than messages, and over several hosts.
#[test]
fn results_do_not_depend_on_the_placement() {
    let bits = |node: &str, one_host: bool| {
        let job = Job::of(6)
            .with(REPRODUCIBLE, "placement")
            .with("OXMPI_SHM_COLLECTIVES", node);
        let job = if one_host { job.on_one_host() } else { job };
        let done = job.run(|| {
            let world = World::init()?;
            let comm = world.comm();
            for len in [1, 100, 20_000] {
                let value = |at: usize| ((comm.rank() * 7919 + at * 31) as f64 + 0.1).recip();
                let mut sums: Vec<f64> = (0..len).map(value).collect();
                comm.allreduce_in_place(&mut sums, Op::SUM)?;
                let digest = sums.iter().fold(len as u64, |digest, sum| {
                    (digest.rotate_left(7) ^ sum.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15)
                });
                if comm.rank() == 0 {
                    println!("{len}: {digest:016x}");
                }
            }
            Ok::<_, Error>(())
        });
        assert_eq!(done.code, 0, "{}", done.err);
        done.out
    };
    let with = bits("on", true);
    assert_eq!(with.lines().count(), 3);
    assert_eq!(with, bits("off", true));
    assert_eq!(with, bits("on", false), "over hosts");
}
