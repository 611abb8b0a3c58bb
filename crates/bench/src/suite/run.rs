//! Runs the tables of a plan, one after another, on every rank.

use super::{Observer, Plan, SampleTable, Skip, summary, tables};
use crate::kernels::{AnyKernel, BufferSizes, Class, Kernel};
use crate::method::{
    AccessWork, BLOCKS, CreationWork, Messages, Timing, Workload, agree, measure, prepare, timed,
};
use crate::{Comm, Memory, Source, Windows};
use alloc::vec::Vec;

const TAG: u32 = 3;

/// Runs the plan on all ranks of `world`. Collective: all ranks pass the same plan.
///
/// Returns the largest defect of any row on rank 0, and 0 on the others.
///
/// # Errors
/// The first error of the communicator.
pub fn run<C: Windows>(
    world: &mut C,
    plan: &Plan,
    observer: &mut impl Observer,
) -> Result<f64, C::Error> {
    let mut worst: f64 = 0.0;
    for table in tables(plan, world.size()) {
        if world.rank() == 0 {
            observer.table(&table);
        }
        worst = worst.max(fill(world, plan, &table, observer)?);
        if table.waiting > 0 {
            world.barrier()?;
        }
        if world.rank() == 0 {
            observer.end(&table);
        }
    }
    Ok(worst)
}

/// The memory of a rank for messages of `bytes`.
fn needed(plan: &Plan, table: &SampleTable, bytes: usize) -> usize {
    let processes = table.processes();
    match table.kernel {
        AnyKernel::Messages(kernel) => {
            let buffer_sizes = (kernel.info().buffer_sizes)(bytes, processes);
            Memory::bytes(buffer_sizes, plan.off_cache)
        }
        AnyKernel::Windows(kernel) => kernel.memory(bytes, processes, plan.off_cache),
    }
}

/// The largest buffers of messages that a sample of the table needs, skipped samples left out.
fn largest(plan: &Plan, table: &SampleTable) -> BufferSizes {
    let lengths = plan.lengths_of(table.kernel);
    lengths
        .filter(|&bytes| needed(plan, table, bytes) <= plan.memory)
        .map(|bytes| (table.kernel.info().buffer_sizes)(bytes, table.processes()))
        .fold(BufferSizes::default(), BufferSizes::max)
}

/// The communicators of one table on one of its ranks.
struct TableComms<C> {
    /// The rank's own group.
    group: C,
    /// All ranks that take part, where there are several groups, which begin every sample together.
    all: Option<C>,
}

impl<C: Comm> TableComms<C> {
    /// Forms the groups; `None` on a rank that takes no part. Collective over the world.
    fn gather(world: &mut C, table: &SampleTable) -> Result<Option<Self>, C::Error> {
        let rank = world.rank();
        let mine = table.groups.iter().enumerate().find_map(|(group, ranks)| {
            let place = ranks.iter().position(|&member| member == rank)?;
            Some((group as u32, place as u32))
        });
        let place = mine.map_or(0, |(_, place)| place);
        let group = world.split(mine.map(|(group, _)| group), place)?;
        let all = if table.groups.len() > 1 {
            world.split(mine.map(|_| 0), 0)?
        } else {
            None
        };
        Ok(group.map(|group| TableComms { group, all }))
    }
}

/// Measures the rows of one table; returns the largest defect on rank 0. Collective over the world.
fn fill<C: Windows>(
    world: &mut C,
    plan: &Plan,
    table: &SampleTable,
    observer: &mut impl Observer,
) -> Result<f64, C::Error> {
    let Some(mut table_comms) = TableComms::gather(world, table)? else {
        return Ok(0.0);
    };
    let mut memory = Memory::new(largest(plan, table), plan.off_cache);
    let mut worst: f64 = 0.0;
    for bytes in plan.lengths_of(table.kernel) {
        let needed = needed(plan, table, bytes);
        if needed > plan.memory {
            if world.rank() == 0 {
                observer.skip(table, &Skip { bytes, needed });
            }
            continue;
        }
        let timing = table_comms.sample(plan, table, bytes, &mut memory)?;
        let timings = collect(world, table, &timing)?;
        if timings.is_empty() {
            continue;
        }
        for row in summary::rows(table, bytes, &timings) {
            worst = worst.max(row.defect);
            observer.row(table, &row);
        }
    }
    Ok(worst)
}

