//! Which transports a rank uses: what was asked for, held against what the host has.
//!
//! The flow goes one way: [`TransportList`] reads the text of a setting; `names` says what a word means, in our
//! terms and in those of others; [`select`] decides, and says of each transport and device why it was
//! taken or not. Nothing is opened here: who opens what was taken and fails has [`Selection::failed`].

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

/// A way for messages to take that this library has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Memory that the ranks of a node share.
    Shared,
    /// TCP, between nodes.
    Tcp,
}

impl Transport {
    /// All, the fastest first.
    pub const ALL: [Self; 2] = [Self::Shared, Self::Tcp];

    /// Its name in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shared => "sm",
            Self::Tcp => "tcp",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
