//! A machine while it is made: a nested tree, which sources build and views transform, and which [`Machine`] flattens.

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

/// An object with all that is inside it. `children` nest; `memory` holds the NUMA nodes attached to it, which have nothing
/// inside but devices.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) facts: Facts,
    pub(crate) children: Vec<Tree>,
    pub(crate) memory: Vec<Tree>,
    pub(crate) devices: Vec<DeviceTree>,
    /// By which distances and others find the object again in the machine: see [`Marks`].
    pub(crate) mark: Option<u64>,
}

/// A device with all that is behind it.
#[derive(Clone, Debug)]
pub(crate) struct DeviceTree {
    pub(crate) facts: DeviceFacts,
    pub(crate) children: Vec<DeviceTree>,
    pub(crate) mark: Option<u64>,
}

/// Where marked objects and devices are in the machine made of a tree.
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

    /// A processing unit.
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

    /// Puts children in the order of their first processors, those without any last and in the order of their first NUMA
    /// nodes, and NUMA nodes in the order of their numbers, everywhere.
    pub(crate) fn sort(&mut self) {
        self.children.sort_by(|a, b| {
            let processors = a.facts.cpus.cmp(&b.facts.cpus);
            processors.then_with(|| a.first_node().cmp(&b.first_node()))
        });
        self.memory.sort_by_key(|numa| numa.facts.os);
        self.children.iter_mut().for_each(Self::sort);
    }

    /// The smallest number of a NUMA node in it.
    fn first_node(&self) -> Option<u32> {
        let own = self.memory.iter().filter_map(|numa| numa.facts.os);
        let inside = self.children.iter().filter_map(Self::first_node);
        own.chain(inside).min()
    }

    /// The tree of these objects, given in any order: each inside the smallest that holds all its processors, and
    /// equals in the order of their kinds. What overlaps others without lying inside is left out, with a note.
    ///
    /// The machine is what the PUs make up; processors without a PU are taken out of all sets. NUMA nodes are
    /// attached as hwloc does: to the outermost object with their processors, the machine last, with a group made
    /// for those where there is none.
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

        // Larger objects come first, so the owner of a processor is the smallest so far that has it.
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

    /// The outermost object inside this one with just these processors, or else the smallest one around them, this one
    /// being the last choice.
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

    /// The machine of this tree; every processor is allowed.
    pub(crate) fn flatten(self, source: Source) -> Machine {
        self.flatten_marked(source).0
    }

    /// The machine of this tree, and where its marked objects are.
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

    /// The tree that a machine was flattened from, its objects and devices marked with their numbers.
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

/// Those groups whose sets no object but a PU has, the first of equals. A group never drives an object out: if they
/// overlap, it is the group that is left out, with a note.
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
