//! [`Object`]: a view of one object of a machine, with its properties, relatives and lookup.

use crate::cpuset::CpuSet;
use crate::facts::{Cache, Entry, Info, ObjectId};
use crate::kind::Kind;
use crate::machine::Machine;
use alloc::vec::Vec;
use core::fmt;

/// A view of one object of a [`Machine`]; cheap to copy.
#[derive(Clone, Copy)]
pub struct Object<'m> {
    pub(crate) machine: &'m Machine,
    pub(crate) id: ObjectId,
}

impl<'m> Object<'m> {
    pub(crate) fn entry(self) -> &'m Entry {
        &self.machine.entries[self.id.0 as usize]
    }

    fn views(
        self,
        ids: &'m [ObjectId],
    ) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        ids.iter().map(move |id| Self {
            machine: self.machine,
            id: *id,
        })
    }

    /// The object's number in [`Machine::object`].
    pub fn id(self) -> ObjectId {
        self.id
    }

    /// The object's kind.
    pub fn kind(self) -> Kind {
        self.entry().facts.kind
    }

    /// The operating system's number of the object ("physical" in lstopo). Unique among PUs and among NUMA
    /// nodes; cores and dies are often numbered inside their package; caches have one on newer kernels,
    /// groups only as clusters, books and drawers.
    pub fn os(self) -> Option<u32> {
        self.entry().facts.os
    }

    /// The index among the objects of its kind, in depth-first order; NUMA nodes inside an object come before
    /// those attached to it, as in hwloc.
    pub fn logical(self) -> u32 {
        self.entry().logical
    }

    /// The index of a PU among the hardware threads of its core: from the source if it has one, else in the
    /// order of processors.
    pub fn thread(self) -> Option<u32> {
        if self.kind() != Kind::Pu {
            return None;
        }
        self.entry().facts.thread.or_else(|| {
            let (own, core) = (self.cpus().first()?, self.ancestor(Kind::Core)?);
            let place = core.cpus().iter().position(|cpu| cpu == own)?;
            Some(place as u32)
        })
    }

    /// The operating system's numbers of its PUs.
    pub fn cpus(self) -> &'m CpuSet {
        &self.entry().facts.cpus
    }

    /// The subtype, in words of the source: `Cluster` or `Module` of a group, `DRAM` or `HBM` of a NUMA node.
    pub fn subtype(self) -> Option<&'m str> {
        self.entry().facts.subtype.as_deref()
    }

    /// Further name-value pairs from the source, in its order: `CPUModel`, `OSName`.
    pub fn infos(self) -> &'m [Info] {
        &self.entry().facts.infos
    }

    /// The size and shape of a cache.
    pub fn cache(self) -> Option<Cache> {
        self.entry().facts.cache
    }

    /// The bytes of memory of a NUMA node, if the source has them.
    pub fn local_memory(self) -> Option<u64> {
        self.entry().facts.local_memory
    }

    /// The bytes of memory of all NUMA nodes that are attached to the object or inside it, for a node its
    /// own; 0 if unknown.
    pub fn total_memory(self) -> u64 {
        let own = self.local_memory().unwrap_or(0);
        let inside = self.memory().chain(self.children());
        inside.fold(own, |sum, object| sum.saturating_add(object.total_memory()))
    }

    /// The memory-side caches in front of a NUMA node, the nearest to the processors first.
    pub fn side_caches(self) -> &'m [Cache] {
        &self.entry().facts.side_caches
    }

    /// The object that contains it; for a NUMA node the object it is attached to; `None` for the machine.
    pub fn parent(self) -> Option<Self> {
        self.entry().parent.map(|id| Self {
            machine: self.machine,
            id,
        })
    }

    /// The objects directly inside it, in the order of their first processors; NUMA nodes are not among them.
    pub fn children(self) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        self.views(&self.entry().children)
    }

    /// The NUMA nodes attached to the object: those with the same processors.
    pub fn memory(self) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        self.views(&self.entry().memory)
    }

    /// The objects that contain it, from its parent to the machine.
    pub fn ancestors(self) -> impl Iterator<Item = Self> {
        core::iter::successors(self.parent(), |object| object.parent())
    }

    /// The nearest ancestor of `kind`. NUMA nodes are no ancestors, see [`nearest_numa`](Self::nearest_numa).
    pub fn ancestor(self, kind: Kind) -> Option<Self> {
        self.ancestors().find(|object| object.kind() == kind)
    }

    /// The other objects with the same parent, NUMA nodes among NUMA nodes.
    pub fn siblings(self) -> impl Iterator<Item = Self> {
        let attached = self.kind() == Kind::Numa;
        let list = self.parent().map(|parent| {
            if attached {
                &parent.entry().memory
            } else {
                &parent.entry().children
            }
        });
        self.views(list.map_or(&[], Vec::as_slice))
            .filter(move |other| other.id != self.id)
    }

    /// The objects of `kind` whose processors are all in this object, in logical order; includes itself if it
    /// is of `kind`.
    pub fn inside(self, kind: Kind) -> impl Iterator<Item = Self> {
        let all = self.machine.objects(kind);
        all.filter(move |object| !object.cpus().is_empty() && object.cpus().is_subset(self.cpus()))
    }
}

