//! The times of one sample on one rank.

#[cfg(feature = "alloc")]
use super::Ready;
use crate::kernels::Schedule;

/// The maximum number of blocks in which a sample is timed.
///
/// The clock is read once per block: with 1,000 repetitions, every 10. The 99th percentile of a hundred
/// blocks is the last but one; of fewer, the largest.
pub const BLOCKS: usize = 100;

/// What a sample with a computation has besides the times of its repetitions, in nanoseconds of one repetition.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ComputeTimes {
    /// A repetition without the computation.
    pub pure: f64,
    /// The computation within the repetition.
    pub within: f64,
    /// The computation as long as it takes alone.
    pub alone: f64,
}

/// The times of one sample on one rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// Repetitions timed, the same on all ranks.
    pub repetitions: u32,
    /// Nanoseconds of each block; the first `blocks` of them count.
    pub nanoseconds: [u64; BLOCKS],
    /// Number of blocks.
    pub blocks: usize,
    /// Nanoseconds of all repetitions while the target of a [`Class::Overlap`](crate::kernels::Class::Overlap) computes;
    /// 0 in other classes.
    pub overlapped: u64,
    /// Where ranks compute meanwhile, in a [`Class::Nonblocking`](crate::kernels::Class::Nonblocking); 0 in other classes.
    pub compute: ComputeTimes,
    /// The largest difference found in the data of the sample: 0 when all is right.
    pub defect: f64,
}

impl Timing {
    /// Blocks without times, for at least one of `repetitions`.
    pub(super) fn new(repetitions: u32, schedule: Schedule) -> Self {
        let repetitions = repetitions.max(1);
        let most = match schedule {
            Schedule::Many | Schedule::Few => BLOCKS,
            Schedule::Aggregated => 1,
        };
        Timing {
            repetitions,
            nanoseconds: [0; BLOCKS],
            blocks: most.min(repetitions as usize),
            overlapped: 0,
            compute: ComputeTimes::default(),
            defect: 0.0,
        }
    }

    /// The repetitions of block `index`; blocks differ by one repetition at most.
    pub fn repetitions_of(&self, index: usize) -> u32 {
        share(self.repetitions, self.blocks, index)
    }

    /// What another sample of as many repetitions begins with.
    #[cfg(feature = "alloc")]
    pub(crate) fn ready(&self) -> Ready {
        Ready {
            repetitions: self.repetitions,
            defect: self.defect,
        }
    }

    /// Nanoseconds of one repetition.
    #[cfg(feature = "alloc")]
    pub(crate) fn average(&self) -> f64 {
        self.total() as f64 / f64::from(self.repetitions)
    }

    /// Nanoseconds of all blocks.
    pub fn total(&self) -> u64 {
        self.nanoseconds[..self.blocks].iter().sum()
    }
}

/// The size of share `part` when `whole` is divided among `parts` as evenly as possible.
fn share(whole: u32, parts: usize, part: usize) -> u32 {
    let (parts, part) = (parts as u32, part as u32);
    whole / parts + u32::from(part < whole % parts)
}

#[cfg(test)]
mod tests {
    use super::{BLOCKS, Schedule, Timing};

    #[test]
    fn the_blocks_share_all_repetitions() {
        for repetitions in 1..5 * BLOCKS as u32 {
            let timing = Timing::new(repetitions, Schedule::Many);
            let shares = (0..timing.blocks).map(|block| timing.repetitions_of(block));
            assert_eq!(shares.sum::<u32>(), repetitions);
            assert_eq!(timing.blocks, BLOCKS.min(repetitions as usize));
        }
    }
}
