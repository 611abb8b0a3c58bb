//! The JSON of devices.

use super::{InfoJson, Shown, infos};
use crate::device::Device;
use crate::facts::devices::{Pci, PciAddress};
use alloc::vec::Vec;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct DeviceJson<'m> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'m str>,
    /// Id of the object that the device is attached to.
    near: u32,
    /// Id of the device that it is attached to.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subtype: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pci: Option<PciJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    buses: Option<BusesJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    infos: Vec<InfoJson<'m>>,
}

#[derive(Serialize)]
struct PciJson {
    address: Shown<PciAddress>,
    class: u16,
    class_name: &'static str,
    vendor: u16,
    device: u16,
    subvendor: u16,
    subdevice: u16,
    revision: u8,
    interface: u8,
    /// Bytes per second.
    link_speed: u64,
}

#[derive(Serialize)]
struct BusesJson {
    domain: u32,
    first: u8,
    last: u8,
}

impl<'m> DeviceJson<'m> {
    pub(super) fn of(device: Device<'m>) -> Self {
        Self {
            kind: device.kind().name(),
            name: device.name(),
            near: device.near().id().0,
            parent: device.parent().map(|parent| parent.id().0),
            subtype: device.subtype(),
            pci: device.pci().map(PciJson::of),
            buses: device.behind().map(|behind| BusesJson {
                domain: behind.domain,
                first: *behind.buses.start(),
                last: *behind.buses.end(),
            }),
            infos: infos(device.infos()),
        }
    }
}

impl PciJson {
    fn of(pci: Pci) -> Self {
        Self {
            address: Shown(pci.address),
            class: pci.class,
            class_name: pci.class_name(),
            vendor: pci.vendor,
            device: pci.device,
            subvendor: pci.subvendor,
            subdevice: pci.subdevice,
            revision: pci.revision,
            interface: pci.interface,
            link_speed: pci.link_speed,
        }
    }
}