/// Lookup of objects.
impl Machine {
    /// The machine as an object: the root of the tree.
    pub fn root(&self) -> Object<'_> {
        Object {
            machine: self,
            id: ObjectId(0),
        }
    }

    /// The object with this number.
    ///
    /// # Panics
    ///
    /// If the number is from another, larger machine.
    pub fn object(&self, id: ObjectId) -> Object<'_> {
        assert!(
            (id.0 as usize) < self.entries.len(),
            "object {} of a machine with {}",
            id.0,
            self.entries.len()
        );
        Object { machine: self, id }
    }

    /// All objects in depth-first order, each before its NUMA nodes, and these before its children.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Object<'_>> + ExactSizeIterator {
        (0..self.entries.len() as u32).map(|id| Object {
            machine: self,
            id: ObjectId(id),
        })
    }

    /// The objects of one kind in logical order; empty if the machine has none or the source does not report
    /// them.
    pub fn objects(
        &self,
        kind: Kind,
    ) -> impl DoubleEndedIterator<Item = Object<'_>> + ExactSizeIterator {
        self.by_kind[kind as usize].iter().map(|id| Object {
            machine: self,
            id: *id,
        })
    }

    /// The object with this kind and logical number.
    pub fn logical(&self, kind: Kind, number: usize) -> Option<Object<'_>> {
        self.objects(kind).nth(number)
    }

    /// The objects of this kind with the operating system's number `os`: at most one PU or NUMA node, but
    /// often one core in each package.
    pub fn with_os(&self, kind: Kind, os: u32) -> impl Iterator<Item = Object<'_>> {
        self.objects(kind)
            .filter(move |object| object.os() == Some(os))
    }

    /// The PU with the operating system's processor number `cpu`.
    ///
    /// # Cost
    ///
    /// A walk down the tree: do it once, not for every message.
    pub fn pu(&self, cpu: usize) -> Option<Object<'_>> {
        let mut object = self.root();
        while object.kind() != Kind::Pu {
            object = object.children().find(|child| child.cpus().contains(cpu))?;
        }
        Some(object)
    }

    /// The smallest object that contains all of `cpus`; `None` if the machine does not.
    pub fn covering(&self, cpus: &CpuSet) -> Option<Object<'_>> {
        let mut object = Some(self.root()).filter(|root| cpus.is_subset(root.cpus()))?;
        while let Some(child) = object
            .children()
            .find(|child| cpus.is_subset(child.cpus()) && !cpus.is_empty())
        {
            object = child;
        }
        Some(object)
    }
}

impl PartialEq for Object<'_> {
    /// Whether both are the same object of the same machine (the same value, not an equal copy).
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.machine, other.machine) && self.id == other.id
    }
}

impl Eq for Object<'_> {}

/// Written as lstopo does: `Core L#3 P#5`.
impl fmt::Display for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind())?;
        if self.kind() != Kind::Machine {
            write!(f, " L#{}", self.logical())?;
        }
        self.os().map_or(Ok(()), |os| write!(f, " P#{os}"))
    }
}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} {{{}}}", self.cpus())
    }
}
