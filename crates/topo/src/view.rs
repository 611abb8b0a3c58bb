//! [`View`]: makes smaller machines of a machine, without some processors, redundant levels, or devices.

mod devices;
mod levels;

use crate::cpuset::CpuSet;
use crate::distances::End;
use crate::kind::Kind;
use crate::machine::Machine;
use crate::tree::Tree;

/// The parts of a machine to show. The default is that of lstopo 2.9; [`EVERYTHING`](Self::EVERYTHING) leaves
/// nothing out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct View {
    /// Also show processors and NUMA nodes that are not [allowed](Machine::allowed): lstopo's `--disallowed`.
    pub disallowed: bool,
    /// The levels to show.
    pub levels: Levels,
    /// The devices to show.
    pub devices: Devices,
}

/// The levels of a machine to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Levels {
    /// All kinds, but no redundant groups: a level of groups goes if each is an only child, or has one object
    /// of the next level in it and nothing else. Instruction caches stay, and caches, dies and cores with the
    /// same processors as their parent.
    #[default]
    AllKinds,
    /// Only levels that add structure: lstopo's `--merge`. Of two levels with the same number of objects,
    /// each an only child, one goes: the first in the order group, instruction cache, other cache, die,
    /// package, core. The machine, NUMA nodes and PUs stay.
    Structure,
    /// All levels, including redundant groups.
    Every,
}

/// The devices of a machine to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Devices {
    /// lstopo's choice. PCI functions for display, network, storage, processing (also accelerators), fibre
    /// channel, InfiniBand and CXL memory, and those without a class, including virtual functions; bridges
    /// and switches with devices behind them; all devices of the system but DMA engines. Devices behind one
    /// that goes move up into its place.
    #[default]
    Important,
    /// All: lstopo's `--whole-io`.
    All,
    /// None: lstopo's `--no-io`.
    None,
}

impl View {
    /// The machine as the source gave it: every level, every device, also what is not allowed.
    pub const EVERYTHING: Self = Self {
        disallowed: true,
        levels: Levels::Every,
        devices: Devices::All,
    };
}

impl Machine {
    /// The machine as lstopo shows it: only [allowed](Self::allowed) processors and NUMA nodes, no redundant
    /// groups, and only important devices. The same as [`view`](Self::view) with the default [`View`].
    ///
    /// Everything else stays, as by default in hwloc 2.9: also caches, dies and cores with the same
    /// processors as their parent, and instruction caches.
    #[must_use]
    pub fn default_view(&self) -> Self {
        self.view(&View::default())
    }

    /// The parts of the machine that `view` shows.
    #[must_use]
    pub fn view(&self, view: &View) -> Self {
        let mut tree = Tree::of(self);
        if !view.disallowed {
            tree.restrict(&self.allowed, &self.allowed_memory);
        }
        match view.devices {
            Devices::All => (),
            Devices::Important => tree.keep_important_devices(),
            Devices::None => tree.drop_devices(),
        }
        match view.levels {
            Levels::Every => (),
            Levels::AllKinds => tree.merge_levels(self.source, |kind| kind == Kind::Group),
            Levels::Structure => tree.merge_levels(self.source, |_| true),
        }
        self.with_tree(tree)
    }

    /// The machine with only the processors that are in `cpus`. An object without processors goes, unless
    /// NUMA nodes are attached to it or inside it: memory stays. Devices stay too, attached to the parent of
    /// an object that went.
    #[must_use]
    pub fn restrict(&self, cpus: &CpuSet) -> Self {
        let nodes = self.objects(Kind::Numa).filter_map(|numa| numa.os());
        let nodes = nodes.map(|os| os as usize).collect();
        let mut tree = Tree::of(self);
        tree.restrict(cpus, &nodes);
        // An object that lost its first processors may now belong behind its siblings.
        tree.sort();
        self.with_tree(tree)
    }

    fn with_tree(&self, tree: Tree) -> Self {
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
    fn restrict(&mut self, cpus: &CpuSet, nodes: &CpuSet) {
        self.facts.cpus = &self.facts.cpus & cpus;
        let is_kept = |os: Option<u32>| os.is_some_and(|os| nodes.contains(os as usize));
        let own_devices = self.devices.len();
        for mut numa in core::mem::take(&mut self.memory) {
            numa.facts.cpus = &numa.facts.cpus & cpus;
            match is_kept(numa.facts.os) {
                true => self.memory.push(numa),
                false => self.devices.append(&mut numa.devices),
            }
        }
        for mut child in core::mem::take(&mut self.children) {
            child.restrict(cpus, nodes);
            match child.is_bare() {
                true => self.devices.append(&mut child.devices),
                false => self.children.push(child),
            }
        }
        if self.devices.len() > own_devices {
            self.sort_devices();
        }
    }

    /// Whether the tree has neither processors nor memory.
    fn is_bare(&self) -> bool {
        self.facts.cpus.is_empty() && self.memory.is_empty() && self.children.is_empty()
    }
}
