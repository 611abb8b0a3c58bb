//! Smaller machines made of one: without some processors, or without levels that say nothing new.

use crate::cpuset::CpuSet;
use crate::distances::End;
use crate::kind::Kind;
use crate::machine::Machine;
use crate::tree::Tree;
use alloc::vec::Vec;

impl Machine {
    /// The machine as lstopo shows it: only the processors and NUMA nodes that are
    /// [allowed](Self::allowed), and without redundant levels: groups that have no NUMA node and only
    /// one child or the processors of their parent.
    ///
    /// Everything else stays, as in hwloc 2.9's default: also caches, dies, cores that have the same
    /// processors as what is around them, and instruction caches.
    pub fn default_view(&self) -> Self {
        let mut tree = Tree::of(self).restricted(&self.allowed, &self.allowed_memory);
        tree.merge();
        self.with_tree(tree)
    }

    /// The machine with only those processors that are in `cpus`. What loses all its processors
    /// goes, except where NUMA nodes are attached to it or inside it: memory stays. Devices stay too, attached to the
    /// object around the one that went.
    #[must_use]
    pub fn restrict(&self, cpus: &CpuSet) -> Self {
        let nodes = self.objects(Kind::Numa).filter_map(|numa| numa.os());
        let nodes = nodes.map(|os| os as usize).collect();
        self.with_tree(Tree::of(self).restricted(cpus, &nodes))
    }

    fn with_tree(&self, mut tree: Tree) -> Self {
        // What lost its first processors may have come behind its siblings.
        tree.sort();
        let (mut machine, marks) = tree.flatten_marked(self.source);
        machine.allowed = &machine.allowed & &self.allowed;
        machine.allowed_memory = &machine.allowed_memory & &self.allowed_memory;
        machine.offline = self.offline.clone();
        machine.bound = self.bound.as_ref().map(|bound| bound & machine.online());
        machine.notes = self.notes.clone();
        machine.core_kinds = self.core_kinds.clone();
        for kind in &mut machine.core_kinds {
            kind.cpus = &kind.cpus & &machine.entries[0].facts.cpus;
        }
        machine.core_kinds.retain(|kind| !kind.cpus.is_empty());
        let kept = |end| match end {
            End::Object(id) => marks.objects.get(&id.0.into()).copied().map(End::Object),
            End::Device(id) => marks.devices.get(&id.0.into()).copied().map(End::Device),
        };
        let distances = self.distances.iter();
        machine.distances = distances.filter_map(|matrix| matrix.map(kept)).collect();
        machine
    }
}

impl Tree {
    fn restricted(mut self, cpus: &CpuSet, nodes: &CpuSet) -> Self {
        self.facts.cpus = &self.facts.cpus & cpus;
        let is_kept = |os: Option<u32>| os.is_some_and(|os| nodes.contains(os as usize));
        for mut numa in core::mem::take(&mut self.memory) {
            numa.facts.cpus = &numa.facts.cpus & cpus;
            match is_kept(numa.facts.os) {
                true => self.memory.push(numa),
                false => self.devices.append(&mut numa.devices),
            }
        }
        for child in core::mem::take(&mut self.children) {
            let mut child = child.restricted(cpus, nodes);
            match child.is_bare() {
                true => self.devices.append(&mut child.devices),
                false => self.children.push(child),
            }
        }
        self
    }

    /// Whether nothing is left of it: no processor and no memory.
    fn is_bare(&self) -> bool {
        self.facts.cpus.is_empty() && self.memory.is_empty() && self.children.is_empty()
    }

    /// Takes redundant levels out below this object; what was inside them moves up into their place.
    fn merge(&mut self) {
        let mut merged = Vec::new();
        for mut child in core::mem::take(&mut self.children) {
            child.merge();
            let alone = child.facts.cpus == self.facts.cpus || child.children.len() <= 1;
            let redundant = child.facts.kind == Kind::Group && child.memory.is_empty() && alone;
            if redundant {
                self.memory.append(&mut child.memory);
                self.devices.append(&mut child.devices);
                merged.append(&mut child.children);
            } else {
                merged.push(child);
            }
        }
        self.children = merged;
    }
}
