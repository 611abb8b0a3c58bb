//! The facts of devices: what kind, where on the PCI buses, behind which bridge.

use super::{Info, ObjectId};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::RangeInclusive;

/// What a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DeviceKind {
    /// From the processors to a PCI domain.
    HostBridge,
    /// From one PCI bus to others.
    PciBridge,
    /// A function on a PCI bus.
    Pci,
    /// Disks and what else holds blocks.
    Storage,
    /// A graphics processor as a display.
    Gpu,
    /// A network interface.
    Network,
    /// An RDMA device: InfiniBand, RoCE, iWARP, Omni-Path.
    Rdma,
    /// What computes: a GPU as CUDA, OpenCL and others name it, and other accelerators.
    CoProcessor,
    /// An engine that copies memory.
    Dma,
    /// Memory behind a bus that is no NUMA node: CXL devices, DAX.
    Memory,
}

impl DeviceKind {
    const NAMES: [(Self, &'static str); 10] = [
        (Self::HostBridge, "HostBridge"),
        (Self::PciBridge, "PCIBridge"),
        (Self::Pci, "PCI"),
        (Self::Storage, "Block"),
        (Self::Gpu, "GPU"),
        (Self::Network, "Net"),
        (Self::Rdma, "OpenFabrics"),
        (Self::CoProcessor, "CoProc"),
        (Self::Dma, "DMA"),
        (Self::Memory, "Memory"),
    ];

    /// Every kind.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::NAMES.iter().map(|(kind, _)| *kind)
    }

    /// The name that lstopo shows, such as `PCIBridge`, `Net` or `OpenFabrics`.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    /// Whether it is a device of the operating system, with a [name](Device::name) such as `eth0`: neither a bridge nor
    /// a PCI function.
    pub fn is_of_system(self) -> bool {
        !matches!(self, Self::HostBridge | Self::PciBridge | Self::Pci)
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The place of a function on the PCI buses of a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PciAddress {
    /// The domain, also called segment; 0 on small machines.
    pub domain: u32,
    /// The bus in the domain.
    pub bus: u8,
    /// The device on the bus, below 32.
    pub device: u8,
    /// The function of the device, below 8.
    pub function: u8,
}

impl PciAddress {
    /// The address that a text is, in the form in which it is displayed; `None` if it is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (rest, function) = text.rsplit_once('.')?;
        let mut parts = rest.splitn(3, ':');
        let mut number = |largest: u32| {
            let digits = parts.next()?;
            let is_plain = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            let number = u32::from_str_radix(digits, 16).ok();
            number.filter(|number| is_plain && *number <= largest)
        };
        Some(Self {
            domain: number(u32::MAX)?,
            bus: number(0xff)? as u8,
            device: number(0x1f)? as u8,
            function: function.parse().ok().filter(|function| *function < 8)?,
        })
    }
}

/// As Linux writes it: `0000:3b:00.1`.
impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            domain,
            bus,
            device,
            function,
        } = self;
        write!(f, "{domain:04x}:{bus:02x}:{device:02x}.{function:01x}")
    }
}

/// What a PCI function says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pci {
    /// Where it is.
    pub address: PciAddress,
    /// Class and subclass: 0x0200 is Ethernet, 0x0207 InfiniBand, 0x0302 a 3D controller.
    pub class: u16,
    /// Who made it, as a PCI number.
    pub vendor: u16,
    /// What it is, in the vendor's numbers.
    pub device: u16,
    /// Who made the card.
    pub subvendor: u16,
    /// What the card is.
    pub subdevice: u16,
    /// Its revision.
    pub revision: u8,
    /// The programming interface of its class.
    pub interface: u8,
    /// Bytes per second over its link, headers and coding taken off; 0 if the source does not say.
    pub link_speed: u64,
}

/// What is behind a bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behind {
    /// The PCI domain.
    pub domain: u32,
    /// Its buses from the one directly behind the bridge to the last.
    pub buses: RangeInclusive<u8>,
}

/// The facts of one device, as sources give them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeviceFacts {
    pub(crate) kind: DeviceKind,
    pub(crate) name: Option<String>,
    pub(crate) subtype: Option<String>,
    pub(crate) pci: Option<Pci>,
    pub(crate) behind: Option<Behind>,
    pub(crate) infos: Vec<Info>,
}

impl DeviceFacts {
    pub(crate) fn new(kind: DeviceKind) -> Self {
        Self {
            kind,
            name: None,
            subtype: None,
            pci: None,
            behind: None,
            infos: Vec::new(),
        }
    }
}

/// The place of one device in the arena.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeviceEntry {
    pub(crate) facts: DeviceFacts,
    pub(crate) near: ObjectId,
    pub(crate) parent: Option<DeviceId>,
    pub(crate) children: Vec<DeviceId>,
}

/// The number of a device in its machine: its place in depth-first order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(pub(crate) u32);
