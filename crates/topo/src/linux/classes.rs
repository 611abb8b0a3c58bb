//! Reads devices of the operating system (network interfaces, disks, ...) from `/sys/class` and some of
//! `/sys/bus`.
//!
//! Their links name the PCI functions that they are part of. Virtual devices (`lo`, `docker0`, `loop0`) are
//! left out.

mod details;

use super::Files;
use super::read::Reader;
use super::tiers::DAX;
use crate::error::SyntaxError;
use crate::facts::devices::{DeviceFacts, DeviceKind, PciAddress};
use crate::machine::Machine;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use details::Details;

/// A class of devices: its directory, and how to read it.
struct Class<F> {
    directory: &'static str,
    kind: DeviceKind,
    /// Whether the entry with this name and path is a device to show.
    is_shown: fn(&Reader<'_, F>, &str, &str) -> bool,
    /// Adds the facts from the files under the path.
    tell: fn(&mut Details<'_, '_, F>) -> Result<(), SyntaxError>,
    /// The directory below the hardware's path in which the kernel names the NUMA node.
    hardware: &'static str,
}

/// A device with its position.
pub(super) struct Found {
    pub(super) facts: DeviceFacts,
    /// The PCI functions that it is behind, from the processors on; the device is part of the last.
    pub(super) behind: Vec<PciAddress>,
    pub(super) node: Option<u32>,
}

fn classes<F: Files>() -> [Class<F>; 10] {
    let class = |directory, kind| Class {
        directory,
        kind,
        is_shown: |_, _, _| true,
        tell: |_| Ok(()),
        hardware: "/device",
    };
    [
        Class {
            is_shown: |files, _, path| files.text(&format!("{path}/partition")).is_none(),
            tell: |device| device.block(),
            ..class("/sys/class/block", DeviceKind::Storage)
        },
        Class {
            // DAX memory that the kernel uses as its own is shown as NUMA nodes.
            is_shown: |files, name, _| {
                let kernels = format!("/sys/bus/dax/drivers/kmem/{name}");
                files.link(&kernels).is_none() && files.names(&kernels).is_empty()
            },
            tell: |device| device.dax(),
            hardware: "",
            ..class(DAX, DeviceKind::Memory)
        },
        Class {
            is_shown: |_, name, _| name.starts_with("mem"),
            tell: |device| device.cxl(),
            hardware: "",
            ..class("/sys/bus/cxl/devices", DeviceKind::Memory)
        },
        Class {
            tell: |device| device.network(),
            ..class("/sys/class/net", DeviceKind::Network)
        },
        Class {
            tell: |device| device.rdma(),
            ..class("/sys/class/infiniband", DeviceKind::Rdma)
        },
        Class {
            tell: |device| device.bxi(),
            ..class("/sys/class/bxi", DeviceKind::Rdma)
        },
        Class {
            tell: |device| device.cxi(),
            ..class("/sys/class/cxi", DeviceKind::Rdma)
        },
        Class {
            tell: |device| device.vector_engine(),
            ..class("/sys/class/ve", DeviceKind::CoProcessor)
        },
        Class {
            // Connectors of a card have no device file.
            is_shown: |files, _, path| files.text(&format!("{path}/dev")).is_some(),
            ..class("/sys/class/drm", DeviceKind::Gpu)
        },
        class("/sys/class/dma", DeviceKind::Dma),
    ]
}

/// Reads all devices, class by class, in the order of their names.
pub(super) fn read<F: Files>(files: &Reader<'_, F>) -> Result<Vec<Found>, SyntaxError> {
    let mut found = Vec::new();
    for class in classes() {
        for name in files.names(class.directory) {
            if found.len() < Machine::MOST_OBJECTS {
                found.extend(device(files, &class, name)?);
            }
        }
    }
    Ok(found)
}

fn device<F: Files>(
    files: &Reader<'_, F>,
    class: &Class<F>,
    name: String,
) -> Result<Option<Found>, SyntaxError> {
    let path = format!("{}/{name}", class.directory);
    // In kernels before 2.6.26 this is a directory with a link to the hardware below it.
    let link = files.link(&path);
    let link = link.or_else(|| files.link(&format!("{path}/device")));
    let Some(link) = link.filter(|link| !link.contains("/virtual/")) else {
        return Ok(None);
    };
    if !(class.is_shown)(files, &name, &path) {
        return Ok(None);
    }
    let mut facts = DeviceFacts::new(class.kind);
    (class.tell)(&mut Details {
        files,
        path: &path,
        facts: &mut facts,
    })?;
    facts.name = Some(name);
    let behind: Vec<PciAddress> = link.split('/').filter_map(PciAddress::parse).collect();
    let node = format!("{path}{}/numa_node", class.hardware);
    let node = match behind.is_empty() {
        true => files.number(&node)?,
        false => None,
    };
    Ok(Some(Found {
        facts,
        behind,
        node,
    }))
}
