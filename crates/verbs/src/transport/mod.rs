//! The transport: frames by send and receive, gets and puts by RDMA, over one reliable connection to each peer.
//!
//! | path | how |
//! |---|---|
//! | E0 | a send inline, as far as the device grants; the rest as E1 |
//! | E1 | a send from a registered buffer into one that the peer has posted, while there are credits |
//! | R0 | an RDMA read of the peer's memory |
//! | R1 | an RDMA write to it |
//!
//! Atomics are frames that the owner of the word answers: a device's own are not atomic with those of processors.
//!
//! A device breaks a connection over a wrong key, so a rank checks each access by the key before it posts it, and a
//! region that is released is named to the peers that have its key.
//!
//! One completion queue serves all connections. A connection completes requests in the order in which they were
//! posted, so a queue beside it says what each was.

mod buffers;
mod control;
mod credits;
mod endpoint;
mod frame_head;
mod receive_queues;
mod region_key;
mod request_id;
mod rx;
#[cfg(test)]
mod tests;
mod tx;

pub(crate) use endpoint::PairConnector;
pub use endpoint::{PairAddress, VerbsEndpoint, VerbsOptions, VerbsTransportError};
pub use receive_queues::{PerPeerQueue, ReceiveQueue, ReceiveQueueError, SharedQueue};
pub use rx::VerbsRx;
pub use tx::{VerbsSlot, VerbsTx};

/// Operations of a rank in flight, and reads and writes posted to one connection.
const OPERATIONS: usize = 64;
