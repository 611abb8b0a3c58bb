//! Runs a selection of kernels over all lengths and groups of a job.
//!
//! Groups are the guide's: the first 2, 4, 8 ... ranks, then all. Ranks outside wait in a barrier of the
//! whole job. Rank 0 hears of every table and row through an [`Observer`].

use crate::kernels::{Active, Class, Kernel, Room};
use crate::method::{BLOCKS, Lengths, Method, Timing, sample};
use crate::{Comm, Memory, Source};
use alloc::vec::Vec;

const TAG: u32 = 3;

/// What to run, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The kernels, in order.
    pub kernels: Vec<Kernel>,
    /// Their message lengths.
    pub lengths: Lengths,
    /// How a sample is taken.
    pub method: Method,
}

/// One table: a kernel on a group of the job's ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// The kernel.
    pub kernel: Kernel,
    /// Ranks that take part: the first so many.
    pub processes: usize,
    /// Ranks that wait in a barrier meanwhile.
    pub waiting: usize,
}

/// One line of a table. Times are microseconds of one message or one operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Length of a message in bytes.
    pub bytes: usize,
    /// Repetitions timed.
    pub repetitions: u32,
    /// The average over repetitions of the fastest rank.
    pub t_min: f64,
    /// The average over repetitions of the slowest rank.
    pub t_max: f64,
    /// The average over repetitions and ranks.
    pub t_avg: f64,
    /// 2^20 bytes per second; `None` for collectives, whose tables have no such column.
    pub throughput: Option<f64>,
    /// How the blocks of the sample are spread.
    pub spread: Spread,
    /// The largest difference between received data and right data on any rank: 0 is right.
    pub defect: f64,
}

/// The distribution of a sample's blocks, in microseconds of one message or operation; for several
/// ranks, of each block's slowest rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Number of blocks.
    pub blocks: usize,
    /// The fastest block.
    pub min: f64,
    /// The middle block.
    pub median: f64,
    /// The block that 99 in 100 stay below or equal.
    pub p99: f64,
}

/// Hears of the results, on rank 0 only.
pub trait Observer {
    /// A table begins.
    fn table(&mut self, table: &Table);
    /// A row of the current table is complete.
    fn row(&mut self, table: &Table, row: &Row);
    /// The current table is complete.
    fn end(&mut self, table: &Table);
}

/// The tables of a plan on a job of `ranks`, in order. A kernel for two ranks has none on one.
pub fn tables(plan: &Plan, ranks: usize) -> impl Iterator<Item = Table> + '_ {
    plan.kernels.iter().flat_map(move |&kernel| {
        groups(kernel, ranks).map(move |processes| Table {
            kernel,
            processes,
            waiting: ranks - processes,
        })
    })
}

/// Group sizes: 2, 4, 8 ... below `ranks`, then `ranks`; only 2 for kernels of two.
fn groups(kernel: Kernel, ranks: usize) -> impl Iterator<Item = usize> {
    let (below, last) = match kernel.info().active {
        Active::Two => (0, (ranks >= 2).then_some(2)),
        Active::All => (ranks, Some(ranks)),
    };
    core::iter::successors(Some(2), |size| Some(size * 2))
        .take_while(move |&size| size < below)
        .chain(last)
}

