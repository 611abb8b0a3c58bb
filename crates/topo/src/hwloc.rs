//! Reads the machine from the system's hwloc library.
//!
//! The package `hwloc2` gives objects, processor sets and caches only: not which caches are
//! [unified](crate::Cache::unified), nor the memory of NUMA nodes, distances or devices; hwloc filters
//! instruction caches by default. NUMA nodes are read from the PUs, each of which names its own: a node near
//! no PU is left out, and a node without memory is there, but not allowed. hwloc honours its environment
//! (`HWLOC_XMLFILE`, `HWLOC_SYNTHETIC`), so the machine may be a different one than the running.
//!
//! Source: the documentation of hwloc 2.9.

use crate::cpuset::CpuSet;
use crate::facts::{Cache, Facts};
use crate::kind::Kind;
use crate::machine::Machine;
use crate::source::Source;
use crate::tree::Tree;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use hwloc2::{Bitmap, CpuBindFlags, ObjectType, Topology, TopologyFlag, TopologyObject};

/// hwloc's number for objects that the operating system does not number.
const UNKNOWN: u32 = u32::MAX;

impl Machine {
    /// The machine that the system's [hwloc](crate::hwloc) describes, including processors that this process
    /// may not use; `None` if hwloc fails, which it does without a reason.
    ///
    /// # Cost
    ///
    /// hwloc discovers the machine twice: once with everything, once for the allowed processors.
    pub fn from_hwloc() -> Option<Self> {
        let everything = Topology::with_flags(vec![TopologyFlag::IncludeDisallowed])?;
        let allowed = Topology::new()?;
        let mut facts = Vec::new();
        let mut nodes = BTreeMap::new();
        read(everything.object_at_root(), &mut facts, &mut nodes);
        let node = |(os, cpus)| Facts::new(Kind::Numa, Some(os), cpus);
        facts.extend(nodes.into_iter().map(node));

        let mut notes = Vec::new();
        let mut machine = Tree::nest(facts, &mut notes).flatten(Source::Hwloc);
        machine.notes = notes;
        let root = allowed.object_at_root();
        machine.allowed = &machine.allowed & &set(root.cpuset());
        machine.allowed_memory = &machine.allowed_memory & &set(root.nodeset());
        let bound = everything.get_cpubind(CpuBindFlags::CPUBIND_PROCESS);
        machine.bound = bound.map(|bound| &set(Some(bound)) & &machine.allowed);
        let all = set(everything.object_at_root().complete_cpuset());
        machine.offline = &all - machine.online();
        Some(machine)
    }
}

/// Adds `object` and all objects inside it to `facts`, and the processors of each NUMA node to `nodes`, by
/// its number.
fn read(object: &TopologyObject, facts: &mut Vec<Facts>, nodes: &mut BTreeMap<u32, CpuSet>) {
    let cpus = set(object.cpuset());
    if let Some(kind) = kind(object.object_type()) {
        let os = Some(object.os_index()).filter(|os| *os != UNKNOWN);
        let mut new = Facts::new(kind, os, cpus.clone());
        new.cache = new.cache.map(|_| cache(object));
        facts.push(new);
    }
    if matches!(object.object_type(), ObjectType::PU) {
        for node in &set(object.nodeset()) {
            let of_node = nodes.entry(node as u32).or_default();
            *of_node = &*of_node | &cpus;
        }
    }
    for child in object.children() {
        read(child, facts, nodes);
    }
}

/// The kind of an hwloc type; `None` for types that contain no processors, and for the machine.
fn kind(hwlocs: ObjectType) -> Option<Kind> {
    Some(match hwlocs {
        ObjectType::Group => Kind::Group,
        ObjectType::Package => Kind::Package,
        ObjectType::Die => Kind::Die,
        ObjectType::L5Cache => Kind::L5,
        ObjectType::L4Cache => Kind::L4,
        ObjectType::L3Cache => Kind::L3,
        ObjectType::L3iCache => Kind::L3i,
        ObjectType::L2Cache => Kind::L2,
        ObjectType::L2iCache => Kind::L2i,
        ObjectType::L1Cache => Kind::L1,
        ObjectType::L1iCache => Kind::L1i,
        ObjectType::Core => Kind::Core,
        ObjectType::PU => Kind::Pu,
        _ => return None,
    })
}

/// The size and shape of a cache; hwloc has 0 or -1 for unknown values, and for fully associative caches.
fn cache(object: &TopologyObject) -> Cache {
    let mut cache = Cache::default();
    if let Some(hwlocs) = object.cache_attributes() {
        cache.size = hwlocs.size;
        cache.line = Some(hwlocs.linesize).filter(|bytes| *bytes > 0);
        let ways = u32::try_from(hwlocs.associativity);
        cache.ways = ways.ok().filter(|ways| *ways > 0);
    }
    cache
}

/// The numbers in an hwloc set up to [`Machine::LARGEST_CPU`]: hwloc's sets may be infinite.
fn set(bitmap: Option<Bitmap>) -> CpuSet {
    let Some(bitmap) = bitmap else {
        return CpuSet::new();
    };
    let last = match usize::try_from(bitmap.last()) {
        Ok(last) => last.min(Machine::LARGEST_CPU),
        Err(_) if bitmap.is_empty() => return CpuSet::new(),
        Err(_) => Machine::LARGEST_CPU,
    };
    let is_set = |number: &usize| bitmap.is_set(*number as u32);
    (0..=last).filter(is_set).collect()
}
