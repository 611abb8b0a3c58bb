//! Turns the ranks' times into the rows of a table.

use super::{Multiple, Overlap, SampleRow, SampleTable, Spread};
use crate::kernels::{Class, Info};
use crate::method::Timing;
use alloc::vec::Vec;

/// The rows of one length: one for each group in mode [`Multiple::Each`](super::Multiple::Each), else one
/// for all.
///
/// `timings` are those of the ranks that take part, group by group.
pub(super) fn rows(table: &SampleTable, bytes: usize, timings: &[Timing]) -> Vec<SampleRow> {
    let groups = timings.chunks_exact(table.processes());
    let row = |group, timings: &[Timing]| summarise(table, group, bytes, timings);
    match table.multiple {
        Some(Multiple::Each) => groups
            .enumerate()
            .map(|(group, timings)| row(group, timings))
            .collect(),
        _ => [row(0, timings)].into(),
    }
}

/// Turns the timings of one or more groups into a row.
fn summarise(table: &SampleTable, group: usize, bytes: usize, timings: &[Timing]) -> SampleRow {
    let (info, processes) = (table.kernel.info(), table.processes());
    let first = timings[0];
    let counted = || timings.iter().step_by(info.counted(processes));
    let each =
        |nanoseconds: u64, repetitions: u32| nanoseconds as f64 / 1e3 / f64::from(repetitions);
    let averages: Vec<f64> = counted()
        .map(|timing| each(timing.total(), first.repetitions))
        .collect();
    let blocks = (0..first.blocks).map(|block| {
        let slowest = counted().map(|timing| timing.nanoseconds[block]).max();
        each(slowest.unwrap_or(0), first.repetitions_of(block))
    });
    let defects = timings.iter().map(|timing| timing.defect);
    let overlapped = counted().map(|timing| timing.overlapped).max().unwrap_or(0);
    let slowest = timings.iter().max_by_key(|timing| timing.total());
    let slowest = slowest.filter(|_| info.class == Class::Nonblocking);
    let overlap = slowest.map(|timing| Overlap::of(timing, table.overlap_base));
    SampleRow {
        group,
        defect: defects.fold(0.0, f64::max),
        overlapped: match info.class {
            Class::Overlap => Some(each(overlapped, first.repetitions)),
            _ => overlap.map(|overlap| overlap.total),
        },
        overlap,
        ..SampleRow::new(
            (info, processes),
            bytes,
            first.repetitions,
            &averages,
            blocks.collect(),
        )
    }
}

impl SampleRow {
    /// A row of right data for messages of `bytes` in a group of so many ranks. The arguments have microseconds: the average repetition
    /// on each rank that counts (see [`Info::counted`](crate::kernels::Info::counted)), and each block on
    /// the slowest of these ranks.
    ///
    /// # Panics
    /// Without a rank or a block.
    pub fn new(
        (info, processes): (&Info, usize),
        bytes: usize,
        repetitions: u32,
        averages: &[f64],
        mut blocks: Vec<f64>,
    ) -> SampleRow {
        let messages = info.messages_among(processes);
        let one = |microseconds: f64| microseconds / f64::from(info.trips);
        let t_min = one(averages.iter().copied().fold(f64::INFINITY, f64::min));
        let t_max = one(averages.iter().copied().fold(0.0, f64::max));
        // Rounding can put the mean of equal times outside their range.
        let t_avg = one(averages.iter().sum::<f64>() / averages.len() as f64).clamp(t_min, t_max);
        blocks.sort_by(f64::total_cmp);
        let at_most = |hundredths: usize| {
            let place = (blocks.len() * hundredths).div_ceil(100);
            one(blocks[place - 1])
        };
        SampleRow {
            group: 0,
            bytes,
            repetitions,
            t_min,
            t_max,
            t_avg,
            throughput: (info.messages > 0).then(|| {
                let volume = bytes as f64 * f64::from(messages);
                if t_max > 0.0 {
                    volume / (t_max / 1e6)
                } else {
                    0.0
                }
            }),
            overlapped: None,
            overlap: None,
            spread: Spread {
                blocks: blocks.len(),
                min: one(blocks[0]),
                median: at_most(50),
                p99: at_most(99),
            },
            defect: 0.0,
        }
    }
}

#[cfg(test)]
mod tests;
