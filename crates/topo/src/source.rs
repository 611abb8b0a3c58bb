//! [`Source`]: where the description of a machine is from.

use core::fmt;

/// The source of a [`Machine`](crate::Machine). Displayed in the words of OpenMP runtimes and hwloc.
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
    /// Only the numbers of the processors: each becomes a package.
    Flat,
    /// The system's hwloc.
    Hwloc,
}

/// An OpenMP runtime prints the same after "using" (`global cpuid info`, `/proc/cpuinfo`), except `flat`
/// without more words.
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
