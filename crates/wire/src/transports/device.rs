//! What a host has to send through.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::ListedName;

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// A network interface.
    Interface,
    /// The interface that leads to this host only.
    Loopback,
    /// A port of an adapter with verbs (InfiniBand, RoCE): its number, and the interfaces through which
    /// the system sends over it.
    Adapter {
        /// From 1.
        port: u8,
        /// Such as `ib0`.
        interfaces: Vec<String>,
    },
}

/// Something that messages can leave this host by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its name, such as `eth0` or `mlx5_0`.
    pub name: String,
    /// What it is.
    pub kind: DeviceKind,
    /// Whether it is up.
    pub up: bool,
    /// Megabits per second, where the system says so.
    pub speed: Option<u32>,
    /// Why other settings leave it out, such as lists of addresses.
    pub left_out: Option<String>,
}

/// A transport or a device, whether it is taken, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Its name.
    pub name: String,
    /// Whether it is taken.
    pub taken: bool,
    /// Why, in words.
    pub why: String,
}

impl Device {
    /// Whether `entry` means this device.
    pub(super) fn is(&self, entry: ListedName<'_>) -> bool {
        let port = match self.kind {
            DeviceKind::Adapter { port, .. } => Some(port),
            DeviceKind::Interface | DeviceKind::Loopback => None,
        };
        self.name == entry.name && (entry.port.is_none() || entry.port == port)
    }

    /// The interfaces that are this device or lead through it.
    pub(super) fn interfaces(&self) -> &[String] {
        match &self.kind {
            DeviceKind::Adapter { interfaces, .. } => interfaces,
            DeviceKind::Interface | DeviceKind::Loopback => core::slice::from_ref(&self.name),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            DeviceKind::Adapter { port, .. } => write!(f, "{}:{port}", self.name),
            DeviceKind::Interface | DeviceKind::Loopback => f.write_str(&self.name),
        }
    }
}
