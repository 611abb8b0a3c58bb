//! Tests of the memory of a job before its first message.

use std::fs;

use oxmpi::{Comm, Op, Result, World};

use crate::common::Done;
use crate::job::Job;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The number of a line of `/proc/self/smaps_rollup`, in bytes: counted page by page, where
/// `/proc/self/status` is off by some on a machine of many processors.
pub(crate) fn memory(name: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/smaps_rollup").expect("it exists");
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|text| text.trim().strip_suffix(" kB"));
    KIB * kib
        .and_then(|kib| kib.trim().parse::<u64>().ok())
        .expect("a number")
}

/// This rank's own memory.
fn private() -> u64 {
    memory("Anonymous:")
}

/// The addresses that this rank's shared memory takes, touched or not.
fn mapped() -> u64 {
    let maps = fs::read_to_string("/proc/self/maps").expect("it exists");
    let shared = maps.lines().filter(|line| line.contains(" rw-s "));
    let lens = shared.map(|line| {
        let (range, _) = line.split_once(' ').expect("a range comes first");
        let (start, end) = range.split_once('-').expect("two addresses");
        let number = |text| u64::from_str_radix(text, 16).expect("an address");
        number(end) - number(start)
    });
    lens.sum()
}

/// The shared memory that ranks have touched, each page once: every rank counts its share of it.
/// All ranks call it, and none goes on before the last has counted.
fn shared(comm: &Comm) -> Result<u64> {
    let share = memory("Pss_Shmem:");
    comm.allreduce(&share, Op::SUM)
}

/// Prints what a job of `ranks` ranks costs, and checks the bounds. This is a rank of it.
fn rank(ranks: usize) -> Result<()> {
    let before = private();
    let world = World::init()?;
    let (after, mapped, comm) = (private(), mapped(), world.comm());
    let start = shared(comm)?;
    let most = comm.allreduce(&after, Op::MAX)?;
    let tables = after.saturating_sub(before);
    let all_tables = comm.allreduce(&tables, Op::SUM)?;
    comm.barrier()?;
    let later = shared(comm)?;
    if comm.rank() == 0 {
        println!(
            "{ranks} ranks: private at most {} KiB a rank; shared {} KiB at start, {} KiB after \
             three collectives, {} KiB mapped at start; the job's tables {} KiB a rank, {} KiB in all",
            most / KIB,
            start / KIB,
            later / KIB,
            mapped / KIB,
            all_tables / ranks as u64 / KIB,
            (all_tables + start) / KIB
        );
        assert!(most <= 2 * MIB, "private memory of a rank");
        assert!(
            start.max(later).max(mapped) <= ranks as u64 * MIB,
            "shared memory of the job"
        );
        assert!(
            all_tables + start <= ranks as u64 * MIB / 2,
            "the tables of the job"
        );
    }
    Ok(())
}

fn passed(done: &Done) {
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    print!("{}", done.out);
}

/// Private memory at most 2 MiB a rank, shared memory at most 8 MiB.
#[test]
fn eight_ranks() {
    passed(&Job::of(8).on_one_host().run(|| rank(8)));
}

/// 64 ranks in 32 MiB.
#[test]
fn sixty_four_ranks() {
    passed(&Job::of(64).on_one_host().run(|| rank(64)));
}
