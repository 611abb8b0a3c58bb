//! Tests every kernel over threads of this process: right data passes, and each planted fault is found.

use crate::common::watched;
use crate::faulty::{Fault, Faulty, When, assert_found_by_the_victim};
use oxmpi_bench::kernels::{Active, Sample};
use oxmpi_bench::{Comm, Kernel, Memory, OffCache};

/// A cache so small that messages walk and wrap within a few repetitions.
const WALK: OffCache = OffCache {
    cache: 512,
    line: 64,
};

/// The defect that the kernel finds after the repetitions, in two parts, at `bytes`.
fn proof<C: Comm<Error: std::fmt::Debug>>(
    kernel: Kernel,
    comm: &mut C,
    bytes: usize,
    times: u32,
    off_cache: Option<OffCache>,
) -> f64 {
    let buffer_sizes = (kernel.info().buffer_sizes)(bytes, comm.size());
    let mut memory = Memory::new(buffer_sizes, off_cache);
    let mut buffers = memory.buffers(buffer_sizes);
    let sample = Sample {
        rank: comm.rank(),
        ranks: comm.size(),
        seed: 5,
    };
    kernel.fill(sample, &mut buffers);
    for times in [times / 2, times.div_ceil(2)] {
        let done = kernel.repeat(comm, times, &mut buffers);
        done.expect("no call fails");
    }
    let defect = kernel.check(comm, sample, &mut buffers);
    defect.expect("no call fails")
}

/// The numbers of ranks up to `most` on which the kernel runs.
fn groups(kernel: Kernel, most: usize) -> impl Iterator<Item = usize> {
    let all = 1..=most;
    all.filter(move |&ranks| ranks == 2 || kernel.info().active == Active::All)
}

#[test]
fn right_data_passes_on_1_to_8_ranks() {
    for &kernel in Kernel::ALL {
        for ranks in groups(kernel, 8) {
            let defects = watched(ranks, |mut world| {
                let mut worst: f64 = 0.0;
                for off_cache in [None, Some(WALK)] {
                    for bytes in [0, 1, 3, 4, 68, 1000] {
                        for times in [1, 2, 11] {
                            let defect = proof(kernel, &mut world, bytes, times, off_cache);
                            worst = worst.max(defect);
                        }
                    }
                }
                worst
            });
            assert!(
                defects.iter().all(|&defect| defect == 0.0),
                "{kernel:?} on {ranks} ranks: {defects:?}"
            );
        }
    }
}

#[test]
fn each_planted_fault_is_found_on_its_rank() {
    let data = |kernel: &&Kernel| **kernel != Kernel::Barrier;
    for &kernel in Kernel::ALL.iter().filter(data) {
        for ranks in groups(kernel, 4).filter(|&ranks| ranks > 1) {
            for (fault, off_cache) in Fault::ALL
                .into_iter()
                .zip([None, Some(WALK)].into_iter().cycle())
            {
                for victim in 0..ranks {
                    let defects = watched(ranks, |inner| {
                        let mut world = Faulty::new(inner, victim, fault, When::Always);
                        proof(kernel, &mut world, 64, 11, off_cache)
                    });
                    let found: Vec<bool> = defects.iter().map(|&defect| defect > 0.0).collect();
                    let wanted: Vec<bool> = (0..ranks).map(|rank| rank == victim).collect();
                    let what = format!("{kernel:?}, {fault:?} on {victim} of {ranks}: {defects:?}");
                    assert_eq!(found, wanted, "{what}");
                }
            }
        }
    }
}

#[test]
fn a_barrier_that_does_not_wait_is_found() {
    assert_found_by_the_victim(2..=4, |world| proof(Kernel::Barrier, world, 0, 11, None));
}
