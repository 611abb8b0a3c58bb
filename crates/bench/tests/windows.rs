//! Tests that the proof of every kernel over windows finds planted faults.

use crate::common::watched;
use crate::faulty::{Fault, Faulty, When};
use crate::suite::Record;
use oxmpi_bench::kernels::{Active, AnyKernel};
use oxmpi_bench::lengths::Lengths;
use oxmpi_bench::method::Method;
use oxmpi_bench::suite::{Plan, run};
use oxmpi_bench::{OffCache, Part};

/// Repetitions of a sample.
const REPETITIONS: u32 = 6;

/// One kernel at one length, long enough for every fault.
fn plan(kernel: AnyKernel) -> Plan {
    Plan {
        benchmarks: vec![kernel.into()],
        lengths: Lengths::Listed(vec![64]),
        method: Method {
            samples: REPETITIONS,
            samples_single: REPETITIONS,
            seconds: f64::INFINITY,
            ..Method::default()
        },
        ..Plan::default()
    }
}

/// The kernels over windows, with the numbers of ranks to test them on.
fn kernels() -> impl Iterator<Item = (AnyKernel, usize)> {
    let kernels = Part::ALL.into_iter().flat_map(AnyKernel::of);
    let kernels = kernels.filter(|kernel| matches!(kernel, AnyKernel::Windows(_)));
    kernels.flat_map(|kernel| {
        let sizes: &[usize] = match kernel.info().active {
            Active::Two => &[2],
            Active::All => &[2, 3],
        };
        sizes.iter().map(move |&ranks| (kernel, ranks))
    })
}

/// Runs the plan on `ranks` threads; returns the largest defect, and how often data was damaged.
fn damaged(plan: &Plan, ranks: usize, victim: usize, fault: Fault, when: When) -> (f64, usize) {
    let results = watched(ranks, |inner| {
        let mut world = Faulty::in_windows(inner, victim, fault, when);
        let defect = run(&mut world, plan, &mut Record::default()).expect("no call fails");
        (defect, world.accesses.damaged.get())
    });
    let damages = results.iter().map(|(_, damages)| damages).sum();
    (results[0].0, damages)
}

#[test]
fn each_planted_fault_is_found() {
    for (kernel, ranks) in kernels() {
        let mut found = 0;
        for (fault, victim) in
            (Fault::ALL.into_iter()).flat_map(|f| (0..ranks).map(move |v| (f, v)))
        {
            for (check, off_cache) in [(false, None), (true, None), (false, Some(WALK))] {
                let mut plan = plan(kernel);
                (plan.method.check, plan.off_cache) = (check, off_cache);
                plan.layout.fewest = Some(ranks);
                let (defect, damages) = damaged(&plan, ranks, victim, fault, When::Always);
                let what = format!("{kernel:?}: {fault:?} on {victim} of {ranks}, check {check}");
                assert_eq!(defect > 0.0, damages > 0, "{what}: {damages} times");
                found += damages;
            }
        }
        assert!(found > 0, "{kernel:?} on {ranks}: no rank receives data");
    }
}

/// A cache so small that messages walk and wrap within a few repetitions.
const WALK: OffCache = OffCache {
    cache: 512,
    line: 64,
};

/// Damage of a single access, in a trial or in the timed part of either mode.
#[test]
fn with_check_the_fault_of_any_single_access_is_found() {
    for (kernel, ranks) in kernels() {
        let mut plan = plan(kernel);
        (plan.method.check, plan.method.warm_up) = (true, 0);
        plan.layout.fewest = Some(ranks);
        for victim in 0..ranks {
            let calls = [0, 1, 2, 3, 4, 7, 11, 16];
            for (call, fault) in calls.into_iter().zip(Fault::ALL.into_iter().cycle()) {
                let (defect, damages) = damaged(&plan, ranks, victim, fault, When::Call(call));
                let what = format!("{kernel:?}: {fault:?} in access {call} to {victim} of {ranks}");
                assert_eq!(defect > 0.0, damages > 0, "{what}");
            }
        }
    }
}
