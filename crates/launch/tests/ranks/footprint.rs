//! Tests of the memory of a job before its first message.

use std::fs;

use oxmpi::{Comm, Op, Result, World};

use crate::common::Done;
use crate::job::Job;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The value of a line of `/proc/self/smaps_rollup` in bytes. The kernel counts it page by page;
/// `/proc/self/status` is inexact on a machine of many processors.
pub(crate) fn memory(name: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/smaps_rollup").expect("it exists");
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|text| text.trim().strip_suffix(" kB"));
    KIB * kib
        .and_then(|kib| kib.trim().parse::<u64>().ok())
        .expect("a number")
}

/// This rank's private memory in bytes.
fn private() -> u64 {
    memory("Anonymous:")
}

/// Bytes of this rank's shared mappings, touched or not.
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

/// Bytes of shared memory that the ranks have touched, each page counted once (the sum of proportional set
/// sizes). It is collective: no rank returns before the last has counted.
fn shared(comm: &Comm) -> Result<u64> {
    let share = memory("Pss_Shmem:");
    comm.allreduce(&share, Op::SUM)
}

/// Runs a rank of a job of `ranks` ranks. Prints the memory of the job and checks the bounds.
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

/// A job of 8 ranks has at most 2 MiB of private memory a rank and 8 MiB of shared memory.
#[test]
fn a_job_of_8_ranks_has_bounded_memory() {
    passed(&Job::of(8).on_one_host().run(|| rank(8)));
}

/// A job of 64 ranks has at most 32 MiB of tables and shared memory at its start.
#[test]
fn a_job_of_64_ranks_has_bounded_memory() {
    passed(&Job::of(64).on_one_host().run(|| rank(64)));
}
