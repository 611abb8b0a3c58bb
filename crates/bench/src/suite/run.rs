//! Runs the tables of a plan, one after another, on every rank.

use super::{Observer, Plan, SampleTable, Skip, summary, tables};
use crate::kernels::{
    Aggregation, AnyKernel, BufferSizes, Class, Kernel, NonblockingKernel, WindowKernel,
};
use crate::method::{
    AccessWork, BLOCKS, ComputeTimes, CreationWork, Messages, Method, Ready, StartedOptions,
    StartedWork, Timing, Workload, agree, measure, prepare, timed, trials,
};
use crate::{Comm, Memory, Nonblocking, Source, Windows};
use alloc::vec::Vec;

const TAG: u32 = 3;

/// Runs the plan on all ranks of `world`. Collective: all ranks pass the same plan.
///
/// Returns the largest defect of any row on rank 0, and 0 on the others.
///
/// # Errors
/// The first error of the communicator.
pub fn run<C: Windows + Nonblocking>(
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
        AnyKernel::Windows(kernel) => kernel.memory(bytes, processes, plan.off_cache),
        AnyKernel::Messages(_) | AnyKernel::Nonblocking(_) => {
            let buffer_sizes = (table.kernel.info().buffer_sizes)(bytes, processes);
            Memory::bytes(buffer_sizes, plan.off_cache)
        }
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
fn fill<C: Windows + Nonblocking>(
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

impl<C: Windows + Nonblocking> TableComms<C> {
    /// Takes one sample of the table's kernel. Collective over the ranks that take part.
    fn sample(
        &mut self,
        plan: &Plan,
        table: &SampleTable,
        bytes: usize,
        memory: &mut Memory,
    ) -> Result<Timing, C::Error> {
        match table.kernel {
            AnyKernel::Messages(kernel) => self.message_sample(plan, kernel, bytes, memory),
            AnyKernel::Windows(kernel) => {
                self.window_sample(plan, (kernel, table.aggregation), bytes)
            }
            AnyKernel::Nonblocking(kernel) => self.nonblocking_sample(plan, kernel, bytes, memory),
        }
    }

    fn window_sample(
        &mut self,
        plan: &Plan,
        mode: (&'static WindowKernel, Option<Aggregation>),
        bytes: usize,
    ) -> Result<Timing, C::Error> {
        let kernel = mode.0;
        let Some(mut work) = AccessWork::open(&mut self.group, mode, bytes, plan.off_cache)? else {
            let mut work = CreationWork::new(&mut self.group, kernel, bytes)?;
            return self.timing(&plan.method, &mut work, bytes);
        };
        let mut timing = self.timing(&plan.method, &mut work, bytes)?;
        if kernel.info.class == Class::Overlap {
            work.compute_for(&mut self.group, timing.average() as u64)?;
            let sample = timed(&self.group, bytes);
            work.fill(&mut self.group, sample, usize::MAX)?;
            let again = self.measured(&plan.method, &mut work, bytes, timing.ready())?;
            timing.overlapped = again.total();
            timing.defect = again.defect;
        }
        work.close(&mut self.group)?;
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
        let mut work = Messages::new(kernel, &mut buffers);
        self.timing(&plan.method, &mut work, bytes)
    }

    fn nonblocking_sample(
        &mut self,
        plan: &Plan,
        kernel: &'static NonblockingKernel,
        bytes: usize,
        memory: &mut Memory,
    ) -> Result<Timing, C::Error> {
        let buffer_sizes = (kernel.info.buffer_sizes)(bytes, self.group.size());
        let mut buffers = memory.buffers(buffer_sizes);
        let options = StartedOptions {
            synchronises: plan.synchronises,
            tests: plan.method.check,
        };
        let mut work = StartedWork::new(kernel, &mut buffers, options);
        if !kernel.overlaps() {
            return self.timing(&plan.method, &mut work, bytes);
        }
        // A third of the time without the computation, the rest with it, which takes as long.
        let method = |share| Method {
            seconds: plan.method.seconds * share / 3.0,
            ..plan.method
        };
        let pure = self.timing(&method(1.0), &mut work, bytes)?;
        let trials = trials(pure.repetitions);
        let alone = work.compute_for(&self.group, pure.average() as u64, trials);
        let ready = self.ready(&method(2.0), &mut work, bytes)?;
        work.take_computed();
        let mut timing = self.measured(&plan.method, &mut work, bytes, ready)?;
        timing.compute = ComputeTimes {
            pure: pure.average(),
            within: work.take_computed() as f64 / f64::from(timing.repetitions),
            alone: alone as f64,
        };
        timing.defect = timing.defect.max(pure.defect);
        Ok(timing)
    }

    /// Times a workload, at the same time in all groups.
    fn timing(
        &mut self,
        method: &Method,
        work: &mut impl Workload<C>,
        bytes: usize,
    ) -> Result<Timing, C::Error> {
        let ready = self.ready(method, work, bytes)?;
        self.measured(method, work, bytes, ready)
    }

    /// Prepares a workload, and agrees on the repetitions with the ranks of all groups.
    fn ready(
        &mut self,
        method: &Method,
        work: &mut impl Workload<C>,
        bytes: usize,
    ) -> Result<Ready, C::Error> {
        let TableComms { group, all } = self;
        let mut ready = prepare(work, group, method, bytes)?;
        ready.repetitions = agree(all.as_mut().unwrap_or(group), ready.repetitions)?;
        Ok(ready)
    }

    /// Times the repetitions on which the ranks of all groups have agreed.
    fn measured(
        &mut self,
        method: &Method,
        work: &mut impl Workload<C>,
        bytes: usize,
        ready: Ready,
    ) -> Result<Timing, C::Error> {
        if let Some(all) = &mut self.all {
            all.barrier()?;
        }
        measure(work, &mut self.group, method, bytes, ready)
    }
}

/// Collects the timings of all ranks that take part, group by group, on rank 0; none on the others.
/// Collective over those ranks.
fn collect<C: Comm>(
    world: &mut C,
    table: &SampleTable,
    mine: &Timing,
) -> Result<Vec<Timing>, C::Error> {
    let mut words = [[0; 8]; BLOCKS + 5];
    if world.rank() != 0 {
        for (word, block) in words.iter_mut().zip(mine.nanoseconds) {
            *word = block.to_le_bytes();
        }
        let ComputeTimes {
            pure,
            within,
            alone,
        } = mine.compute;
        words[BLOCKS] = mine.overlapped.to_le_bytes();
        let numbers = [pure, within, alone, mine.defect];
        words[BLOCKS + 1..].copy_from_slice(&numbers.map(f64::to_le_bytes));
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
        let [pure, within, alone, defect] =
            core::array::from_fn(|word| f64::from_le_bytes(words[BLOCKS + 1 + word]));
        all.push(Timing {
            nanoseconds,
            overlapped: u64::from_le_bytes(words[BLOCKS]),
            compute: ComputeTimes {
                pure,
                within,
                alone,
            },
            defect,
            ..*mine
        });
    }
    Ok(all)
}
