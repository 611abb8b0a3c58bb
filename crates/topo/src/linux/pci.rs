//! Reads PCI functions from `/sys/bus/pci/devices`, and builds the tree of bridges from their bus numbers.
//!
//! Source: PCI Local Bus Specification 3.0, chapter 6; PCI-to-PCI Bridge Architecture Specification 1.2, section 3.2;
//! the kernel's Documentation/ABI/testing/sysfs-bus-pci.

mod config;

use super::Files;
use super::read::Reader;
use crate::cpuset::CpuSet;
use crate::error::SyntaxError;
use crate::facts::Info;
use crate::facts::devices::{BridgeBuses, DeviceFacts, DeviceKind, Pci, PciAddress};
use crate::machine::Machine;
use crate::tree::DeviceTree;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use config::Config;
use core::ops::RangeInclusive;

const DEVICES: &str = "/sys/bus/pci/devices";

/// The class and subclass of a bridge between PCI buses.
const PCI_BRIDGE: u16 = 0x0604;

/// All PCI functions and bridges, in the order of their addresses.
pub(super) struct Functions(Vec<DeviceFacts>);

/// A host bridge with all devices behind it, and its position.
pub(super) struct Root {
    pub(super) device: DeviceTree,
    /// The processors that it is near to, if the kernel has them.
    pub(super) cpus: Option<CpuSet>,
    /// The NUMA node that it is near to, if the kernel does not have the processors.
    pub(super) node: Option<u32>,
}

pub(super) fn read(files: &Reader<'_, impl Files>) -> Result<Functions, SyntaxError> {
    let addresses = files.names(DEVICES).into_iter();
    let mut addresses: Vec<PciAddress> = addresses
        .filter_map(|name| PciAddress::parse(&name))
        .take(Machine::MOST_OBJECTS)
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    let slots = slots(files);
    let mut functions = Vec::new();
    for address in addresses {
        let mut facts = function(files, address)?;
        let slot = (address.domain, address.bus, address.device);
        let slots = slots.get(&slot).into_iter().flatten();
        facts.infos.extend(slots.cloned());
        functions.push(facts);
    }
    Ok(Functions(functions))
}

/// The names of the occupied slots, by address.
fn slots(files: &Reader<'_, impl Files>) -> BTreeMap<(u32, u8, u8), Vec<Info>> {
    const SLOTS: &str = "/sys/bus/pci/slots";
    let mut slots: BTreeMap<_, Vec<Info>> = BTreeMap::new();
    for name in files.names(SLOTS) {
        let address = files.text(&format!("{SLOTS}/{name}/address"));
        // The kernel writes the address without the function.
        let address = address.and_then(|text| PciAddress::parse(&format!("{text}.0")));
        if let Some(PciAddress {
            domain,
            bus,
            device,
            ..
        }) = address
        {
            let infos = slots.entry((domain, bus, device)).or_default();
            infos.push(Info::new("PCISlot", name));
        }
    }
    slots
}

fn function(
    files: &Reader<'_, impl Files>,
    address: PciAddress,
) -> Result<DeviceFacts, SyntaxError> {
    let directory = format!("{DEVICES}/{address}");
    let number = |name| -> Result<u16, SyntaxError> {
        let number = files.hexadecimal(&format!("{directory}/{name}"))?;
        Ok(number.unwrap_or(0))
    };
    let config = format!("{directory}/config");
    let config = Config::new(files, &config);
    let class: u32 = files
        .hexadecimal(&format!("{directory}/class"))?
        .unwrap_or(0);
    let class_and_subclass = (class >> 8) as u16;
    let revision: Option<u8> = files.hexadecimal(&format!("{directory}/revision"))?;
    let pci = Pci {
        address,
        class: class_and_subclass,
        interface: class as u8,
        vendor: number("vendor")?,
        device: number("device")?,
        subvendor: number("subsystem_vendor")?,
        subdevice: number("subsystem_device")?,
        revision: revision.unwrap_or_else(|| config.revision()),
        link_speed: config::speed(match (current_link(files, &directory)?, revision) {
            (Some(link), _) => link,
            // This kernel has a file for the revision, so it would have one for a link, too.
            (None, Some(_)) => (0, 0),
            (None, None) => config.link().unwrap_or((0, 0)),
        }),
    };
    let buses = match class_and_subclass {
        PCI_BRIDGE => match buses(files, &directory)? {
            Some(buses) => Some(buses),
            None => config.buses(),
        },
        _ => None,
    };
    let mut facts = DeviceFacts::new(match buses {
        Some(_) => DeviceKind::PciBridge,
        None => DeviceKind::Pci,
    });
    facts.pci = Some(pci);
    // A bridge to no bus, or to buses below its own, is not configured.
    let buses = buses.filter(|buses| !buses.is_empty() && *buses.start() > address.bus);
    facts.behind = buses.map(|buses| BridgeBuses {
        domain: address.domain,
        buses,
    });
    Ok(facts)
}

