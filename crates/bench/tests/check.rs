//! Tests that `-check` finds a fault in any single call, or with any single root, of kernels over messages and nonblocking
//! collectives.

use crate::common::watched;
use crate::faulty::{Fault, Faulty, When, assert_found_by_the_victim};
use oxmpi_bench::kernels::{Active, AnyKernel, Class};
use oxmpi_bench::method::{self, Messages, Method, StartedOptions, StartedWork, Workload};
use oxmpi_bench::{Comm, Memory, Part};

/// Repetitions of a sample: two whole cycles of five roots, and a part of one.
const REPETITIONS: u32 = 12;
const BYTES: usize = 64;

/// The defect of one checked sample. The ranks need not agree on the repetitions: no time limit cuts them.
fn checked(kernel: AnyKernel, world: &mut Faulty) -> f64 {
    let buffer_sizes = (kernel.info().buffer_sizes)(BYTES, world.size());
    let mut memory = Memory::new(buffer_sizes, None);
    let mut buffers = memory.buffers(buffer_sizes);
    match kernel {
        AnyKernel::Messages(kernel) => sampled(&mut Messages::new(kernel, &mut buffers), world),
        AnyKernel::Nonblocking(kernel) => {
            let options = StartedOptions {
                synchronises: true,
                tests: true,
            };
            let mut work = StartedWork::new(kernel, &mut buffers, options);
            if kernel.info.class == Class::Nonblocking {
                work.compute_for(world, 1000, 1);
            }
            sampled(&mut work, world)
        }
        AnyKernel::Windows(kernel) => panic!("{kernel:?} has a test of its own"),
    }
}

fn sampled(work: &mut impl Workload<Faulty>, world: &mut Faulty) -> f64 {
    let method = Method {
        samples: REPETITIONS,
        seconds: f64::INFINITY,
        check: true,
        ..Method::default()
    };
    let ready = method::prepare(work, world, &method, BYTES);
    // Faults in the warm-up and the trial are not the subject here.
    let ready = method::Ready {
        defect: 0.0,
        ..ready.expect("no call fails")
    };
    world.recount();
    let timing = method::measure(work, world, &method, BYTES, ready);
    let timing = timing.expect("no call fails");
    assert_eq!(timing.repetitions, REPETITIONS);
    timing.defect
}

/// Three and five ranks; two for the kernels of two ranks.
fn groups(kernel: AnyKernel) -> &'static [usize] {
    match kernel.info().active {
        Active::Two => &[2],
        Active::All => &[3, 5],
    }
}

fn kernels() -> impl Iterator<Item = AnyKernel> {
    [Part::Mpi1, Part::Nbc].into_iter().flat_map(AnyKernel::of)
}

fn is_barrier(kernel: &AnyKernel) -> bool {
    kernel.info().fixed == Some(0)
}

fn with_data() -> impl Iterator<Item = AnyKernel> {
    kernels().filter(|kernel| !is_barrier(kernel))
}

#[test]
fn a_fault_of_any_single_call_is_found_on_its_rank() {
    for kernel in with_data() {
        for &ranks in groups(kernel) {
            for victim in 0..ranks {
                let defects = watched(ranks, |inner| {
                    let mut world = Faulty::new(inner, victim, Fault::Flip, When::Never);
                    let right = checked(kernel, &mut world);
                    let calls = world.seen;
                    // No rank receives in more than one call of a repetition.
                    let wrong: Vec<f64> = (0..REPETITIONS as usize)
                        .map(|call| {
                            let fault = Fault::ALL[call % Fault::ALL.len()];
                            world.switch_to(fault, When::Call(call));
                            checked(kernel, &mut world)
                        })
                        .collect();
                    (right, calls, wrong)
                });
                let calls = defects[victim].1;
                assert!(
                    (1..=REPETITIONS as usize).contains(&calls),
                    "{kernel:?} on {victim} of {ranks}"
                );
                for (rank, (right, _, wrong)) in defects.iter().enumerate() {
                    let what = format!("{kernel:?} on {victim} of {ranks}, rank {rank}: {wrong:?}");
                    assert_eq!(*right, 0.0, "{what}");
                    for (call, &defect) in wrong.iter().enumerate() {
                        let wanted = rank == victim && call < calls;
                        assert_eq!(defect > 0.0, wanted, "call {call}, {what}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_fault_of_one_root_only_is_found() {
    for kernel in with_data().filter(|kernel| kernel.info().rooted) {
        for &ranks in groups(kernel) {
            for root in 0..ranks {
                let mut struck = 0;
                for victim in 0..ranks {
                    let defects = watched(ranks, |inner| {
                        let when = When::Root(root);
                        let mut world = Faulty::new(inner, victim, Fault::Stale, when);
                        let defect = checked(kernel, &mut world);
                        (world.spoiled > 0, defect > 0.0)
                    });
                    for (rank, (spoiled, found)) in defects.into_iter().enumerate() {
                        let what = format!("{kernel:?}, root {root} of {ranks}, rank {rank}");
                        assert_eq!(found, spoiled, "{what}");
                        struck += usize::from(spoiled);
                    }
                }
                assert!(struck > 0, "{kernel:?}: root {root} of {ranks}");
            }
        }
    }
}

#[test]
fn a_barrier_that_does_not_wait_is_found() {
    for kernel in kernels().filter(is_barrier) {
        assert_found_by_the_victim([3, 5], |world| checked(kernel, world));
    }
}
