//! The devices of a host that messages can use ([`Device`]), and the outcome of their selection
//! ([`Verdict`]).

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::ListedName;

/// The kind of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// A network interface.
    Interface,
    /// The loopback interface.
    Loopback,
    /// A port of a verbs adapter (InfiniBand, RoCE).
    Adapter {
        /// The number of the port, from 1.
        port: u8,
        /// The network interfaces of the port, such as `ib0`.
        interfaces: Vec<String>,
    },
}

/// A network interface or a port of an adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its name, such as `eth0` or `mlx5_0`.
    pub name: String,
    /// Its kind.
    pub kind: DeviceKind,
    /// Whether it is up.
    pub up: bool,
    /// Speed in Mbit/s, where the system reports it.
    pub speed: Option<u32>,
    /// Why another setting excludes it, such as a list of addresses; `None` if none does.
    pub left_out: Option<String>,
}

/// Whether a transport or a device is used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Its name.
    pub name: String,
    /// Whether it is used.
    pub taken: bool,
    /// The reason, as a clause for people.
    pub why: String,
}

impl Device {
    /// Whether `entry` names this device.
    pub(super) fn is(&self, entry: ListedName<'_>) -> bool {
        let port = match self.kind {
            DeviceKind::Adapter { port, .. } => Some(port),
            DeviceKind::Interface | DeviceKind::Loopback => None,
        };
        self.name == entry.name && (entry.port.is_none() || entry.port == port)
    }

    /// Whether it is a port of an adapter.
    pub(super) const fn is_adapter(&self) -> bool {
        matches!(self.kind, DeviceKind::Adapter { .. })
    }

    /// The network interfaces of this device: itself, or those of the adapter's port.
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
