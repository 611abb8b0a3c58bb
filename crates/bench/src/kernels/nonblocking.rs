//! The kernels over nonblocking collectives: the part NBC, as a table over the kernels of MPI-1.
//!
//! Each has the buffers, the roots, the call and the proof of its blocking collective. What starts and times them is in
//! `method/nonblocking`.

use super::info::{Class, Info};
use super::{Kernel, Part};
use super::{
    allgather, allgatherv, allreduce, alltoall, alltoallv, barrier, bcast, gather, gatherv,
};
use super::{reduce, reduce_scatter, scatter, scatterv};
use crate::Collective;
use crate::buffers::RepetitionBuffers;

/// A kernel over a nonblocking collective.
#[derive(Debug)]
pub struct NonblockingKernel {
    /// Describes it.
    pub info: Info,
    /// The kernel of the blocking collective.
    pub(crate) blocking: Kernel,
    /// The call of a repetition, from this rank and the root.
    pub(crate) call: fn(usize, RepetitionBuffers<'_>, usize) -> Collective<'_>,
}

/// Kernels differ in their names.
impl PartialEq for NonblockingKernel {
    fn eq(&self, other: &Self) -> bool {
        self.info.name == other.info.name
    }
}

impl Eq for NonblockingKernel {}

impl NonblockingKernel {
    /// The kernels of a part, in the order in which they run.
    pub fn of(part: Part) -> &'static [NonblockingKernel] {
        match part {
            Part::Nbc => &NBC,
            Part::Mpi1 | Part::Ext | Part::Rma => &[],
        }
    }

    /// Whether the ranks compute while the collective is in progress.
    pub(crate) fn overlaps(&self) -> bool {
        self.info.class == Class::Nonblocking
    }
}

/// Two kernels for each collective: with a computation to overlap with, and without.
macro_rules! table {
    ($($name:literal, $blocking:literal, $kernel:ident in $module:ident;)+) => {
        [$(
            NonblockingKernel {
                info: Info {
                    name: $name,
                    about: concat!($blocking, " in the background of a computation"),
                    class: Class::Nonblocking,
                    ..$module::INFO
                },
                blocking: Kernel::$kernel,
                call: $module::call,
            },
            NonblockingKernel {
                info: Info {
                    name: concat!($name, "_pure"),
                    about: concat!($blocking, ", started and waited for at once"),
                    by_default: false,
                    ..$module::INFO
                },
                blocking: Kernel::$kernel,
                call: $module::call,
            },
        )+]
    };
}

// The order of the Intel MPI Benchmarks 2021.
static NBC: [NonblockingKernel; 26] = table! {
    "Ibcast", "Bcast", Bcast in bcast;
    "Iallgather", "Allgather", Allgather in allgather;
    "Iallgatherv", "Allgatherv", Allgatherv in allgatherv;
    "Igather", "Gather", Gather in gather;
    "Igatherv", "Gatherv", Gatherv in gatherv;
    "Iscatter", "Scatter", Scatter in scatter;
    "Iscatterv", "Scatterv", Scatterv in scatterv;
    "Ialltoall", "Alltoall", Alltoall in alltoall;
    "Ialltoallv", "Alltoallv", Alltoallv in alltoallv;
    "Ireduce", "Reduce", Reduce in reduce;
    "Ireduce_scatter", "Reduce_scatter", ReduceScatter in reduce_scatter;
    "Iallreduce", "Allreduce", Allreduce in allreduce;
    "Ibarrier", "Barrier", Barrier in barrier;
};

#[cfg(test)]
mod tests {
    use super::NBC;
    use std::vec::Vec;

    #[test]
    fn kernels_run_in_the_order_of_the_original() {
        let by_default = NBC.iter().filter(|kernel| kernel.info.by_default);
        let names: Vec<&str> = by_default.map(|kernel| kernel.info.name).collect();
        let wanted = [
            "Ibcast",
            "Iallgather",
            "Iallgatherv",
            "Igather",
            "Igatherv",
            "Iscatter",
            "Iscatterv",
            "Ialltoall",
            "Ialltoallv",
            "Ireduce",
            "Ireduce_scatter",
            "Iallreduce",
            "Ibarrier",
        ];
        assert_eq!(names, wanted);
    }

    /// A name in the table that is not the kernel's would measure another collective than it says.
    #[test]
    fn each_collective_has_two_kernels_under_its_name() {
        for pair in NBC.chunks(2) {
            let blocking = pair[0].blocking.info();
            let name = blocking.name.to_lowercase();
            assert_eq!(pair[0].info.name, std::format!("I{name}"));
            assert_eq!(pair[1].info.name, std::format!("I{name}_pure"));
            assert!(pair[0].info.about.starts_with(blocking.name));
            assert_eq!(pair[0].blocking, pair[1].blocking);
            let by_default = pair.iter().map(|kernel| kernel.info.by_default);
            assert_eq!(by_default.collect::<Vec<_>>(), [true, false]);
            assert!(pair[0].overlaps() && !pair[1].overlaps());
        }
    }
}
