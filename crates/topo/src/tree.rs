//! [`Tree`]: a machine under construction. Sources build it, views transform it, and [`Machine`] is made by
//! flattening it.

use crate::cpuset::CpuSet;
use crate::facts::devices::{DeviceFacts, DeviceId};
use crate::facts::{Cache, Facts, ObjectId};
use crate::kind::Kind;
use crate::machine::Machine;
use crate::source::Source;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// An object with all objects inside it. `children` nest; `memory` has the NUMA nodes attached to it, which
/// contain only devices.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) facts: Facts,
    pub(crate) children: Vec<Tree>,
    pub(crate) memory: Vec<Tree>,
    pub(crate) devices: Vec<DeviceTree>,
    /// The mark that finds the object again in the machine, for distances and others: see [`Marks`].
    pub(crate) mark: Option<u64>,
}

/// A device with all devices behind it.
#[derive(Clone, Debug)]
pub(crate) struct DeviceTree {
    pub(crate) facts: DeviceFacts,
    pub(crate) children: Vec<DeviceTree>,
    pub(crate) mark: Option<u64>,
}

/// The numbers of marked objects and devices in the machine made from a tree.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    pub(crate) objects: BTreeMap<u64, ObjectId>,
    pub(crate) devices: BTreeMap<u64, DeviceId>,
}

impl DeviceTree {
    pub(crate) fn leaf(facts: DeviceFacts) -> Self {
        Self {
            facts,
            children: Vec::new(),
            mark: None,
        }
    }

    fn append(
        self,
        near: ObjectId,
        parent: Option<DeviceId>,
        machine: &mut Machine,
        marks: &mut Marks,
    ) {
        let id = machine.push_device(self.facts, near, parent);
        marks.devices.extend(self.mark.map(|mark| (mark, id)));
        for child in self.children {
            child.append(near, Some(id), machine, marks);
        }
    }

    fn of(machine: &Machine, id: DeviceId) -> Self {
        let entry = &machine.devices[id.0 as usize];
        let children = entry.children.iter();
        Self {
            facts: entry.facts.clone(),
            children: children.map(|child| Self::of(machine, *child)).collect(),
            mark: Some(id.0.into()),
        }
    }
}

impl Facts {
    pub(crate) fn new(kind: Kind, os: Option<u32>, cpus: CpuSet) -> Self {
        Self {
            kind,
            os,
            cpus,
            subtype: None,
            cache: kind.is_cache().then(Cache::default),
            local_memory: None,
            thread: None,
            side_caches: Vec::new(),
            infos: Vec::new(),
        }
    }

    /// The facts of a processing unit.
    pub(crate) fn pu(os: usize) -> Self {
        Self::new(Kind::Pu, Some(os as u32), CpuSet::one(os))
    }
}

impl Tree {
    pub(crate) fn leaf(facts: Facts) -> Self {
        Self {
            facts,
            children: Vec::new(),
            memory: Vec::new(),
            devices: Vec::new(),
            mark: None,
        }
    }

    /// Sorts everywhere: children by their first processors, then those without processors by their first
    /// NUMA nodes; NUMA nodes by their numbers.
    pub(crate) fn sort(&mut self) {
        self.children.sort_by(|a, b| {
            let processors = a.facts.cpus.cmp(&b.facts.cpus);
            processors.then_with(|| a.first_node().cmp(&b.first_node()))
        });
        self.memory.sort_by_key(|numa| numa.facts.os);
        self.children.iter_mut().for_each(Self::sort);
    }

    /// The smallest number of a NUMA node in the tree.
    fn first_node(&self) -> Option<u32> {
        let own = self.memory.iter().filter_map(|numa| numa.facts.os);
        let inside = self.children.iter().filter_map(Self::first_node);
        own.chain(inside).min()
    }

    /// The tree of these objects, given in any order: each inside the smallest object that contains its
    /// processors, equal sets in the order of kinds. Objects that overlap others without nesting are left
    /// out, with a note.
    ///
    /// The machine has the processors of the PUs; processors without a PU are removed from all sets. NUMA
    /// nodes are attached as in hwloc: to the outermost object with their processors other than the machine
    /// if possible; a group is made where there is none.
    pub(crate) fn nest(mut facts: Vec<Facts>, notes: &mut Vec<String>) -> Self {
        let pus = facts.iter().filter(|object| object.kind == Kind::Pu);
        let all: CpuSet = pus.flat_map(|pu| &pu.cpus).collect();
        for object in &mut facts {
            object.cpus = &object.cpus & &all;
        }
        let (numa, objects): (Vec<_>, Vec<_>) = facts
            .into_iter()
            .partition(|object| object.kind == Kind::Numa);
        let is_group = |object: &Facts| object.kind == Kind::Group;
        let (groups, mut objects): (Vec<_>, Vec<_>) = objects.into_iter().partition(is_group);
        objects.retain(|object| !object.cpus.is_empty());
        let around = numa
            .iter()
            .map(|numa| Facts::new(Kind::Group, None, numa.cpus.clone()));
        let groups = new_groups(groups.into_iter().chain(around), &objects, &all, notes);
        objects.extend(groups);
        objects.sort_by_key(|object| (Reverse(object.cpus.len()), object.kind));

        // Larger objects come first, so the owner of a processor is the smallest object so far that has it.
        let mut owner = vec![0; all.last().map_or(0, |last| last + 1)];
        let mut nodes = vec![(0, Self::leaf(Facts::new(Kind::Machine, None, all)))];
        for object in objects {
            let mut owners = object.cpus.iter().map(|cpu| owner[cpu]);
            let parent = owners.next().unwrap_or(0);
            if owners.any(|other| other != parent) {
                notes.push(overlaps(&object));
                continue;
            }
            let around = &nodes[parent].1.facts;
            if around.kind == object.kind && around.cpus == object.cpus {
                continue;
            }
            object.cpus.iter().for_each(|cpu| owner[cpu] = nodes.len());
            nodes.push((parent, Self::leaf(object)));
        }
        while nodes.len() > 1 {
            if let Some((parent, node)) = nodes.pop() {
                nodes[parent].1.children.push(node);
            }
        }
        let mut root = nodes.swap_remove(0).1;
        numa.into_iter().for_each(|numa| root.attach(numa));
        root.sort();
        root
    }