impl<C: Windows> TableComms<C> {
    /// Takes one sample of the table's kernel. Collective over the ranks that take part.
    fn sample(
        &mut self,
        plan: &Plan,
        table: &SampleTable,
        bytes: usize,
        memory: &mut Memory,
    ) -> Result<Timing, C::Error> {
        let kernel = match table.kernel {
            AnyKernel::Messages(kernel) => return self.message_sample(plan, kernel, bytes, memory),
            AnyKernel::Windows(kernel) => kernel,
        };
        let mode = (kernel, table.aggregation);
        let Some(mut work) = AccessWork::open(&mut self.group, mode, bytes, plan.off_cache)? else {
            let mut work = CreationWork::new(&mut self.group, kernel, bytes)?;
            return self.timing(plan, &mut work, bytes);
        };
        let mut timing = self.timing(plan, &mut work, bytes)?;
        let group = &mut self.group;
        if kernel.info.class == Class::Overlap {
            work.compute_for(group, timing.total() / u64::from(timing.repetitions))?;
            let sample = timed(group, bytes);
            work.fill(group, sample, usize::MAX)?;
            let again = measure(&mut work, group, &plan.method, bytes, timing.ready())?;
            timing.overlapped = again.total();
            timing.defect = again.defect;
        }
        work.close(group)?;
        Ok(timing)
    }

    fn message_sample(
        &mut self,
        plan: &Plan,
        kernel: Kernel,
        bytes: usize,
        memory: &mut Memory,
    ) -> Result<Timing, C::Error> {
        let buffer_sizes = (kernel.info().buffer_sizes)(bytes, self.group.size());
        let mut buffers = memory.buffers(buffer_sizes);
        self.timing(plan, &mut Messages::new(kernel, &mut buffers), bytes)
    }

    /// Times a workload, at the same time in all groups.
    fn timing(
        &mut self,
        plan: &Plan,
        work: &mut impl Workload<C>,
        bytes: usize,
    ) -> Result<Timing, C::Error> {
        let TableComms { group, all } = self;
        let mut ready = prepare(work, group, &plan.method, bytes)?;
        ready.repetitions = agree(all.as_mut().unwrap_or(group), ready.repetitions)?;
        if let Some(all) = all {
            all.barrier()?;
        }
        measure(work, group, &plan.method, bytes, ready)
    }
}

/// Collects the timings of all ranks that take part, group by group, on rank 0; none on the others.
/// Collective over those ranks.
fn collect<C: Comm>(
    world: &mut C,
    table: &SampleTable,
    mine: &Timing,
) -> Result<Vec<Timing>, C::Error> {
    let mut words = [[0; 8]; BLOCKS + 2];
    if world.rank() != 0 {
        for (word, block) in words.iter_mut().zip(mine.nanoseconds) {
            *word = block.to_le_bytes();
        }
        words[BLOCKS] = mine.overlapped.to_le_bytes();
        words[BLOCKS + 1] = mine.defect.to_le_bytes();
        world.send(words.as_flattened(), 0, TAG)?;
        return Ok(Vec::new());
    }
    let mut all = Vec::with_capacity(table.groups.len() * table.processes());
    for &rank in table.groups.iter().flatten() {
        if rank == 0 {
            all.push(*mine);
            continue;
        }
        world.recv(words.as_flattened_mut(), Source::Rank(rank), TAG)?;
        let mut nanoseconds = [0; BLOCKS];
        for (block, word) in nanoseconds.iter_mut().zip(words) {
            *block = u64::from_le_bytes(word);
        }
        all.push(Timing {
            nanoseconds,
            overlapped: u64::from_le_bytes(words[BLOCKS]),
            defect: f64::from_le_bytes(words[BLOCKS + 1]),
            ..*mine
        });
    }
    Ok(all)
}
