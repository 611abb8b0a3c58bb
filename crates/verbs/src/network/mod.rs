//! The network: the transport with its connections made on first use, beside a network that reaches every peer.
//!
//! That other one, the control network (TCP in a job), joins the ranks, carries the addresses of queue pairs, and notices
//! the death of a peer that this rank only waits for. It also carries the messages of peers that have no RDMA network
//! in common with this rank.
//!
//! ```text
//!  the first message to a peer   Offer{queue pair}          ->
//!                                <- Offer{queue pair, ready}    can receive
//!                                Ready                      ->  both can send
//! ```
//!
//! ```text
//!  the same by rdmacm            Offer{queue pair, listener} ->
//!                                <- requests, one for each queue pair; accepted
//!                                <- Ready                      both can send
//! ```
//!
//! ```text
//!  with queues of kind X         Ask{where it is}          ->
//!                                <- Offer{queue pairs, maybe those for another rank of this node}
//!                                Offer{the same, ready}    ->  can receive
//!                                <- Ready                      both can send
//! ```
//!
//! Both may offer at once; then each answers the other's offer with `Ready`; by rdmacm the one with the smaller key
//! connects. A rank that cannot offer, or connect what was offered, sends `Refuse`, which the other one answers with the
//! same: messages take the control network then, behind that notice. What was refused before is sent when the peer is
//! ready. A peer whose control connection ends is lost when all that it has sent before has been received.

mod connection;
mod fabric;
mod memory;
mod no_rdma_port;
mod notices;
mod rail_address;
mod rdma_port;
mod rdmacm;
mod reached_port;
mod rx;
mod slot;
#[cfg(test)]
mod tests;
mod tx;

pub use fabric::Fabric;
pub use memory::VerbsNetworkRegion;
pub use no_rdma_port::NoRdmaPort;
pub use rdma_port::RdmaPort;
pub use rx::VerbsNetworkRx;
pub use slot::VerbsNetworkSlot;
pub use tx::VerbsNetworkTx;