    fn attach(&mut self, numa: Facts) {
        if numa.cpus.is_empty() {
            let mut group = Self::leaf(Facts::new(Kind::Group, None, CpuSet::new()));
            group.memory.push(Self::leaf(numa));
            self.children.push(group);
            return;
        }
        self.place(&numa.cpus).memory.push(Self::leaf(numa));
    }

    /// The outermost object inside this one with exactly these processors, or else the smallest one that
    /// contains them, at last this one.
    pub(crate) fn place(&mut self, cpus: &CpuSet) -> &mut Self {
        let mut place = self;
        loop {
            let covers = |child: &Self| cpus.is_subset(&child.facts.cpus);
            match place.children.iter().position(covers) {
                Some(inner) if place.children[inner].facts.kind != Kind::Pu => {
                    place = &mut place.children[inner];
                }
                _ => return place,
            }
            if place.facts.cpus == *cpus {
                return place;
            }
        }
    }

    /// The machine of this tree, with all processors allowed.
    pub(crate) fn flatten(self, source: Source) -> Machine {
        self.flatten_marked(source).0
    }

    /// The machine of this tree, and the numbers of its marked objects.
    pub(crate) fn flatten_marked(self, source: Source) -> (Machine, Marks) {
        let (mut machine, mut marks) = (Machine::empty(source), Marks::default());
        self.append(None, &mut machine, &mut marks);
        machine.number_nodes();
        machine.allowed = machine.root().cpus().clone();
        machine.allowed_memory = machine
            .objects(Kind::Numa)
            .filter_map(|numa| numa.os())
            .map(|os| os as usize)
            .collect();
        (machine, marks)
    }

    fn append(
        self,
        parent: Option<ObjectId>,
        machine: &mut Machine,
        marks: &mut Marks,
    ) -> ObjectId {
        let id = machine.push(self.facts, parent);
        marks.objects.extend(self.mark.map(|mark| (mark, id)));
        for device in self.devices {
            device.append(id, None, machine, marks);
        }
        for numa in self.memory {
            let numa = numa.append(Some(id), machine, marks);
            machine.entries[id.0 as usize].memory.push(numa);
        }
        for child in self.children {
            let child = child.append(Some(id), machine, marks);
            machine.entries[id.0 as usize].children.push(child);
        }
        id
    }

    /// The tree that a machine was flattened from, with its objects' and devices' numbers as marks.
    pub(crate) fn of(machine: &Machine) -> Self {
        Self::below(machine, ObjectId(0))
    }

    fn below(machine: &Machine, id: ObjectId) -> Self {
        let entry = &machine.entries[id.0 as usize];
        let trees = |ids: &[ObjectId]| ids.iter().map(|id| Self::below(machine, *id)).collect();
        let devices = entry.devices.iter();
        Self {
            facts: entry.facts.clone(),
            children: trees(&entry.children),
            memory: trees(&entry.memory),
            devices: devices.map(|id| DeviceTree::of(machine, *id)).collect(),
            mark: Some(id.0.into()),
        }
    }
}

/// The groups whose sets no object but a PU has, only the first of equal ones. A group that overlaps another
/// object is left out, with a note.
fn new_groups(
    wanted: impl Iterator<Item = Facts>,
    objects: &[Facts],
    all: &CpuSet,
    notes: &mut Vec<String>,
) -> Vec<Facts> {
    let places = objects.iter().filter(|object| object.kind != Kind::Pu);
    let sets = places.clone().map(|object| object.cpus.clone());
    let mut known: BTreeSet<CpuSet> = sets.chain([all.clone()]).collect();
    let new = |group: &Facts| !group.cpus.is_empty() && known.insert(group.cpus.clone());
    let fits = |group: &Facts| {
        let nests = |object: &Facts| {
            let (inner, outer) = (&group.cpus, &object.cpus);
            !inner.intersects(outer) || inner.is_subset(outer) || outer.is_subset(inner)
        };
        let fits = places.clone().all(nests);
        if !fits {
            notes.push(overlaps(group));
        }
        fits
    };
    wanted.filter(new).filter(fits).collect()
}

fn overlaps(object: &Facts) -> String {
    let Facts { kind, cpus, .. } = object;
    format!("{kind} of processors {cpus} overlaps others and was left out")
}
