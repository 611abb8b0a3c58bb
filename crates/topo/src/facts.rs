//! The data of objects as a machine stores them; `object` has the views.

pub(crate) mod devices;

use crate::cpuset::CpuSet;
use crate::kind::Kind;
use alloc::string::String;
use alloc::vec::Vec;
use devices::DeviceId;

/// The data of one object, as sources report them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) kind: Kind,
    pub(crate) os: Option<u32>,
    pub(crate) cpus: CpuSet,
    pub(crate) subtype: Option<String>,
    pub(crate) cache: Option<Cache>,
    pub(crate) local_memory: Option<u64>,
    /// The number among the threads of a core, for a PU, if the source has one.
    pub(crate) thread: Option<u32>,
    /// The memory-side caches of a NUMA node, the nearest to the processors first.
    pub(crate) side_caches: Vec<Cache>,
    pub(crate) infos: Vec<Info>,
}

/// An object in the arena: its facts and its links to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) facts: Facts,
    pub(crate) logical: u32,
    pub(crate) parent: Option<ObjectId>,
    pub(crate) children: Vec<ObjectId>,
    pub(crate) memory: Vec<ObjectId>,
    /// The roots of the devices attached to the object.
    pub(crate) devices: Vec<DeviceId>,
}

/// The number of an object in its machine: its index in depth-first order, 0 for the machine itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub(crate) u32);

/// A name-value pair about an object or a device, which this crate only passes on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Info {
    /// The name, such as `CPUModel`.
    pub name: String,
    /// The value as text.
    pub value: String,
}

impl Info {
    /// Makes a pair of name and value.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
        }
    }
}

/// The size and shape of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cache {
    /// Size in bytes; 0 if unknown.
    pub size: u64,
    /// Bytes of a cache line.
    pub line: Option<u32>,
    /// Ways of associativity.
    pub ways: Option<u32>,
    /// Whether the cache holds instructions as well as data; false if unknown.
    pub unified: bool,
    /// Whether the cache holds all that the caches inside it hold.
    pub inclusive: Option<bool>,
}
