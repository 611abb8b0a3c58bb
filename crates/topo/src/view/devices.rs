//! Removes unimportant devices from a view.

use crate::facts::devices::{DeviceKind, Pci};
use crate::tree::{DeviceTree, Tree};
use alloc::vec::Vec;

/// The base class of bridges between buses.
const BRIDGE: u16 = 0x06;

impl Tree {
    /// Removes all devices.
    pub(super) fn drop_devices(&mut self) {
        self.devices.clear();
        let inside = self.memory.iter_mut().chain(&mut self.children);
        inside.for_each(Self::drop_devices);
    }

    /// Removes the devices that lstopo leaves out by default, see
    /// [`Devices::Important`](super::Devices::Important).
    pub(super) fn keep_important_devices(&mut self) {
        keep_important(&mut self.devices);
        let inside = self.memory.iter_mut().chain(&mut self.children);
        inside.for_each(Self::keep_important_devices);
    }

    /// Sorts devices: those on PCI buses in the order of the buses, before the others.
    pub(super) fn sort_devices(&mut self) {
        self.devices.sort_by_key(|device| {
            let behind = device.facts.behind.as_ref();
            let bus = behind.map(|behind| (behind.domain, *behind.buses.start()));
            let address = device.facts.pci.map(|pci| pci.address);
            let own = address.map(|address| (address.domain, address.bus));
            let place = own.or(bus);
            (place.is_none(), place, address)
        });
    }
}

fn keep_important(devices: &mut Vec<DeviceTree>) {
    let mut kept = Vec::new();
    for mut device in core::mem::take(devices) {
        keep_important(&mut device.children);
        match is_important(&device) {
            true => kept.push(device),
            false => kept.append(&mut device.children),
        }
    }
    *devices = kept;
}

fn is_important(device: &DeviceTree) -> bool {
    let is_used = !device.children.is_empty();
    match (device.facts.kind, device.facts.pci) {
        (DeviceKind::HostBridge | DeviceKind::PciBridge, _) => is_used,
        (DeviceKind::Pci, Some(pci)) if pci.class >> 8 == BRIDGE => is_used || is_switch(device),
        (DeviceKind::Pci, Some(pci)) => is_important_class(pci),
        (kind, _) => kind != DeviceKind::Dma,
    }
}

/// Whether the device is a switch between GPUs: nothing is behind it, but bandwidth matrices have it.
fn is_switch(device: &DeviceTree) -> bool {
    device.facts.subtype.as_deref() == Some("NVSwitch")
}

/// Whether lstopo shows functions of this class. Source: classes at pci-ids.ucw.cz; hwloc 2.9, "keep
/// important".
fn is_important_class(pci: Pci) -> bool {
    let (fibre_channel, infiniband, cxl_memory) = (0x0c04, 0x0c06, 0x0502);
    let (unclassified, storage, network, display) = (0x00, 0x01, 0x02, 0x03);
    let (processor, accelerator) = (0x0b, 0x12);
    [fibre_channel, infiniband, cxl_memory].contains(&pci.class)
        || [
            unclassified,
            storage,
            network,
            display,
            processor,
            accelerator,
        ]
        .contains(&(pci.class >> 8))
}
