//! Collects all devices, and attaches each to the object with the nearest processors.

use super::Files;
use super::read::Reader;
use super::{classes, pci};
use crate::cpuset::CpuSet;
use crate::error::SyntaxError;
use crate::facts::Facts;
use crate::kind::Kind;
use crate::tree::{DeviceTree, Tree};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// A root device with all behind it, and the processors that it is near to: empty for all.
pub(super) struct Placed {
    device: DeviceTree,
    cpus: CpuSet,
}

/// Reads the devices on PCI buses, under host bridges, then those of the system on no such bus. `nodes` has
/// the NUMA nodes among other facts.
pub(super) fn read(
    files: &Reader<'_, impl Files>,
    online: &CpuSet,
    nodes: &[Facts],
) -> Result<Vec<Placed>, SyntaxError> {
    let near = |node: Option<u32>| {
        let is_node = |object: &&Facts| object.kind == Kind::Numa && object.os == node;
        let node = node.and_then(|_| nodes.iter().find(is_node));
        node.map_or_else(CpuSet::new, |node| node.cpus.clone())
    };
    let functions = pci::read(files)?;
    let mut below: BTreeMap<usize, Vec<DeviceTree>> = BTreeMap::new();
    let mut others = Vec::new();
    for found in classes::read(files)? {
        let device = DeviceTree::leaf(found.facts);
        match functions.last_of(&found.behind) {
            Some(place) => below.entry(place).or_default().push(device),
            None => others.push(Placed {
                device,
                cpus: near(found.node),
            }),
        }
    }
    let placed = |root: pci::Root| Placed {
        device: root.device,
        cpus: match root.cpus {
            Some(cpus) => &cpus & online,
            None => near(root.node),
        },
    };
    let roots = functions.into_roots(files, below)?.into_iter();
    Ok(roots.map(placed).chain(others).collect())
}

/// Groups of the processors that devices are near to: hwloc adds a group where no object has these
/// processors.
pub(super) fn groups(devices: &[Placed]) -> impl Iterator<Item = Facts> {
    let near = devices.iter().map(|device| &device.cpus);
    let some = near.filter(|cpus| !cpus.is_empty());
    some.map(|cpus| Facts::new(Kind::Group, None, cpus.clone()))
}

/// Attaches the devices to the objects that they are near to.
pub(super) fn attach(devices: Vec<Placed>, tree: &mut Tree) {
    for Placed { device, cpus } in devices {
        let place = match cpus.is_empty() || cpus == tree.facts.cpus {
            true => &mut *tree,
            false => tree.place(&cpus),
        };
        place.devices.push(device);
    }
}
