//! Devices: bridges, PCI functions, and what the operating system makes of them.
//!
//! Devices have no processors of their own. They form a forest beside the tree of objects: each root is attached to
//! the object whose processors are nearest to it, [`Device::near`], and what hangs behind a bridge or belongs to a PCI
//! function is inside that.

use crate::facts::Info;
use crate::facts::devices::DeviceEntry;
use crate::machine::Machine;
use crate::object::Object;
use core::fmt;

pub use crate::facts::devices::{Behind, DeviceId, DeviceKind, Pci, PciAddress};

/// One device of a [`Machine`]: a view that is copied freely.
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

    /// Its number in [`Machine::device`].
    pub fn id(self) -> DeviceId {
        self.id
    }

    /// What it is.
    pub fn kind(self) -> DeviceKind {
        self.entry().facts.kind
    }

    /// The operating system's name of it, such as `eth0`, `mlx5_0` or `card1`.
    pub fn name(self) -> Option<&'m str> {
        self.entry().facts.name.as_deref()
    }

    /// What it is more closely, in words of the source: `Disk`, `CUDA`, `NVMe`.
    pub fn subtype(self) -> Option<&'m str> {
        self.entry().facts.subtype.as_deref()
    }

    /// Of a PCI function or a bridge on a PCI bus, what it says of itself.
    pub fn pci(self) -> Option<Pci> {
        self.entry().facts.pci
    }

    /// Of a bridge, what is behind it.
    pub fn behind(self) -> Option<&'m Behind> {
        self.entry().facts.behind.as_ref()
    }

    /// What else the source says, in its order.
    pub fn infos(self) -> &'m [Info] {
        &self.entry().facts.infos
    }

    /// The object whose processors are nearest to it: the machine if all are equally near or the source does not say.
    pub fn near(self) -> Object<'m> {
        self.machine.object(self.entry().near)
    }

    /// The device it is behind or belongs to; `None` for one attached directly to [`near`](Self::near).
    pub fn parent(self) -> Option<Self> {
        self.entry().parent.map(|id| self.view(id))
    }

    /// The devices around it, from its parent outwards.
    pub fn ancestors(self) -> impl Iterator<Item = Self> {
        core::iter::successors(self.parent(), |device| device.parent())
    }

    /// The devices directly behind it or belonging to it.
    pub fn children(self) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        self.entry().children.iter().map(move |id| self.view(*id))
    }
}

/// The ways to find a device.
impl Machine {
    /// All devices in depth-first order, each before what is behind it.
    pub fn devices(&self) -> impl DoubleEndedIterator<Item = Device<'_>> + ExactSizeIterator {
        (0..self.devices.len() as u32).map(|id| Device {
            machine: self,
            id: DeviceId(id),
        })
    }

    /// The device of this number.
    ///
    /// # Panics
    ///
    /// If the number is of another machine, with more devices.
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
    /// The devices attached to it directly: bridges, and devices of the system that are on no bus. What is behind them
    /// is in [`Device::children`].
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

/// Kind, and the name or the address: `OpenFabrics mlx5_0`, `PCI 0000:3b:00.0`.
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
