//! Takes one sample: preparation, repetitions, synchronisation, timing and proof of the data.
//!
//! The method is that of the Intel MPI Benchmarks User Guide 4.0, chapter "Benchmark Methodology": a
//! warm-up, two barriers, then as many repetitions as the volume and the time allow. Beyond the guide, the
//! repetitions are timed in up to [`BLOCKS`] blocks of equal length, so that a sample has a least, a median
//! and a largest value besides its average.

#[cfg(feature = "alloc")]
mod compute;
#[cfg(feature = "alloc")]
mod nonblocking;
mod policy;
mod proof;
mod timing;
#[cfg(feature = "alloc")]
mod windows;
mod workload;

#[cfg(feature = "alloc")]
pub use compute::compute_rate;
#[cfg(feature = "alloc")]
pub use nonblocking::{StartedOptions, StartedWork};
pub use policy::Policy;
pub use timing::{BLOCKS, ComputeTimes, Timing};
#[cfg(feature = "alloc")]
pub(crate) use windows::{AccessWork, CreationWork};
pub use workload::{Messages, Workload};

use crate::kernels::{Kernel, Sample};
use crate::{Buffers, Comm, Source};
use proof::Proof;

const MIB: u64 = 1 << 20;
const TAG: u32 = 2;

/// The parameters of a run; the guide's names are in brackets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Method {
    /// The maximum number of repetitions of a sample (MSGSPERSAMPLE).
    pub samples: u32,
    /// The same for benchmarks over windows that complete each transfer separately (MSGS_NONAGGR).
    pub samples_single: u32,
    /// The maximum number of bytes that one rank sends in a sample (OVERALL_VOL).
    pub volume: u64,
    /// How the repetitions are chosen (ITER_POLICY).
    pub policy: Policy,
    /// The maximum time of a sample in seconds, including the proof of its data (SECS_PER_SAMPLE).
    pub seconds: f64,
    /// Barriers before each sample (N_BARR).
    pub barriers: u32,
    /// Repetitions before each sample that are not timed (N_WARMUP).
    pub warm_up: u32,
    /// Whether the data of every repetition, and so of every root, is proven, within the timed part
    /// (CHECK).
    pub check: bool,
}

impl Default for Method {
    /// The guide's values: 1,000 repetitions, 40 MiB, 10 s, two barriers, two repetitions of warm-up.
    fn default() -> Self {
        Method {
            samples: 1000,
            samples_single: 100,
            volume: 40 * MIB,
            policy: Policy::Dynamic,
            seconds: 10.0,
            barriers: 2,
            warm_up: 2,
            check: false,
        }
    }
}

/// The result of [`prepare`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ready {
    /// Repetitions to time; all ranks must [`agree`] on them.
    pub repetitions: u32,
    /// The largest difference found in the data of the warm-up.
    pub defect: f64,
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
    let mut work = Messages::new(kernel, buffers);
    let mut ready = prepare(&mut work, comm, method, bytes)?;
    ready.repetitions = agree(comm, ready.repetitions)?;
    measure(&mut work, comm, method, bytes, ready)
}

/// Warms up, proves the data, estimates how many repetitions the time allows, and fills the memory
/// for [`measure`]. Collective.
///
/// # Errors
/// The first error of the communicator.
pub fn prepare<C: Comm>(
    work: &mut impl Workload<C>,
    comm: &mut C,
    method: &Method,
    bytes: usize,
) -> Result<Ready, C::Error> {
    let sample = place(comm, bytes as u32);
    work.fill(comm, sample, usize::MAX)?;
    work.repeat(comm, method.warm_up)?;
    let mut defect = if method.warm_up > 0 {
        work.check(comm, sample)?
    } else {
        0.0
    };

    let wanted = method.scheduled(work.schedule(), bytes);
    // The faster of two trials: a disturbed trial would cut the repetitions for nothing.
    let trial = trials(wanted);
    let mut each = u64::MAX;
    for _ in 0..2 {
        let start = comm.now();
        defect = defect.max(method.trial(work, comm, sample, trial)?);
        each = each.min((comm.now() - start) / u64::from(trial));
    }
    let within = method.cut(wanted, each);
    let repetitions = method.policy.fair(work.info(), comm.size(), within);
    work.fill(comm, timed(comm, bytes), usize::MAX)?;
    Ok(Ready {
        repetitions,
        defect,
    })
}

/// Times the repetitions on which all ranks have agreed, and proves the data. [`prepare`] must have filled
/// the memory. Collective.
///
/// # Errors
/// The first error of the communicator.
pub fn measure<C: Comm>(
    work: &mut impl Workload<C>,
    comm: &mut C,
    method: &Method,
    bytes: usize,
    ready: Ready,
) -> Result<Timing, C::Error> {
    let mut timing = Timing::new(ready.repetitions, work.schedule());
    timing.defect = ready.defect;
    for _ in 0..method.barriers {
        comm.barrier()?;
    }
    let sample = timed(comm, bytes);
    if method.check {
        let mut proof = Proof::new(work.info(), sample);
        for block in 0..timing.blocks {
            for _ in 0..timing.repetitions_of(block) {
                timing.nanoseconds[block] += proof.repeat(work, comm)?;
            }
        }
        timing.defect = timing.defect.max(proof.defect);
        return Ok(timing);
    }
    for block in 0..timing.blocks {
        timing.nanoseconds[block] = work.timed(comm, timing.repetitions_of(block))?;
    }
    timing.defect = timing.defect.max(work.check(comm, sample)?);
    Ok(timing)
}

/// How many repetitions of so many are tried before.
pub(crate) fn trials(repetitions: u32) -> u32 {
    repetitions.div_ceil(100).min(10)
}

/// Identifies the data of the timed part: another pattern than in the warm-up.
pub(crate) fn timed<C: Comm>(comm: &C, bytes: usize) -> Sample {
    place(comm, !(bytes as u32))
}

fn place<C: Comm>(comm: &C, seed: u32) -> Sample {
    Sample {
        rank: comm.rank(),
        ranks: comm.size(),
        seed,
    }
}

/// The smallest value that any rank passes. Collective.
///
/// # Errors
/// The first error of the communicator.
pub fn agree<C: Comm>(comm: &mut C, mine: u32) -> Result<u32, C::Error> {
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
