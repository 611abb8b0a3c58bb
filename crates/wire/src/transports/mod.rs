//! Selection of the transports and devices that a rank uses, from two settings and the devices of the host.
//!
//! [`TransportList`] parses the text of a setting. `names` maps names of transports, also those of Open MPI,
//! UCX and libfabric. [`select`] decides, and gives for each transport and device a [`Verdict`] with the
//! reason. It opens nothing: if a selected transport cannot be opened, [`Selection::failed`] turns to the
//! next one.

#[cfg(feature = "alloc")]
mod device;
#[cfg(feature = "alloc")]
mod device_list;
mod list;
#[cfg(feature = "alloc")]
mod names;
#[cfg(feature = "alloc")]
mod select;
mod settings;
#[cfg(all(test, feature = "std"))]
mod tests;

#[cfg(feature = "alloc")]
pub use device::{Device, DeviceKind, Verdict};
pub use list::{ListedName, TransportList, TransportPreference};
#[cfg(feature = "alloc")]
pub use select::{Selection, select};
pub use settings::SETTINGS;

use core::fmt;

/// A transport of this library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Shared memory between the ranks of a node.
    Shared,
    /// RDMA over libibverbs, between nodes.
    Verbs,
    /// TCP, between nodes.
    Tcp,
}

impl Transport {
    /// All transports, the fastest first.
    pub const ALL: [Self; 3] = [Self::Shared, Self::Verbs, Self::Tcp];

    /// Its name in settings: `sm`, `verbs` or `tcp`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shared => "sm",
            Self::Verbs => "verbs",
            Self::Tcp => "tcp",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