/// The buses behind a bridge, from the files of kernels since 4.13.
fn buses(
    files: &Reader<'_, impl Files>,
    directory: &str,
) -> Result<Option<RangeInclusive<u8>>, SyntaxError> {
    let bus = |name| -> Result<Option<u8>, SyntaxError> {
        let bus = files.number(&format!("{directory}/{name}"))?;
        Ok(bus.and_then(|bus| u8::try_from(bus).ok()))
    };
    let first = bus("secondary_bus_number")?;
    let both = first.zip(bus("subordinate_bus_number")?);
    Ok(both.map(|(first, last)| first..=last))
}

/// The generation and width of a link, from the files of kernels since 4.13.
fn current_link(
    files: &Reader<'_, impl Files>,
    directory: &str,
) -> Result<Option<(u8, u8)>, SyntaxError> {
    let Some(speed) = files.text(&format!("{directory}/current_link_speed")) else {
        return Ok(None);
    };
    let width = files.number(&format!("{directory}/current_link_width"))?;
    let width = width.and_then(|width| u8::try_from(width).ok());
    Ok(Some((config::generation(&speed), width.unwrap_or(0))))
}

impl Functions {
    /// The index of the last of these addresses that is a known function.
    pub(super) fn last_of(&self, addresses: &[PciAddress]) -> Option<usize> {
        let address = |facts: &DeviceFacts| facts.pci.unwrap_or_default().address;
        let place = |wanted| self.0.binary_search_by_key(wanted, address).ok();
        addresses.iter().rev().find_map(place)
    }

    /// Builds the trees of bridges and functions; `below` gives the devices of the function with each index.
    pub(super) fn into_roots(
        self,
        files: &Reader<'_, impl Files>,
        mut below: BTreeMap<usize, Vec<DeviceTree>>,
    ) -> Result<Vec<Root>, SyntaxError> {
        let parents = self.parents();
        let mut nodes: Vec<DeviceTree> = self.0.into_iter().map(DeviceTree::leaf).collect();
        // A bus behind a bridge has a larger number than the bridge's own, so bridges are before the devices
        // behind them.
        let mut roots: Vec<DeviceTree> = Vec::new();
        while let Some(mut node) = nodes.pop() {
            let mut children = below.remove(&nodes.len()).unwrap_or_default();
            children.extend(node.children.drain(..).rev());
            node.children = children;
            match parents[nodes.len()] {
                Some(parent) => nodes[parent].children.push(node),
                None => roots.push(node),
            }
        }
        roots.reverse();
        host_bridges(files, roots)
    }

    /// For each function, the index of the nearest bridge whose buses contain the function's bus.
    fn parents(&self) -> Vec<Option<usize>> {
        let bus = |facts: &DeviceFacts| {
            let address = facts.pci.unwrap_or_default().address;
            (address.domain, address.bus)
        };
        let mut leads: BTreeMap<(u32, u8), Option<(u8, usize)>> =
            self.0.iter().map(|facts| (bus(facts), None)).collect();
        for (place, facts) in self.0.iter().enumerate() {
            let Some(BridgeBuses { domain, buses }) = &facts.behind else {
                continue;
            };
            let (first, last) = (*buses.start(), *buses.end());
            for (_, nearest) in leads.range_mut((*domain, first)..=(*domain, last)) {
                if nearest.is_none_or(|(other, _)| other < first) {
                    *nearest = Some((first, place));
                }
            }
        }
        let nearest = |facts| leads.get(&bus(facts)).copied().flatten();
        let places = self.0.iter().map(nearest);
        places
            .map(|nearest| nearest.map(|(_, place)| place))
            .collect()
    }
}

/// Makes a host bridge for each bus that no bridge leads to.
fn host_bridges(
    files: &Reader<'_, impl Files>,
    devices: Vec<DeviceTree>,
) -> Result<Vec<Root>, SyntaxError> {
    let mut roots: Vec<Root> = Vec::new();
    for device in devices {
        let address = device.facts.pci.unwrap_or_default().address;
        let last = device
            .facts
            .behind
            .as_ref()
            .map(|behind| *behind.buses.end());
        let last = last.unwrap_or(address.bus);
        let is_same = |root: &&mut Root| {
            let behind = root.device.facts.behind.as_ref();
            behind.is_some_and(|behind| {
                behind.domain == address.domain && *behind.buses.start() == address.bus
            })
        };
        if let Some(root) = roots.last_mut().filter(is_same) {
            if let Some(behind) = &mut root.device.facts.behind {
                behind.buses = address.bus..=last.max(*behind.buses.end());
            }
            root.device.children.push(device);
            continue;
        }
        let mut bridge = DeviceTree::leaf(DeviceFacts::new(DeviceKind::HostBridge));
        bridge.facts.behind = Some(BridgeBuses {
            domain: address.domain,
            buses: address.bus..=last,
        });
        bridge.children.push(device);
        let cpus = files.mask(&format!("{DEVICES}/{address}/local_cpus"))?;
        let cpus = cpus.filter(|cpus| !cpus.is_empty());
        let node = match cpus {
            Some(_) => None,
            None => files.number(&format!("{DEVICES}/{address}/numa_node"))?,
        };
        roots.push(Root {
            device: bridge,
            cpus,
            node,
        });
    }
    Ok(roots)
}
