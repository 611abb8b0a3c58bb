//! The transport, [`TcpTx`] and [`TcpRx`]: sockets and clocks around frames and handshakes.
//!
//! - Messages up to the longest frame are copied into the peer's [`SendBuffer`](crate::frame::SendBuffer)
//!   and leave with one system call for each [`Tx::flush`](oxmpi_wire::Tx::flush) (paths E0 and E1).
//! - Get (path R0) and put (path R1) are emulated by frames: an announcement, then bytes that the kernel
//!   copies from and to the user's memory, in chunks between which other frames pass. An atomic is a frame that the
//!   owner of the word answers.
//! - The first frame for a peer, or [`Network::connect`](oxmpi_wire::Network::connect), connects to it. Frames wait until then.
//!
//! Progress happens inside of calls only.

mod active_open;
mod bulk_trials;
mod connection_manager;
mod handshake_io;
mod listening_endpoint;
mod options;
mod passive_endpoint;
mod peer_cards;
mod receive_half;
mod rx;
mod send_half;
mod speculative_push;
mod transfer;
mod tx;
mod zero_copy;

pub use options::TcpOptions;
pub use passive_endpoint::PassiveEndpoint;
pub use rx::TcpRx;
pub use tx::TcpTx;

/// Operations on the memory of peers that one rank may have in flight.
const OPERATIONS: usize = 256;

/// What a descriptor in the epoll set belongs to. The kernel keeps it as a word of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventSource {
    /// The listening socket.
    Listener,
    /// A pending connection, by its number.
    Pending(u64),
    /// A socket on which this rank connects to a peer.
    Connecting(u32),
    /// The connection with a peer.
    Connection(u32),
}

impl EventSource {
    const SHIFT: u32 = 62;

    fn word(self) -> u64 {
        let (kind, number) = match self {
            Self::Listener => (0, 0),
            Self::Pending(number) => (1, number),
            Self::Connecting(peer) => (2, peer.into()),
            Self::Connection(peer) => (3, peer.into()),
        };
        kind << Self::SHIFT | number
    }

    fn from_word(word: u64) -> Self {
        let number = word & ((1 << Self::SHIFT) - 1);
        match word >> Self::SHIFT {
            0 => Self::Listener,
            1 => Self::Pending(number),
            2 => Self::Connecting(number as u32),
            _ => Self::Connection(number as u32),
        }
    }
}
