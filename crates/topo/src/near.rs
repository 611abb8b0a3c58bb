//! Nearness of objects: common ancestors, distances, the nearest memory, cache and device; and whether a
//! machine is uniform.

use crate::device::Device;
use crate::distances::End;
use crate::facts::devices::DeviceKind;
use crate::kind::Kind;
use crate::machine::Machine;
use crate::object::Object;
use core::iter;

impl<'m> Object<'m> {
    /// The smallest object that contains both, or one of the two if it contains the other.
    ///
    /// # Panics
    ///
    /// If the two are of different machines.
    pub fn common_ancestor(self, other: Self) -> Self {
        assert!(
            core::ptr::eq(self.machine, other.machine),
            "{self} and {other} of different machines"
        );
        // An object's number is larger than those of its ancestors, so the one with the larger number goes
        // up.
        let (mut one, mut two) = (self, other);
        while one.id != two.id {
            let later = if one.id > two.id { &mut one } else { &mut two };
            match later.parent() {
                Some(parent) => *later = parent,
                None => break,
            }
        }
        one
    }

    /// The number of steps in the tree from one object up to the common ancestor and down to the other: 0 to
    /// itself, 2 to a sibling. Symmetric, and never longer than by way of a third object. Steps depend on the
    /// levels of a machine, so compare them within one machine only.
    ///
    /// # Panics
    ///
    /// If the two are of different machines.
    pub fn steps_to(self, other: Self) -> usize {
        let common = self.common_ancestor(other);
        let up = |from: Self| {
            iter::once(from)
                .chain(from.ancestors())
                .take_while(|object| object.id != common.id)
                .count()
        };
        up(self) + up(other)
    }

    /// The NUMA node with the smallest set of processors that contains all of this object's; of equal ones,
    /// the one with the smallest number.
    pub fn nearest_numa(self) -> Option<Self> {
        // Nodes may be attached to a descendant with the same processors.
        let same = |object: &Self| {
            let mut children = object.children();
            children.find(|child| child.cpus() == object.cpus())
        };
        let innermost = iter::successors(Some(self), same).last()?;
        // Nodes that cut other objects are attached around those, beside nodes of other processors.
        let nearest = |object: Self| {
            let mut nodes = object.memory();
            nodes.find(|node| self.cpus().is_subset(node.cpus()))
        };
        iter::once(innermost)
            .chain(innermost.ancestors())
            .find_map(nearest)
    }

    /// The caches that contain it, the nearest first: for a PU those it uses, including the instruction
    /// cache.
    pub fn caches(self) -> impl Iterator<Item = Self> {
        self.ancestors().filter(|object| object.kind().is_cache())
    }

    /// The nearest devices of a kind: those attached to the smallest ancestor that has any, at that object or
    /// inside it. None if the machine has none.
    pub fn nearest_devices(self, kind: DeviceKind) -> impl Iterator<Item = Device<'m>> {
        let machine = self.machine;
        let of_kind = move || {
            machine
                .devices()
                .filter(move |device| device.kind() == kind)
        };
        let place = iter::once(self)
            .chain(self.ancestors())
            .find(|around| of_kind().any(|device| device.near().is_within(*around)));
        of_kind().filter(move |device| place.is_some_and(|around| device.near().is_within(around)))
    }

    /// Whether the object is `around` or inside it.
    fn is_within(self, around: Self) -> bool {
        iter::once(self)
            .chain(self.ancestors())
            .any(|object| object == around)
    }
}

impl Machine {
    /// Whether the tree is full: at each depth, all objects have the same kind and number of children. NUMA
    /// nodes and devices do not count.
    ///
    /// Source: "uniform topology" in the messages of Intel's OpenMP runtime.
    pub fn is_uniform(&self) -> bool {
        let mut level = alloc::vec![self.root()];
        while let Some(first) = level.first() {
            let same = |object: &Object<'_>| {
                object.kind() == first.kind() && object.children().len() == first.children().len()
            };
            if !level.iter().all(same) {
                return false;
            }
            level = level.iter().flat_map(|object| object.children()).collect();
        }
        true
    }

    /// The operating system's distance between two NUMA nodes, given by their numbers; 10 is the distance to
    /// itself.
    pub fn numa_distance(&self, from: u32, to: u32) -> Option<u64> {
        let end = |os| Some(End::Object(self.with_os(Kind::Numa, os).next()?.id()));
        let (from, to) = (end(from)?, end(to)?);
        self.distances()
            .iter()
            .find_map(|matrix| matrix.between(from, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpuset::CpuSet;

    #[test]
    fn a_node_inside_with_the_same_processors_is_near() {
        let machine = Machine::from_synthetic("package:1 [numa] core:2 pu:1").unwrap();
        let numa = machine.logical(Kind::Numa, 0);
        assert_eq!(
            numa.and_then(Object::parent),
            machine.logical(Kind::Package, 0)
        );
        assert_eq!(machine.root().nearest_numa(), numa);
        assert_eq!(machine.pu(1).and_then(Object::nearest_numa), numa);
    }

    #[test]
    fn the_innermost_of_nested_nodes_is_nearest() {
        let machine = Machine::from_synthetic("[numa] package:2 [numa] core:2 pu:1").unwrap();
        let os = |object: Object<'_>| object.nearest_numa().and_then(Object::os);
        assert_eq!(os(machine.root()), Some(2));
        assert_eq!(machine.pu(3).and_then(os), Some(1));
    }

    #[test]
    fn a_missing_processor_breaks_uniformity() {
        let machine = Machine::from_synthetic("package:2 core:2 pu:2").unwrap();
        assert!(machine.is_uniform());
        assert!(!machine.restrict(&(0..7).collect::<CpuSet>()).is_uniform());
        assert!(machine.restrict(&(0..4).collect::<CpuSet>()).is_uniform());
    }

    #[test]
    fn caches_come_from_the_inside() {
        let machine = Machine::from_synthetic("l3:1 l2:2 l1d:1 l1i:1 pu:2").unwrap();
        let kinds = machine.pu(3).unwrap().caches().map(Object::kind);
        assert!(kinds.eq([Kind::L1i, Kind::L1, Kind::L2, Kind::L3]));
    }
}