/// Runs the plan on all ranks of `world`. Collective: all ranks give the same plan.
///
/// The largest defect of any row is returned on rank 0; other ranks return 0.
///
/// # Errors
/// The first error of the communicator.
pub fn run<C: Comm>(
    world: &mut C,
    plan: &Plan,
    observer: &mut impl Observer,
) -> Result<f64, C::Error> {
    let (rank, ranks) = (world.rank(), world.size());
    let rooms = plan
        .kernels
        .iter()
        .map(|k| (k.info().room)(plan.lengths.largest(), ranks));
    let mut memory = Memory::new(rooms.fold(Room::default(), Room::max), None);

    let mut worst: f64 = 0.0;
    for table in tables(plan, ranks) {
        let group = world.split((rank < table.processes).then_some(0), 0)?;
        if rank == 0 {
            observer.table(&table);
        }
        if let Some(mut group) = group {
            for bytes in plan.lengths.of(table.kernel.info()) {
                let room = (table.kernel.info().room)(bytes, table.processes);
                let mut buffers = memory.buffers(room);
                let timing = sample(table.kernel, &mut group, &plan.method, bytes, &mut buffers)?;
                if let Some(timings) = gather(&mut group, &timing)? {
                    let row = summarise(table.kernel, bytes, &timings);
                    worst = worst.max(row.defect);
                    observer.row(&table, &row);
                }
            }
        }
        if table.waiting > 0 {
            world.barrier()?;
        }
        if rank == 0 {
            observer.end(&table);
        }
    }
    Ok(worst)
}

/// All ranks' timings on rank 0, its own first. Collective.
fn gather<C: Comm>(comm: &mut C, mine: &Timing) -> Result<Option<Vec<Timing>>, C::Error> {
    let mut words = [[0; 8]; BLOCKS + 1];
    if comm.rank() != 0 {
        for (word, block) in words.iter_mut().zip(mine.nanoseconds) {
            *word = block.to_le_bytes();
        }
        words[BLOCKS] = mine.defect.to_le_bytes();
        comm.send(words.as_flattened(), 0, TAG)?;
        return Ok(None);
    }
    let mut all = Vec::with_capacity(comm.size());
    all.push(*mine);
    for rank in 1..comm.size() {
        comm.recv(words.as_flattened_mut(), Source::Rank(rank), TAG)?;
        let mut nanoseconds = [0; BLOCKS];
        for (block, word) in nanoseconds.iter_mut().zip(words) {
            *block = u64::from_le_bytes(word);
        }
        all.push(Timing {
            nanoseconds,
            defect: f64::from_le_bytes(words[BLOCKS]),
            ..*mine
        });
    }
    Ok(Some(all))
}

/// Turns the ranks' timings, rank 0's first, into a row.
fn summarise(kernel: Kernel, bytes: usize, timings: &[Timing]) -> Row {
    let info = kernel.info();
    let first = timings[0];
    let defect = timings
        .iter()
        .map(|timing| timing.defect)
        .fold(0.0, f64::max);
    // Of a single transfer only the rank that starts it sees whole round trips.
    let counted = if info.class == Class::SingleTransfer {
        &timings[..1]
    } else {
        timings
    };
    let each = |nanoseconds: u64, repetitions: u32| {
        nanoseconds as f64 / 1e3 / f64::from(repetitions) / f64::from(info.trips)
    };

    let averages = || {
        counted
            .iter()
            .map(|timing| each(timing.total(), first.repetitions))
    };
    let t_max = averages().fold(0.0, f64::max);
    let mut blocks: Vec<f64> = (0..first.blocks)
        .map(|block| {
            let slowest = counted.iter().map(|timing| timing.nanoseconds[block]).max();
            each(slowest.unwrap_or(0), first.repetitions_of(block))
        })
        .collect();
    blocks.sort_by(f64::total_cmp);
    let at_most = |hundredths: usize| blocks[(blocks.len() * hundredths).div_ceil(100) - 1];

    Row {
        bytes,
        repetitions: first.repetitions,
        t_min: averages().fold(f64::INFINITY, f64::min),
        t_max,
        t_avg: averages().sum::<f64>() / counted.len() as f64,
        throughput: (info.messages > 0).then(|| {
            let volume = bytes as f64 * f64::from(info.messages) / f64::from(1 << 20);
            if t_max > 0.0 {
                volume / (t_max / 1e6)
            } else {
                0.0
            }
        }),
        spread: Spread {
            blocks: blocks.len(),
            min: blocks[0],
            median: at_most(50),
            p99: at_most(99),
        },
        defect,
    }
}

#[cfg(test)]
mod tests;
