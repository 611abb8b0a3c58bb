//! Computes the levels of a machine as hwloc numbers them.

use crate::facts::ObjectId;
use crate::kind::Kind;
use crate::machine::Machine;
use crate::object::Object;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

impl Machine {
    /// The levels of the tree from the outermost, each with its objects in the order of the tree. There is
    /// one level for each kind; groups are on one level if they have the same [subtype](Object::subtype) and
    /// none is inside another. NUMA nodes are on no level.
    ///
    /// A level is above another if one of its objects contains one of the other's. An object that is missing
    /// somewhere, such as a cache in one of two packages, does not move the rest of its level.
    ///
    /// # Cost
    ///
    /// A walk over the whole machine for each level.
    ///
    /// Source: `hwloc_connect_levels` of hwloc 2.9, whose `depth` is the index in this list.
    pub fn levels(&self) -> Vec<Vec<Object<'_>>> {
        let mut levels = Vec::new();
        let mut front = vec![self.root()];
        while let Some(first) = front.first() {
            let outermost = front.iter().find(|object| object.kind() != Kind::Pu);
            let mut top = *outermost.unwrap_or(first);
            for object in &front {
                if !alike(*object, top) && holds_one_like(*object, top) {
                    top = *object;
                }
            }
            let mut next = Vec::new();
            let mut level = Vec::new();
            for object in front {
                match alike(object, top) {
                    true => {
                        level.push(object);
                        next.extend(object.children());
                    }
                    false => next.push(object),
                }
            }
            levels.push(level);
            front = next;
        }
        levels
    }
}

/// The numbers of groups: hwloc numbers those of each level of groups separately.
pub(crate) struct Groups(BTreeMap<ObjectId, GroupNumber>);

/// The position of a group among all groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupNumber {
    /// The index among the levels of groups, 0 for the outermost.
    pub(crate) level: u32,
    /// The index of the group on this level.
    pub(crate) logical: u32,
}

impl Groups {
    pub(crate) fn of(machine: &Machine) -> Self {
        if machine.objects(Kind::Group).len() == 0 {
            return Self(BTreeMap::new());
        }
        let levels = machine.levels();
        let levels = levels.iter().filter(|level| level[0].kind() == Kind::Group);
        let numbered = levels.zip(0..).flat_map(|(level, number)| {
            let place = move |logical| GroupNumber {
                level: number,
                logical,
            };
            level.iter().zip((0..).map(place))
        });
        Self(
            numbered
                .map(|(group, number)| (group.id(), number))
                .collect(),
        )
    }

    /// The number of a group; `None` for other objects.
    pub(crate) fn number(&self, object: Object<'_>) -> Option<GroupNumber> {
        self.0.get(&object.id()).copied()
    }
}

/// Whether both objects may be on one level.
fn alike(a: Object<'_>, b: Object<'_>) -> bool {
    a.kind() == b.kind() && (a.kind() != Kind::Group || a.subtype() == b.subtype())
}

fn holds_one_like(object: Object<'_>, other: Object<'_>) -> bool {
    object
        .children()
        .any(|child| alike(child, other) || holds_one_like(child, other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    fn levels(text: &str) -> Vec<(Kind, usize)> {
        let machine = Machine::from_synthetic(text).unwrap();
        let levels = machine.levels();
        levels
            .iter()
            .map(|level| (level[0].kind(), level.len()))
            .collect()
    }

    #[test]
    fn one_level_a_kind_and_one_a_row_of_groups() {
        use Kind::{Core, Group, Machine, Package, Pu};
        let expected = [
            (Machine, 1),
            (Group, 2),
            (Group, 4),
            (Package, 8),
            (Core, 16),
            (Pu, 16),
        ];
        assert_eq!(levels("group:2 group:2 package:2 core:2 pu:1"), expected);
    }

    #[test]
    fn a_level_with_gaps_stays_one_level() {
        // The cores of package 0 have no L2 cache, and its second core is offline.
        let machine = Machine::from_synthetic("package:2 l2:2 core:1 pu:1").unwrap();
        let mut tree = crate::tree::Tree::of(&machine);
        for cache in core::mem::take(&mut tree.children[0].children) {
            tree.children[0].children.extend(cache.children);
        }
        tree.children[0].children.pop();
        let machine = tree.flatten(machine.source());
        let levels = machine.levels();
        let shown: Vec<String> = levels
            .iter()
            .map(|level| alloc::format!("{} {}", level[0].kind(), level.len()))
            .collect();
        assert_eq!(
            shown,
            ["Machine 1", "Package 2", "L2Cache 2", "Core 3", "PU 3"]
        );
    }
}
