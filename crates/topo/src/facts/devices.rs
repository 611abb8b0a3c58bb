//! The data of devices as a machine stores them: kind, PCI address, buses behind a bridge. `device` has the
//! views.

use super::{Info, ObjectId};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::RangeInclusive;

/// The kind of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DeviceKind {
    /// A bridge from the processors to a PCI domain.
    HostBridge,
    /// A bridge from one PCI bus to others.
    PciBridge,
    /// A function on a PCI bus.
    Pci,
    /// A disk or other block device.
    Storage,
    /// A graphics processor as a display.
    Gpu,
    /// A network interface.
    Network,
    /// An RDMA device: InfiniBand, RoCE, iWARP, Omni-Path.
    Rdma,
    /// An accelerator: a GPU as CUDA, OpenCL and others name it, and others.
    CoProcessor,
    /// An engine that copies memory.
    Dma,
    /// Memory behind a bus that is not a NUMA node: CXL devices, DAX.
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

    /// Whether the kind is a device of the operating system, with a [name](crate::Device::name) such as `eth0`:
    /// neither a bridge nor a PCI function.
    pub fn is_of_system(self) -> bool {
        !matches!(self, Self::HostBridge | Self::PciBridge | Self::Pci)
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The address of a function on the PCI buses of a machine.
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
    /// Parses an address in the form in which it is displayed; `None` for other texts.
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

/// Written as Linux does: `0000:3b:00.1`.
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

/// The identification and the link of a PCI function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pci {
    /// The address on the PCI buses.
    pub address: PciAddress,
    /// Class and subclass: 0x0200 is Ethernet, 0x0207 InfiniBand, 0x0302 a 3D controller.
    pub class: u16,
    /// The vendor's PCI number.
    pub vendor: u16,
    /// The device's number, from the vendor.
    pub device: u16,
    /// The PCI number of the card's vendor.
    pub subvendor: u16,
    /// The card's number, from its vendor.
    pub subdevice: u16,
    /// The revision.
    pub revision: u8,
    /// The programming interface of its class.
    pub interface: u8,
    /// The bandwidth of the link in bytes per second, without headers and coding; 0 if unknown.
    pub link_speed: u64,
}

/// The PCI domain and buses behind a bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BridgeBuses {
    /// The PCI domain.
    pub domain: u32,
    /// The buses, from the one directly behind the bridge to the last.
    pub buses: RangeInclusive<u8>,
}

/// The data of one device, as sources report them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeviceFacts {
    pub(crate) kind: DeviceKind,
    pub(crate) name: Option<String>,
    pub(crate) subtype: Option<String>,
    pub(crate) pci: Option<Pci>,
    pub(crate) behind: Option<BridgeBuses>,
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

/// A device in the arena: its facts and its links to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeviceEntry {
    pub(crate) facts: DeviceFacts,
    pub(crate) near: ObjectId,
    pub(crate) parent: Option<DeviceId>,
    pub(crate) children: Vec<DeviceId>,
}

/// The number of a device in its machine: its index in depth-first order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(pub(crate) u32);
