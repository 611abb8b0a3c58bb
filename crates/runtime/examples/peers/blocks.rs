//! Timing in blocks, shared by the programs of this folder.
//!
//! The C twins in `crates/bench/peers` do the same, step by step: the same clock (`Instant` is
//! CLOCK_MONOTONIC), warm-up, number and length of blocks, and the same line of output.

use oxmpi::{Comm, Result};
use std::time::{Duration, Instant};

/// Blocks per measurement.
const BLOCKS: usize = 21;

/// A block lasts from so long to about twice as long.
const BLOCK: Duration = Duration::from_millis(1);

/// Repeats `pattern` in blocks and gives nanoseconds of one repetition for each block, sorted, and
/// the repetitions in a block. The search for their number is the warm-up: twice in a row they must
/// last long enough, since one may be disturbed. `prepare` runs after it.
pub(crate) fn measure(
    comm: &Comm,
    mut pattern: impl FnMut(u64) -> Result<()>,
    prepare: impl FnOnce(),
) -> Result<([f64; BLOCKS], u64)> {
    let (mut times, mut streak) = (1, 0);
    while streak < 2 {
        let start = Instant::now();
        pattern(times)?;
        if long_enough(comm, start)? {
            streak += 1;
        } else {
            streak = 0;
            times *= 2;
        }
    }
    prepare();
    let mut blocks = [0.0; BLOCKS];
    for block in &mut blocks {
        let begin = Instant::now();
        pattern(times)?;
        *block = begin.elapsed().as_nanos() as f64 / times as f64;
    }
    blocks.sort_by(f64::total_cmp);
    Ok((blocks, times))
}

/// Whether rank 0 has repeated for [`BLOCK`] since its `start`, on all ranks, by plain messages.
fn long_enough(comm: &Comm, start: Instant) -> Result<bool> {
    let mut enough = [u8::from(start.elapsed() >= BLOCK)];
    if comm.rank() == 0 {
        for to in 1..comm.size() {
            comm.send(&enough, to, 9)?;
        }
    } else {
        comm.recv(&mut enough, 0, 9)?;
    }
    Ok(enough[0] != 0)
}

/// Prints one measurement, each figure divided by `part`.
pub(crate) fn print(
    kernel: &str,
    ranks: usize,
    bytes: usize,
    (blocks, repetitions): ([f64; BLOCKS], u64),
    part: f64,
    right: bool,
) {
    let [min, median, p99] = [0, BLOCKS / 2, BLOCKS - 1].map(|at| blocks[at] / part);
    println!(
        "{{\"kernel\":\"{kernel}\",\"ranks\":{ranks},\"bytes\":{bytes},\"blocks\":{BLOCKS},\
         \"repetitions\":{repetitions},\"min_ns\":{min:.1},\"median_ns\":{median:.1},\
         \"p99_ns\":{p99:.1},\"right\":{right}}}"
    );
}
