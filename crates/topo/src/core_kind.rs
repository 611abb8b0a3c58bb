//! Kinds of cores, on machines where not all cores are alike.

use crate::cpuset::CpuSet;
use crate::facts::Info;
use alloc::string::String;
use alloc::vec::Vec;

/// Cores that are alike, on a hybrid machine. Fields are `None` where the source does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CoreKind {
    /// Their processors.
    pub cpus: CpuSet,
    /// The vendor's name of the kind, such as `IntelCore` and `IntelAtom`.
    pub name: Option<String>,
    /// What the operating system says such a core can do, 1024 for the best core of the machine.
    pub capacity: Option<u32>,
    /// A rank among the kinds: larger is faster and takes more power. Linux does not give one; who
    /// writes XML files may.
    pub rank: Option<u32>,
    /// Megahertz without boost.
    pub base_mhz: Option<u32>,
    /// Megahertz with boost.
    pub max_mhz: Option<u32>,
    /// What else the source says, in its order.
    pub infos: Vec<Info>,
}
