//! [`Machine`]: the arena of a machine's objects and devices.

use crate::core_kind::CoreKind;
use crate::cpuset::CpuSet;
use crate::distances::Distances;
use crate::facts::devices::{DeviceEntry, DeviceFacts, DeviceId};
use crate::facts::{Entry, Facts, ObjectId};
use crate::kind::Kind;
use crate::source::Source;
use alloc::string::String;
use alloc::vec::Vec;

/// A machine: a tree of objects, each with the set of its processors.
///
/// Children are disjoint, inside their parent, and in the order of their first processors. NUMA nodes are not
/// part of the nesting, since a cache may be larger or smaller than a node: each is *attached* to an object
/// ([`Object::memory`](crate::Object::memory)), as in hwloc since version 2.
///
/// Machines are equal if their sources report the same facts; the [sources](Self::source) themselves and the
/// [notes](Self::notes) do not count.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(crate) entries: Vec<Entry>,
    pub(crate) by_kind: [Vec<ObjectId>; Kind::COUNT],
    pub(crate) devices: Vec<DeviceEntry>,
    pub(crate) core_kinds: Vec<CoreKind>,
    pub(crate) distances: Vec<Distances>,
    pub(crate) source: Source,
    pub(crate) offline: CpuSet,
    pub(crate) allowed: CpuSet,
    pub(crate) allowed_memory: CpuSet,
    pub(crate) bound: Option<CpuSet>,
    pub(crate) notes: Vec<String>,
}

impl PartialEq for Machine {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            entries,
            by_kind: _,
            devices,
            core_kinds,
            distances,
            source: _,
            offline,
            allowed,
            allowed_memory,
            bound,
            notes: _,
        } = self;
        (entries, devices, core_kinds, distances)
            == (
                &other.entries,
                &other.devices,
                &other.core_kinds,
                &other.distances,
            )
            && (offline, allowed, allowed_memory, bound)
                == (
                    &other.offline,
                    &other.allowed,
                    &other.allowed_memory,
                    &other.bound,
                )
    }
}

impl Eq for Machine {}

impl Machine {
    /// The largest number of a processor, as in Linux.
    pub const LARGEST_CPU: usize = 8191;

    /// The largest number of a NUMA node, as in Linux.
    pub const LARGEST_NUMA: usize = 1023;

    /// The most objects of a machine, and the most devices.
    pub const MOST_OBJECTS: usize = 1 << 17;

    pub(crate) fn empty(source: Source) -> Self {
        Self {
            entries: Vec::new(),
            by_kind: Default::default(),
            devices: Vec::new(),
            core_kinds: Vec::new(),
            distances: Vec::new(),
            source,
            offline: CpuSet::new(),
            allowed: CpuSet::new(),
            allowed_memory: CpuSet::new(),
            bound: None,
            notes: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, facts: Facts, parent: Option<ObjectId>) -> ObjectId {
        let id = ObjectId(self.entries.len() as u32);
        let same_kind = &mut self.by_kind[facts.kind as usize];
        let logical = same_kind.len() as u32;
        same_kind.push(id);
        self.entries.push(Entry {
            facts,
            logical,
            parent,
            children: Vec::new(),
            memory: Vec::new(),
            devices: Vec::new(),
        });
        id
    }

    /// Numbers NUMA nodes logically, as hwloc does: those inside an object before those attached to it.
    pub(crate) fn number_nodes(&mut self) {
        let mut nodes = Vec::new();
        self.nodes_below(ObjectId(0), &mut nodes);
        for (id, logical) in nodes.iter().zip(0..) {
            self.entries[id.0 as usize].logical = logical;
        }
        self.by_kind[Kind::Numa as usize] = nodes;
    }

    fn nodes_below(&self, id: ObjectId, nodes: &mut Vec<ObjectId>) {
        let entry = &self.entries[id.0 as usize];
        let children = entry.children.iter();
        children.for_each(|child| self.nodes_below(*child, nodes));
        nodes.extend(&entry.memory);
    }

    pub(crate) fn push_device(
        &mut self,
        facts: DeviceFacts,
        near: ObjectId,
        parent: Option<DeviceId>,
    ) -> DeviceId {
        let id = DeviceId(self.devices.len() as u32);
        self.devices.push(DeviceEntry {
            facts,
            near,
            parent,
            children: Vec::new(),
        });
        match parent {
            Some(parent) => self.devices[parent.0 as usize].children.push(id),
            None => self.entries[near.0 as usize].devices.push(id),
        }
        id
    }

    /// The kinds of cores, if the source reports several or details of the only one: disjoint, in the
    /// source's order.
    pub fn core_kinds(&self) -> &[CoreKind] {
        &self.core_kinds
    }

    /// Matrices of distances. The operating system's, if any, is the first between NUMA nodes.
    pub fn distances(&self) -> &[Distances] {
        &self.distances
    }

    /// The source of the description.
    pub fn source(&self) -> Source {
        self.source
    }

    /// The online processors, which are those of the tree.
    pub fn online(&self) -> &CpuSet {
        &self.entries[0].facts.cpus
    }

    /// The offline processors; they are not in the tree.
    pub fn offline(&self) -> &CpuSet {
        &self.offline
    }

    /// The processors that control groups let this process use; all if there are no control groups.
    pub fn allowed(&self) -> &CpuSet {
        &self.allowed
    }

    /// The numbers of the NUMA nodes whose memory control groups let this process use.
    pub fn allowed_memory(&self) -> &CpuSet {
        &self.allowed_memory
    }

    /// The affinity mask of the process that read the machine, if the source has it: never more than
    /// [`allowed`](Self::allowed), less after `taskset` or under a batch system.
    pub fn bound(&self) -> Option<&CpuSet> {
        self.bound.as_ref()
    }

    /// A sentence for each contradiction in the source that was left out, and for each assumption in place of
    /// missing facts.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().map(String::as_str)
    }
}
