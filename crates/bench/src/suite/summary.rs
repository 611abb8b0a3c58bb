//! From what the ranks measured to the rows of a table.

use super::{Multiple, Row, Spread, Table};
use crate::kernels::{Class, Kernel};
use crate::method::Timing;
use alloc::vec::Vec;

/// The rows of one length: one for each group where each is reported, else one for all.
///
/// `timings` are those of the ranks that take part, group by group.
pub(super) fn rows(table: &Table, bytes: usize, timings: &[Timing]) -> Vec<Row> {
    let groups = timings.chunks_exact(table.processes());
    let row = |group, timings: &[Timing]| {
        summarise(table.kernel, group, bytes, timings, table.processes())
    };
    match table.multiple {
        Some(Multiple::Each) => groups
            .enumerate()
            .map(|(group, timings)| row(group, timings))
            .collect(),
        _ => [row(0, timings)].into(),
    }
}

/// Turns the timings of one or more groups of `processes` ranks into a row.
fn summarise(
    kernel: Kernel,
    group: usize,
    bytes: usize,
    timings: &[Timing],
    processes: usize,
) -> Row {
    let info = kernel.info();
    let first = timings[0];
    let defect = timings
        .iter()
        .map(|timing| timing.defect)
        .fold(0.0, f64::max);
    // Of a single transfer only the rank that starts it sees whole round trips.
    let every = if info.class == Class::SingleTransfer {
        processes
    } else {
        1
    };
    let counted = || timings.iter().step_by(every);
    let each = |nanoseconds: u64, repetitions: u32| {
        nanoseconds as f64 / 1e3 / f64::from(repetitions) / f64::from(info.trips)
    };

    let averages = || counted().map(|timing| each(timing.total(), first.repetitions));
    let t_max = averages().fold(0.0, f64::max);
    let mut blocks: Vec<f64> = (0..first.blocks)
        .map(|block| {
            let slowest = counted().map(|timing| timing.nanoseconds[block]).max();
            each(slowest.unwrap_or(0), first.repetitions_of(block))
        })
        .collect();
    blocks.sort_by(f64::total_cmp);
    let at_most = |hundredths: usize| blocks[(blocks.len() * hundredths).div_ceil(100) - 1];

    Row {
        group,
        bytes,
        repetitions: first.repetitions,
        t_min: averages().fold(f64::INFINITY, f64::min),
        t_max,
        t_avg: averages().sum::<f64>() / counted().count() as f64,
        throughput: (info.messages > 0).then(|| {
            let volume = bytes as f64 * f64::from(info.messages);
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
