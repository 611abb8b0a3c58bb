//! The benchmark kernels: one file each, one line each in the list below.
//!
//! A kernel is a module with four items: `INFO` describes it, `fill` prepares the buffers of a repetition,
//! `repeat` is the timed loop (a collective has `call` instead, which makes the call of a repetition from this rank and the
//! root; kernels without a root ignore it), and `check` proves afterwards that the data
//! arrived. Neither `fill` nor `check` is timed. A kernel without data has no `fill`, and its `check` calls the
//! operation once more to observe it.
//!
//! A vector variant (`Gatherv`) has blocks of the same lengths as the plain kernel, so that only the
//! library's work differs; it shares `fill` and `check` with it.

mod allgather;
mod allgatherv;
mod allreduce;
mod alltoall;
mod alltoallv;
#[cfg(feature = "alloc")]
mod any;
pub(crate) mod barrier;
mod bcast;
mod exchange;
mod gather;
mod gatherv;
mod info;
#[cfg(feature = "alloc")]
mod nonblocking;
#[cfg(feature = "alloc")]
mod part;
pub(crate) mod pattern;
mod pingping;
mod pingping_specific_source;
mod pingpong;
mod pingpong_specific_source;
mod reduce;
mod reduce_scatter;
mod reduce_scatter_block;
mod roots;
mod scatter;
mod scatterv;
mod sendrecv;
#[cfg(feature = "alloc")]
mod window;

#[cfg(test)]
mod tests;

pub use crate::buffers::BufferSizes;
use crate::buffers::RepetitionBuffers;
use crate::comm::{Collective, Done};
use crate::{Buffers, Comm};
#[cfg(feature = "alloc")]
pub use any::AnyKernel;
pub use info::{Active, Class, Info, Schedule};
#[cfg(feature = "alloc")]
pub use nonblocking::NonblockingKernel;
#[cfg(feature = "alloc")]
pub use part::Part;
#[cfg(feature = "alloc")]
pub(crate) use window::{Access, Completion, Operation, Targets, Transfer, WindowSizes};
#[cfg(feature = "alloc")]
pub use window::{Aggregation, WindowKernel};

/// Tag of the kernels' own messages.
const TAG: u32 = 1;

/// Identifies a sample. The data pattern depends on it, so that data left from another sample or rank is
/// detected.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// This rank.
    pub rank: usize,
    /// The number of ranks that take part.
    pub ranks: usize,
    /// Any number that is the same on all ranks and differs for each filling.
    pub seed: u32,
}

macro_rules! catalog {
    (
        transfers: $($transfer:ident in $between:ident),+;
        collectives: $($collective:ident in $among:ident),+;
        without data: $($bare:ident in $still:ident),+;
    ) => {
        /// A benchmark kernel of the MPI-1 part.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Kernel {
            $(#[doc = concat!("See the module `", stringify!($between), "`.")] $transfer,)+
            $(#[doc = concat!("See the module `", stringify!($among), "`.")] $collective,)+
            $(#[doc = concat!("See the module `", stringify!($still), "`.")] $bare,)+
        }

        impl Kernel {
            /// All kernels, in the order in which they run.
            pub const ALL: &[Kernel] = &[
                $(Kernel::$transfer,)+ $(Kernel::$collective,)+ $(Kernel::$bare,)+
            ];

            /// Describes the kernel.
            pub fn info(self) -> &'static Info {
                match self {
                    $(Kernel::$transfer => &$between::INFO,)+
                    $(Kernel::$collective => &$among::INFO,)+
                    $(Kernel::$bare => &$still::INFO,)+
                }
            }

            /// Writes this rank's pattern into the send buffers and wrong data into the receive buffers, at
            /// every place; repetitions are counted from here on.
            pub fn fill(self, sample: Sample, buffers: &mut Buffers<'_>) {
                self.fill_for(sample, buffers, usize::MAX);
            }

            /// As [`Kernel::fill`], at the places of the next `repetitions` repetitions only.
            pub(crate) fn fill_for(self, sample: Sample, buffers: &mut Buffers<'_>, repetitions: usize) {
                let first = buffers.of(0);
                match self {
                    $(Kernel::$transfer => $between::fill(sample, first),)+
                    $(Kernel::$collective => $among::fill(sample, first),)+
                    $(Kernel::$bare => {})+
                }
                buffers.restart(repetitions);
            }

            /// Runs the measured pattern `times` times. Collective.
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
                match self {
                    $(Kernel::$transfer => $between::repeat(comm, times, buffers),)+
                    $(Kernel::$collective => repeat(comm, times, buffers, $among::call),)+
                    $(Kernel::$bare => $still::repeat(comm, times),)+
                }
            }

            /// The largest difference between the data last received, since the buffers were filled, and
            /// the right data: 0 if all is right, infinity if a value is not a number. For a barrier, by
            /// how many microseconds it released a rank too early. Collective.
            ///
            /// If the last repetition brings this rank no data, as a Gather to another root, the data of an
            /// earlier one is checked.
            ///
            /// # Errors
            /// The first error of the communicator.
            pub fn check<C: Comm>(
                self,
                comm: &mut C,
                sample: Sample,
                buffers: &mut Buffers<'_>,
            ) -> Result<f64, C::Error> {
                match self {
                    $(Kernel::$transfer => Ok($between::check(sample, buffers)),)+
                    $(Kernel::$collective => Ok($among::check(sample, buffers)),)+
                    $(Kernel::$bare => $still::check(comm),)+
                }
            }
        }
    };
}

// The order of the Intel MPI Benchmarks 2021.
catalog! {
    transfers:
        PingPong in pingpong,
        PingPongSpecificSource in pingpong_specific_source,
        PingPing in pingping,
        PingPingSpecificSource in pingping_specific_source,
        Sendrecv in sendrecv,
        Exchange in exchange;
    collectives:
        Allreduce in allreduce,
        Reduce in reduce,
        ReduceScatter in reduce_scatter,
        ReduceScatterBlock in reduce_scatter_block,
        Allgather in allgather,
        Allgatherv in allgatherv,
        Gather in gather,
        Gatherv in gatherv,
        Scatter in scatter,
        Scatterv in scatterv,
        Alltoall in alltoall,
        Alltoallv in alltoallv,
        Bcast in bcast;
    without data:
        Barrier in barrier;
}

/// Calls a collective `times` times, each with the next set of buffers and the next root.
fn repeat<C: Comm>(
    comm: &mut C,
    times: u32,
    buffers: &mut Buffers<'_>,
    call: impl Fn(usize, RepetitionBuffers<'_>, usize) -> Collective<'_>,
) -> Done<C> {
    let rank = comm.rank();
    for root in roots::from(buffers.repetitions(), comm.size()).take(times as usize) {
        call(rank, buffers.advance(), root).call(comm)?;
    }
    Ok(())
}

impl Kernel {
    /// The kernel of this name, in any case.
    pub fn named(name: &str) -> Option<Kernel> {
        Self::ALL
            .iter()
            .copied()
            .find(|kernel| kernel.info().name.eq_ignore_ascii_case(name))
    }

    /// The kernels that run when none is named, in their order.
    pub fn by_default() -> impl Iterator<Item = Kernel> + Clone {
        let all = Self::ALL.iter().copied();
        all.filter(|kernel| kernel.info().by_default)
    }
}
