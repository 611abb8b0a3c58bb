//! The kernels: one file each, one line each in the list below.
//!
//! A kernel is a module with four items: `INFO` describes it, `fill` prepares its buffers, `repeat`
//! is the timed loop, and `check` proves afterwards that the data arrived. Neither `fill` nor `check`
//! runs inside a timed part.

mod allreduce;
mod pattern;
mod pingpong;

#[cfg(test)]
mod tests;

use crate::{Buffers, Comm};

/// What a kernel measures, which decides the columns of its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// One message at a time between two ranks: one time, and throughput.
    SingleTransfer,
    /// All ranks transfer at once: least, largest and average time over ranks, and throughput.
    ParallelTransfer,
    /// A collective operation: least, largest and average time over ranks.
    Collective,
}

/// How many ranks of a group take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Active {
    /// Two, whatever the job's size.
    Two,
    /// All; the suite runs it on growing groups.
    All,
}

/// Lengths in bytes of a rank's two buffers for one message length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// What a rank sends from.
    pub out: usize,
    /// What a rank receives into.
    pub into: usize,
}

/// What the suite, the options and the reports need to know about a kernel.
#[derive(Debug)]
pub struct Info {
    /// Its name in the Intel MPI Benchmarks.
    pub name: &'static str,
    /// One line for lists.
    pub about: &'static str,
    /// Which columns it prints.
    pub class: Class,
    /// Who takes part.
    pub active: Active,
    /// Size of one item in bytes: lengths below it, except 0, are left out.
    pub item: usize,
    /// Messages that follow each other in one repetition; the reported time is one message's.
    pub trips: u32,
    /// Messages that leave or enter one rank, counted in the throughput; 0 when none is reported.
    pub messages: u32,
    /// The room it needs for messages of so many bytes among so many ranks.
    pub room: fn(bytes: usize, ranks: usize) -> Room,
}

/// Which sample a buffer belongs to: the pattern differs for each, so that data left over from
/// another sample or rank is seen.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// This rank.
    pub rank: usize,
    /// The number of ranks that take part.
    pub ranks: usize,
    /// Any number; the same on all ranks, another one for each filling.
    pub seed: u32,
}

macro_rules! catalog {
    ($($kernel:ident in $module:ident),+ $(,)?) => {
        /// A benchmark kernel of the MPI-1 part.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Kernel {
            $(#[doc = concat!("See the module `", stringify!($module), "`.")] $kernel),+
        }

        impl Kernel {
            /// All kernels, in the order in which they run by default.
            pub const ALL: &[Kernel] = &[$(Kernel::$kernel),+];

            /// Describes the kernel.
            pub fn info(self) -> &'static Info {
                match self { $(Kernel::$kernel => &$module::INFO),+ }
            }

            /// Writes this rank's pattern into what it sends, and something else into where it
            /// receives.
            pub fn fill(self, sample: Sample, buffers: &mut Buffers<'_>) {
                match self { $(Kernel::$kernel => $module::fill(sample, buffers)),+ }
            }

            /// Runs the measured pattern `times` times.
            ///
            /// # Errors
            /// The first error of the communicator.
            ///
            /// # Cost
            /// The communicator's calls and one loop: no clock, no check, no allocation.
            pub fn repeat<C: Comm>(
                self,
                comm: &mut C,
                times: u32,
                buffers: &mut Buffers<'_>,
            ) -> Result<(), C::Error> {
                match self { $(Kernel::$kernel => $module::repeat(comm, times, buffers)),+ }
            }

            /// The largest difference between what was received and what should have been: 0 when
            /// all is right, infinity when a value is not a number.
            pub fn check(self, sample: Sample, buffers: &mut Buffers<'_>) -> f64 {
                match self { $(Kernel::$kernel => $module::check(sample, buffers)),+ }
            }
        }
    };
}

catalog! {
    PingPong in pingpong,
    Allreduce in allreduce,
}

impl Kernel {
    /// The kernel of that name, in any case.
    pub fn named(name: &str) -> Option<Kernel> {
        Self::ALL
            .iter()
            .copied()
            .find(|kernel| kernel.info().name.eq_ignore_ascii_case(name))
    }
}
