//! Measures a pattern in blocks of repetitions, for the programs of this folder.
//!
//! The C twins in `crates/bench/peers` do the same: the same clock (`Instant` is CLOCK_MONOTONIC), warm-up,
//! number and length of blocks, and line of output.

use oxmpi::{Comm, Result};
use std::time::{Duration, Instant};

/// Blocks per measurement.
const BLOCKS: usize = 21;

/// Least duration of a block. A block lasts up to about twice as long, or one repetition.
const BLOCK: Duration = Duration::from_millis(1);

/// A measurement: nanoseconds of one repetition for each block, and the number of repetitions in a block.
pub(crate) struct Measured {
    pub(crate) nanoseconds: [f64; BLOCKS],
    pub(crate) repetitions: u64,
}

/// Measures `pattern` in blocks of repetitions between the first `ranks` of `comm`. The search for the number
/// of repetitions is the warm-up: blocks must last long enough three times in a row, as noise may lengthen
/// one. `prepare` runs after the warm-up.
pub(crate) fn measure<M>(
    comm: &Comm,
    ranks: usize,
    messages: &mut M,
    mut pattern: impl FnMut(&mut M, u64) -> Result<()>,
    prepare: impl FnOnce(&mut M),
) -> Result<Measured> {
    let (mut repetitions, mut streak) = (1, 0);
    while streak < 3 {
        let start = Instant::now();
        pattern(messages, repetitions)?;
        if long_enough(comm, ranks, start)? {
            streak += 1;
        } else {
            streak = 0;
            repetitions *= 2;
        }
    }
    prepare(messages);
    let mut nanoseconds = [0.0; BLOCKS];
    for block in &mut nanoseconds {
        let begin = Instant::now();
        pattern(messages, repetitions)?;
        *block = begin.elapsed().as_nanos() as f64 / repetitions as f64;
    }
    Ok(Measured {
        nanoseconds,
        repetitions,
    })
}

/// Whether at least [`BLOCK`] has passed on rank 0 since its `start`. Rank 0 sends the answer to the other
/// `ranks`.
fn long_enough(comm: &Comm, ranks: usize, start: Instant) -> Result<bool> {
    let mut enough = [u8::from(start.elapsed() >= BLOCK)];
    if comm.rank() == 0 {
        for to in 1..ranks {
            comm.send(&enough, to, 9)?;
        }
    } else {
        comm.recv(&mut enough, 0, 9)?;
    }
    Ok(enough[0] != 0)
}

/// Prints a measurement as a line of JSON. Times are divided by `parts`, the number of reported operations in
/// a repetition.
pub(crate) fn print(
    kernel: &str,
    ranks: usize,
    bytes: usize,
    measured: &Measured,
    parts: f64,
    right: bool,
) {
    let mut nanoseconds = measured.nanoseconds;
    nanoseconds.sort_by(f64::total_cmp);
    let [min, median, p99] = [0, BLOCKS / 2, BLOCKS - 1].map(|at| nanoseconds[at] / parts);
    let repetitions = measured.repetitions;
    println!(
        "{{\"kernel\":\"{kernel}\",\"ranks\":{ranks},\"bytes\":{bytes},\"blocks\":{BLOCKS},\
         \"repetitions\":{repetitions},\"min_ns\":{min:.1},\"median_ns\":{median:.1},\
         \"p99_ns\":{p99:.1},\"right\":{right}}}"
    );
}
