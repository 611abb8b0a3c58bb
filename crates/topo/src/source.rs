//! Where the description of a machine came from.

use core::fmt;

/// The source of a [`Machine`](crate::Machine). Displayed as users of OpenMP runtimes and hwloc know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// Linux's /proc and /sys.
    Linux,
    /// An hwloc XML file.
    Xml,
    /// A synthetic string.
    Synthetic,
    /// The instruction cpuid, executed on every processor.
    CpuidGlobal,
    /// The instruction cpuid, executed on one processor; all others are assumed to be alike.
    CpuidLocal,
    /// The file /proc/cpuinfo.
    Cpuinfo,
    /// Nothing but the numbers of the processors: each is taken for a package.
    Flat,
    /// The system's hwloc.
    Hwloc,
}

/// `global cpuid info`, `/proc/cpuinfo`: what an OpenMP runtime prints after "using", except that it says `flat` alone.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Linux => "/proc and /sys",
            Self::Xml => "hwloc XML",
            Self::Synthetic => "synthetic string",
            Self::CpuidGlobal => "global cpuid info",
            Self::CpuidLocal => "local cpuid info",
            Self::Cpuinfo => "/proc/cpuinfo",
            Self::Flat => "flat",
            Self::Hwloc => "hwloc",
        })
    }
}
