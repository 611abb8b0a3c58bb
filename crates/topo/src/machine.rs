//! A whole machine: the arena of its objects and devices.

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
/// Children are disjoint, lie within their parent, and stand in the order of their first processors. NUMA nodes are
/// not between other objects, since a cache may be larger or smaller than a node: each is *attached* to an object
/// ([`Object::memory`](crate::Object::memory)), as hwloc does since version 2.
///
/// Two machines are equal if their sources say the same of them; which [sources](Self::source) these are, and their
/// [notes](Self::notes), do not count.
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
    /// The largest number that a processor of a machine may have, as in Linux.
    pub const LARGEST_CPU: usize = 8191;

    /// The largest number that a NUMA node may have, as in Linux.
    pub const LARGEST_NUMA: usize = 1023;

    /// The most objects that a machine may have, and the most devices.
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

    /// Gives NUMA nodes their logical numbers as hwloc does: those inside an object before those attached to it.
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

    /// The kinds of cores, where the source tells of more than one or says something about the only one: disjoint, in
    /// the source's order.
    pub fn core_kinds(&self) -> &[CoreKind] {
        &self.core_kinds
    }

    /// Matrices of distances. The first between NUMA nodes is the operating system's, if it gives one.
    pub fn distances(&self) -> &[Distances] {
        &self.distances
    }

    /// Where the description came from.
    pub fn source(&self) -> Source {
        self.source
    }

    /// The processors in the tree: those that run.
    pub fn online(&self) -> &CpuSet {
        &self.entries[0].facts.cpus
    }

    /// Processors that are there but switched off; they are not in the tree.
    pub fn offline(&self) -> &CpuSet {
        &self.offline
    }

    /// The processors that the administrator's control groups let this process use; all where there are none.
    pub fn allowed(&self) -> &CpuSet {
        &self.allowed
    }

    /// The numbers of the NUMA nodes whose memory the control groups let this process use.
    pub fn allowed_memory(&self) -> &CpuSet {
        &self.allowed_memory
    }

    /// The processors that the process which read the machine was bound to, where the source says it: never more than
    /// [`allowed`](Self::allowed), less after `taskset` or under a batch system.
    pub fn bound(&self) -> Option<&CpuSet> {
        self.bound.as_ref()
    }

    /// What the source said that does not fit the rest and was left out, and what was assumed where it says nothing, a
    /// sentence each.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().map(String::as_str)
    }
}
