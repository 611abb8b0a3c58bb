//! How one sample is taken: preparation, repetitions, synchronisation, timing and proof.
//!
//! The method of the Intel MPI Benchmarks User Guide 4.0, chapter "Benchmark Methodology": a
//! warm-up, two barriers, then so many repetitions as the volume and the time allow. Beyond the guide,
//! the repetitions are timed in up to [`BLOCKS`] blocks of equal length, so that a sample has a least,
//! a median and a largest value besides its average.

use crate::kernels::{Class, Info, Kernel, Sample};
use crate::{Buffers, Comm, Source};

/// The most blocks a sample is timed in.
///
/// One reading of the clock per block: with 1,000 repetitions, one in 25.
pub const BLOCKS: usize = 40;

const MIB: u64 = 1 << 20;
const TAG: u32 = 2;

/// The numbers that rule a run; the names in the guide are given in brackets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Method {
    /// The most repetitions of a sample (MSGSPERSAMPLE).
    pub samples: u32,
    /// The most bytes one rank sends in a sample (OVERALL_VOL).
    pub volume: u64,
    /// The time a sample may take, in seconds (SECS_PER_SAMPLE).
    pub seconds: f64,
    /// Barriers before each sample (N_BARR).
    pub barriers: u32,
    /// Repetitions before each sample that are not timed (N_WARMUP).
    pub warm_up: u32,
}

impl Default for Method {
    /// The guide's values: 1,000 repetitions, 40 MiB, 10 s, two barriers, two repetitions of warm-up.
    fn default() -> Self {
        Method {
            samples: 1000,
            volume: 40 * MIB,
            seconds: 10.0,
            barriers: 2,
            warm_up: 2,
        }
    }
}

impl Method {
    /// Repetitions at a length of `bytes`, before the time limit: as many as the volume allows, at
    /// least one, at most [`Method::samples`].
    pub fn repetitions(&self, bytes: usize) -> u32 {
        let by_volume = self.volume.checked_div(bytes as u64).unwrap_or(u64::MAX);
        by_volume.clamp(1, u64::from(self.samples.max(1))) as u32
    }

    /// The same, cut so that repetitions of `nanoseconds` each stay below the time limit.
    fn cut(&self, repetitions: u32, nanoseconds: u64) -> u32 {
        let within = self.seconds * 1e9 / nanoseconds.max(1) as f64;
        if within < f64::from(repetitions) {
            (within as u32).max(1)
        } else {
            repetitions
        }
    }
}

/// The message lengths of a run, shortest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    /// The least length but 0, as a power of two (MINMSGLOG).
    pub min_log: u32,
    /// The largest length, as a power of two (MAXMSGLOG).
    pub max_log: u32,
}

impl Default for Lengths {
    /// 0, 1, 2, 4 ... 4 MiB.
    fn default() -> Self {
        Lengths {
            min_log: 0,
            max_log: 22,
        }
    }
}

impl Lengths {
    /// A kernel's lengths: 0, then each power of two that holds at least one of its items; of a
    /// kernel without data only 0.
    pub fn of(self, kernel: &Info) -> impl Iterator<Item = usize> + Clone {
        let item = kernel.item;
        let powers = (self.min_log..=self.max_log).map(|log| 1usize << log);
        let powers = powers.filter(move |&bytes| bytes >= item);
        let number = if kernel.class == Class::Synchronisation {
            1
        } else {
            usize::MAX
        };
        core::iter::once(0).chain(powers).take(number)
    }

    /// The largest length in bytes.
    pub fn largest(self) -> usize {
        1 << self.max_log
    }
}

/// What one rank measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// Repetitions timed, the same on all ranks.
    pub repetitions: u32,
    /// Nanoseconds of each block; the first `blocks` of them count.
    pub nanoseconds: [u64; BLOCKS],
    /// Number of blocks.
    pub blocks: usize,
    /// The largest difference found in the data before or after the timed part: 0 when all is right.
    pub defect: f64,
}

impl Timing {
    /// The repetitions of block `index`; blocks differ by one repetition at most.
    pub fn repetitions_of(&self, index: usize) -> u32 {
        share(self.repetitions, self.blocks, index)
    }

    /// Nanoseconds of all blocks.
    pub fn total(&self) -> u64 {
        self.nanoseconds[..self.blocks].iter().sum()
    }
}

/// The share of `part` when `whole` is dealt to `parts` as evenly as possible.
fn share(whole: u32, parts: usize, part: usize) -> u32 {
    let (parts, part) = (parts as u32, part as u32);
    whole / parts + u32::from(part < whole % parts)
}

/// Takes one sample of `kernel` on all ranks of `comm`, with messages of `bytes`. Collective.
///
/// The data is proven twice: after the warm-up, and after the timed part with another pattern.
///
/// # Errors
/// The first error of the communicator.
pub fn sample<C: Comm>(
    kernel: Kernel,
    comm: &mut C,
    method: &Method,
    bytes: usize,
    buffers: &mut Buffers<'_>,
) -> Result<Timing, C::Error> {
    let (rank, ranks) = (comm.rank(), comm.size());
    let place = |seed| Sample { rank, ranks, seed };
    let (before, after) = (place(bytes as u32), place(!(bytes as u32)));

    kernel.fill(before, buffers);
    kernel.repeat(comm, method.warm_up.max(1), buffers)?;
    let early = kernel.check(comm, before, buffers)?;

    let wanted = method.repetitions(bytes);
    // The faster of two trials: one may be disturbed, and would cut the repetitions for nothing.
    let trial = wanted.div_ceil(100).min(10);
    let mut each = u64::MAX;
    for _ in 0..2 {
        let start = comm.now();
        kernel.repeat(comm, trial, buffers)?;
        each = each.min((comm.now() - start) / u64::from(trial));
    }
    let repetitions = smallest(comm, method.cut(wanted, each))?;

    kernel.fill(after, buffers);
    let mut timing = Timing {
        repetitions,
        nanoseconds: [0; BLOCKS],
        blocks: BLOCKS.min(repetitions as usize),
        defect: 0.0,
    };
    for _ in 0..method.barriers {
        comm.barrier()?;
    }
    let mut last = comm.now();
    for block in 0..timing.blocks {
        kernel.repeat(comm, timing.repetitions_of(block), buffers)?;
        let now = comm.now();
        timing.nanoseconds[block] = now - last;
        last = now;
    }
    timing.defect = early.max(kernel.check(comm, after, buffers)?);
    Ok(timing)
}

/// The smallest value any rank gives, on all ranks. Collective.
fn smallest<C: Comm>(comm: &mut C, mine: u32) -> Result<u32, C::Error> {
    let mut word = mine.to_le_bytes();
    if comm.rank() != 0 {
        comm.send(&word, 0, TAG)?;
        comm.recv(&mut word, Source::Rank(0), TAG)?;
        return Ok(u32::from_le_bytes(word));
    }
    let mut least = mine;
    for rank in 1..comm.size() {
        comm.recv(&mut word, Source::Rank(rank), TAG)?;
        least = least.min(u32::from_le_bytes(word));
    }
    for rank in 1..comm.size() {
        comm.send(&least.to_le_bytes(), rank, TAG)?;
    }
    Ok(least)
}

#[cfg(test)]
mod tests;
