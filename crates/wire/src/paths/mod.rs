//! Selection of one of four paths for a message by its size: costs, switch points, and the table of paths.
//!
//! A transport gives the reach and the costs of each path ([`Limits`]). With the settings ([`PathOverrides`])
//! they make a [`PathTable`] for each peer, when an endpoint is set up. A message is compared with the
//! table's [`SwitchPoints`] only; `oxmpi explain` prints the table.
//!
//! The names E0, E1, R0 and R1 are those of Cray's MPI ("A Day in the Life of an MPI Inter-Node
//! Message", in Poxon, "MPI for Cray XE/XK7 Systems", 2013).

mod cost;
mod limits;
pub mod network;
mod overrides;
pub mod settings;
mod table;

use core::fmt;

pub use self::cost::{Cost, PathCosts};
pub use self::limits::Limits;
pub use self::overrides::{PathOverrides, RendezvousScheme};
pub use self::settings::SETTINGS;
pub use self::table::{PathEnd, PathRow, PathTable, SwitchPoints};

/// The path of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Path {
    /// Eager, in one cache line or mailbox of the transport.
    E0,
    /// Eager, as one frame through buffers.
    E1,
    /// Rendezvous: the receiver gets the bytes in one piece.
    R0,
    /// Rendezvous: the sender puts the bytes in chunks, several under way at once.
    R1,
}

impl Path {
    /// Every path, in the order of sizes.
    pub const ALL: [Self; 4] = [Self::E0, Self::E1, Self::R0, Self::R1];

    /// A description in a few words.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::E0 => "eager, in one line or mailbox",
            Self::E1 => "eager, through buffers",
            Self::R0 => "rendezvous, the receiver gets",
            Self::R1 => "rendezvous, the sender puts chunks",
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::E0 => "E0",
            Self::E1 => "E1",
            Self::R0 => "R0",
            Self::R1 => "R1",
        })
    }
}
