//! The transport: [`TcpTx`] and [`TcpRx`], the thin shell around frames and greetings.
//!
//! - Messages up to the longest frame are copied into the peer's [`Outbox`](crate::frame::Outbox) and
//!   leave it by one system call for each [`Tx::flush`](oxmpi_wire::Tx::flush) (paths E0 and E1).
//! - Get (path R0) and put (path R1) are emulated by frames: an announcement, then bytes that go from
//!   the user's memory into the kernel and from the kernel into the user's memory, in chunks between
//!   which other frames pass.
//! - A peer is connected to when it is first sent to, or before ([`TcpTx::connect`]). Frames wait with
//!   the peer until there is a connection.
//!
//! Progress happens inside of calls only, like everywhere in the runtime.

mod bulk;
mod bulk_trials;
mod call;
mod entrance;
mod incoming;
mod operations;
mod outgoing;
mod passing;
mod runs;
mod rx;
mod site;
mod talk;
mod transfer;
mod tx;

pub use rx::TcpRx;
pub use site::{Options, Site};
pub use tx::TcpTx;

/// Operations that one rank may have under way.
const OPERATIONS: usize = 256;

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    /// Somebody connects.
    Listener,
    /// What ends a nap, and nothing else.
    Alarm,
    /// A caller that is not let in yet, by its number.
    Guest(u64),
    /// This rank's own call of a peer.
    Call(u32),
    /// The connection with a peer.
    Link(u32),
}

impl Key {
    const SHIFT: u32 = 62;

    fn word(self) -> u64 {
        let (kind, number) = match self {
            Self::Listener => (0, 0),
            Self::Alarm => (0, 1),
            Self::Guest(number) => (1, number),
            Self::Call(peer) => (2, peer.into()),
            Self::Link(peer) => (3, peer.into()),
        };
        kind << Self::SHIFT | number
    }

    fn of_word(word: u64) -> Self {
        let number = word & ((1 << Self::SHIFT) - 1);
        match word >> Self::SHIFT {
            0 if number == 0 => Self::Listener,
            0 => Self::Alarm,
            1 => Self::Guest(number),
            2 => Self::Call(number as u32),
            _ => Self::Link(number as u32),
        }
    }
}
