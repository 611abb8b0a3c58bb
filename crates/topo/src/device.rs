//! [`Device`]: a view of one I/O device of a machine, a bridge, a PCI function or a device of the operating
//! system.
//!
//! Devices have no processors of their own. They form a forest beside the tree of objects: each root is
//! attached to the object with the nearest processors, [`Device::near`]. Devices behind a bridge or of a PCI
//! function are its children.

use crate::facts::Info;
use crate::facts::devices::DeviceEntry;
use crate::machine::Machine;
use crate::object::Object;
use core::fmt;

pub use crate::facts::devices::{BridgeBuses, DeviceId, DeviceKind, Pci, PciAddress};

/// A view of one device of a [`Machine`]; cheap to copy.
#[derive(Clone, Copy)]
pub struct Device<'m> {
    pub(crate) machine: &'m Machine,
    pub(crate) id: DeviceId,
}

impl<'m> Device<'m> {
    fn entry(self) -> &'m DeviceEntry {
        &self.machine.devices[self.id.0 as usize]
    }

    fn view(self, id: DeviceId) -> Self {
        Self {
            machine: self.machine,
            id,
        }
    }

    /// The device's number in [`Machine::device`].
    pub fn id(self) -> DeviceId {
        self.id
    }

    /// The device's kind.
    pub fn kind(self) -> DeviceKind {
        self.entry().facts.kind
    }

    /// The operating system's name of the device, such as `eth0`, `mlx5_0` or `card1`.
    pub fn name(self) -> Option<&'m str> {
        self.entry().facts.name.as_deref()
    }

    /// The subtype, in words of the source: `Disk`, `CUDA`, `NVMe`.
    pub fn subtype(self) -> Option<&'m str> {
        self.entry().facts.subtype.as_deref()
    }

    /// The PCI address, ids and link, of a PCI function or a bridge on a PCI bus.
    pub fn pci(self) -> Option<Pci> {
        self.entry().facts.pci
    }

    /// The domain and buses behind a bridge.
    pub fn behind(self) -> Option<&'m BridgeBuses> {
        self.entry().facts.behind.as_ref()
    }

    /// Further name-value pairs from the source, in its order.
    pub fn infos(self) -> &'m [Info] {
        &self.entry().facts.infos
    }

    /// The object with the nearest processors: the machine if all are equally near or the source has no
    /// information.
    pub fn near(self) -> Object<'m> {
        self.machine.object(self.entry().near)
    }

    /// The bridge or PCI function that the device is behind or part of; `None` for a root, attached to
    /// [`near`](Self::near).
    pub fn parent(self) -> Option<Self> {
        self.entry().parent.map(|id| self.view(id))
    }

    /// The devices that contain it, from its parent outwards.
    pub fn ancestors(self) -> impl Iterator<Item = Self> {
        core::iter::successors(self.parent(), |device| device.parent())
    }

    /// The devices directly behind it or part of it.
    pub fn children(self) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        self.entry().children.iter().map(move |id| self.view(*id))
    }
}

/// Lookup of devices.
impl Machine {
    /// All devices in depth-first order, each before its children.
    pub fn devices(&self) -> impl DoubleEndedIterator<Item = Device<'_>> + ExactSizeIterator {
        (0..self.devices.len() as u32).map(|id| Device {
            machine: self,
            id: DeviceId(id),
        })
    }

    /// The device with this number.
    ///
    /// # Panics
    ///
    /// If the number is from another machine, with more devices.
    pub fn device(&self, id: DeviceId) -> Device<'_> {
        assert!(
            (id.0 as usize) < self.devices.len(),
            "device {} of a machine with {}",
            id.0,
            self.devices.len()
        );
        Device { machine: self, id }
    }
}

impl<'m> Object<'m> {
    /// The roots of devices attached to the object directly: bridges, and devices of the system on no bus.
    /// [`Device::children`] has the rest.
    pub fn devices(self) -> impl DoubleEndedIterator<Item = Device<'m>> + ExactSizeIterator {
        let machine = self.machine;
        let device = move |id: &DeviceId| Device { machine, id: *id };
        self.entry().devices.iter().map(device)
    }
}

impl PartialEq for Device<'_> {
    /// Whether both are the same device of the same machine (the same value, not an equal copy).
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.machine, other.machine) && self.id == other.id
    }
}

impl Eq for Device<'_> {}

/// The kind with the name or the address: `OpenFabrics mlx5_0`, `PCI 0000:3b:00.0`.
impl fmt::Display for Device<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind())?;
        match (self.name(), self.pci()) {
            (Some(name), _) => write!(f, " {name}"),
            (None, Some(pci)) => write!(f, " {}", pci.address),
            (None, None) => Ok(()),
        }
    }
}

impl fmt::Debug for Device<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} near {}", self.near())
    }
}
