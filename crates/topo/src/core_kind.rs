//! Kinds of cores of hybrid machines, such as performance and efficiency cores.

use crate::cpuset::CpuSet;
use crate::facts::Info;
use alloc::string::String;
use alloc::vec::Vec;

/// A set of cores that are alike, on a hybrid machine. Fields are `None` where the source has no information.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CoreKind {
    /// The processors of these cores.
    pub cpus: CpuSet,
    /// The vendor's name of the kind, such as `IntelCore` and `IntelAtom`.
    pub name: Option<String>,
    /// The capacity that the operating system reports, 1024 for the best core of the machine.
    pub capacity: Option<u32>,
    /// A rank among the kinds: larger is faster and takes more power. Linux reports none; XML files may have
    /// one.
    pub rank: Option<u32>,
    /// The frequency without boost, in megahertz.
    pub base_mhz: Option<u32>,
    /// The frequency with boost, in megahertz.
    pub max_mhz: Option<u32>,
    /// Further name-value pairs from the source, in its order.
    pub infos: Vec<Info>,
}
