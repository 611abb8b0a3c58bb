//! [`AnyKernel`]: a kernel of any part.

use super::{Info, Kernel, NonblockingKernel, Part, WindowKernel};

/// A kernel of any part of the benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnyKernel {
    /// Over messages and collectives: the MPI-1 part.
    Messages(Kernel),
    /// Over windows: the parts EXT and RMA.
    Windows(&'static WindowKernel),
    /// Over nonblocking collectives: the part NBC.
    Nonblocking(&'static NonblockingKernel),
}

impl AnyKernel {
    /// The kernels of a part, in the order in which they run.
    pub fn of(part: Part) -> impl Iterator<Item = AnyKernel> + Clone {
        let messages: &[Kernel] = match part {
            Part::Mpi1 => Kernel::ALL,
            Part::Ext | Part::Rma | Part::Nbc => &[],
        };
        let messages = messages.iter().copied().map(AnyKernel::Messages);
        let windows = WindowKernel::of(part).iter().map(AnyKernel::Windows);
        let nonblocking = NonblockingKernel::of(part).iter();
        let nonblocking = nonblocking.map(AnyKernel::Nonblocking);
        messages.chain(windows).chain(nonblocking)
    }

    /// The kernel of this name, in any case, of `part`.
    pub fn named(part: Part, name: &str) -> Option<AnyKernel> {
        let mut all = Self::of(part);
        all.find(|kernel| kernel.info().name.eq_ignore_ascii_case(name))
    }

    /// Describes the kernel.
    pub fn info(self) -> &'static Info {
        match self {
            AnyKernel::Messages(kernel) => kernel.info(),
            AnyKernel::Windows(kernel) => &kernel.info,
            AnyKernel::Nonblocking(kernel) => &kernel.info,
        }
    }

    /// Its part.
    pub fn part(self) -> Part {
        match self {
            AnyKernel::Messages(_) => Part::Mpi1,
            AnyKernel::Windows(kernel) => kernel.part,
            AnyKernel::Nonblocking(_) => Part::Nbc,
        }
    }
}

impl From<Kernel> for AnyKernel {
    fn from(kernel: Kernel) -> Self {
        AnyKernel::Messages(kernel)
    }
}
