//! The facts of objects and devices as a machine stores them; views of them are in `object` and `device`.

pub(crate) mod devices;

use crate::cpuset::CpuSet;
use crate::kind::Kind;
use alloc::string::String;
use alloc::vec::Vec;
use devices::DeviceId;

/// The facts of one object, as sources give them and as a machine stores them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) kind: Kind,
    pub(crate) os: Option<u32>,
    pub(crate) cpus: CpuSet,
    pub(crate) subtype: Option<String>,
    pub(crate) cache: Option<Cache>,
    pub(crate) local_memory: Option<u64>,
    /// Of a PU, where the source numbers the threads of a core.
    pub(crate) thread: Option<u32>,
    /// Of a NUMA node, the one nearest to the processors first.
    pub(crate) side_caches: Vec<Cache>,
    pub(crate) infos: Vec<Info>,
}

/// The place of one object in the arena.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) facts: Facts,
    pub(crate) logical: u32,
    pub(crate) parent: Option<ObjectId>,
    pub(crate) children: Vec<ObjectId>,
    pub(crate) memory: Vec<ObjectId>,
    /// The roots of the devices attached to it.
    pub(crate) devices: Vec<DeviceId>,
}

/// The number of an object in its machine: its place in depth-first order, 0 for the machine itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub(crate) u32);

/// Something that a source says of an object or a device, of which this crate makes nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Info {
    /// What is told, such as `CPUModel`.
    pub name: String,
    /// The value as text.
    pub value: String,
}

impl Info {
    /// A pair of name and value.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
        }
    }
}

/// What is known of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cache {
    /// Bytes; 0 if the source does not say.
    pub size: u64,
    /// Bytes of a line.
    pub line: Option<u32>,
    /// Ways of associativity.
    pub ways: Option<u32>,
    /// Whether it holds instructions as well as data; false if the source does not say.
    pub unified: bool,
    /// Whether it holds all that the caches inside it hold.
    pub inclusive: Option<bool>,
}
