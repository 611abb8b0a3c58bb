//! Which path a message takes, by its size: four paths, their costs, and the sizes at which one
//! gives way to the next.
//!
//! A transport says how far each path reaches and what it costs ([`Limits`](crate::Limits)). From
//! that and from what somebody has set ([`PathOverrides`]) follows a [`PathTable`], once for each kind of
//! peer, when a lane is set up. What remains on the path of a message are compares with the
//! table's [`SwitchPoints`]; the same table is printed by `oxmpi explain`.
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

/// How a message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Path {
    /// Eager, in the transport's own line or mailbox.
    E0,
    /// Eager, as one frame through buffers.
    E1,
    /// RendezvousScheme: the receiver gets the bytes in one piece.
    R0,
    /// RendezvousScheme: the sender puts the bytes in chunks, several under way at once.
    R1,
}

impl Path {
    /// Every path, in the order of the sizes that they are for.
    pub const ALL: [Self; 4] = [Self::E0, Self::E1, Self::R0, Self::R1];

    /// What it does, in a few words.
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
