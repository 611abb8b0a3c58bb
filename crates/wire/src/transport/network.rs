//! What an endpoint asks of a network, a transport to ranks of other nodes, beside frames and bulk transfer.
//!
//! A network connects two ranks when one of them first sends to the other, or [asks](Network::connect) for it.
//! It knows a peer's addresses from its business card (PMI's term): text that the endpoint carries from one rank
//! to the others without reading it.
//!
//! A network does not sleep. The endpoint sleeps, on the wait objects of all its transports at once: sockets,
//! a doorbell, completion channels. [`WaitObjects`] names those of one transport.

use alloc::string::String;
use core::fmt::Display;
use core::time::Duration;

use super::{Peer, Rma, Sleeper, Tx};

/// The sending half of a network.
pub trait Network: Tx + Rma {
    /// Says what is wrong with a business card.
    type CardError: Display;

    /// Tells the network where `peers` can be reached: `card` is the business card of a rank of their node. With a
    /// peer comes its own port, unless the card is the peer's. What was said first about a peer stays.
    ///
    /// # Errors
    /// When `card` is malformed. Then no peer is introduced.
    fn introduce(
        &mut self,
        card: &str,
        peers: &[(Peer, Option<u16>)],
    ) -> Result<(), Self::CardError>;

    /// Starts to connect to `peer`; later polls complete it. Does nothing if there is a connection.
    fn connect(&mut self, peer: Peer);

    /// As [`Network::connect`], to learn of the death of a peer for whose messages this rank waits.
    fn watch(&mut self, peer: Peer) {
        self.connect(peer);
    }

    /// Whether `peer` is connected.
    fn is_connected(&self, peer: Peer) -> bool;

    /// The name of the host of `peer`, for messages.
    fn host(&self, peer: Peer) -> &str;

    /// How this rank and `peer` can connect, as the end of an error: the addresses that are tried, or those where
    /// this rank waits for the peer if it was not introduced.
    fn routes(&self, peer: Peer) -> String;

    /// Whether the next poll has work that no arrival announces: a peer to connect to, a completion or a loss to
    /// report. Do not sleep before that poll.
    fn has_local_work(&self) -> bool;

    /// Whether something that was sent has not left this process.
    fn has_unsent(&self) -> bool;

    /// Closes every connection at once, as the kernel does for a killed process: for a job that has failed. The
    /// peers see [`Fault::PeerDead`](crate::Fault::PeerDead). A network that is dropped leaves in order instead.
    fn abort(self);
}

/// A receiving half whose arrivals the system announces on wait objects (libfabric's term).
pub trait WaitObjects: Sleeper {
    /// What a thread can wait for beside others of its kind: a file descriptor.
    type WaitObject<'a>
    where
        Self: 'a;

    /// Gives each wait object to `watch`. After [`Sleeper::arm`] has returned true, one of them becomes readable
    /// when a poll may find something. Another sleep may have other ones.
    fn watch<'a>(&'a self, watch: &mut dyn FnMut(Self::WaitObject<'a>));

    /// The longest sleep after which nothing that depends on time is late: connection attempts, liveness of hosts.
    fn longest_sleep(&self) -> Duration;
}
