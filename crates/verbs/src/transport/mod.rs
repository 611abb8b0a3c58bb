//! The transport: frames by send and receive, gets and puts by RDMA, over one reliable connection to each peer.
//!
//! | path | how |
//! |---|---|
//! | E0 | a send inline, as far as the device grants; the rest as E1 |
//! | E1 | a send from a registered buffer into one that the peer has posted, while there are credits |
//! | E0, E1 to a peer with an eager ring | an RDMA write to a slot of the ring, while there are slots |
//! | R0 | an RDMA read of the peer's memory |
//! | R1 | an RDMA write to it |
//!
//! Memory is registered with the first two devices of a rank; writes are dealt to all rails whose devices have it on both sides.
//! Memory that no device reaches, and what is shorter than a setting says, moves by frames on R0 and R1.
//!
//! Atomics are frames that the owner of the word answers: a device's own are not atomic with those of processors.
//!
//! A device breaks a connection over a wrong key, so a rank checks each access by the key before it posts it, and a
//! region that is released is named to the peers that have its key.
//!
//! One completion queue serves all connections. A queue pair completes requests in the order in which they were
//! posted, so a queue beside it says what each was.
//!
//! A connection has a queue pair for each [`ReceiveQueue`]; frames are numbered, and handed over in order.

mod buffers;
mod by_addresses;
mod by_rdmacm;
mod connected_port_pair;
mod control;
mod credits;
mod data_head;
mod endpoint;
mod extended;
mod fitted_queues;
mod frame_head;
mod growing_queue;
mod hostile;
mod initiators;
mod open_device;
mod options;
mod order;
mod pair_address;
mod pipeline_sizes;
mod prepared;
mod queue_sizes;
mod rail;
mod receive_queues;
mod region_key;
mod registered_bytes;
mod remote_memory;
mod request_id;
mod ring;
mod rx;
#[cfg(test)]
mod tests;
mod tx;

pub use endpoint::VerbsEndpoint;
pub(crate) use endpoint::{Offered, PairConnector};
pub(crate) use fitted_queues::FittedQueues;
#[doc(hidden)]
pub use hostile::read_bytes_of_peer;
pub(crate) use open_device::pages_on_demand;
pub use options::{
    ConnectionOptions, EagerRings, LongMessages, TransferFlags, VerbsOptions, VerbsTransportError,
};
pub use pair_address::{ExtendedAddress, PairAddress, PairAddressError};
pub(crate) use rail::MOST_RAILS;
pub use rail::{PortPair, Rail};
pub use receive_queues::{PerPeerQueue, ReceiveQueue, ReceiveQueueError, SharedQueue};
pub use registered_bytes::RegisteredBytes;
pub use rx::VerbsRx;
pub use tx::{VerbsSlot, VerbsTx};

/// Operations of a rank in flight, and reads and writes posted to one connection.
const OPERATIONS: usize = 64;

/// Writes of nothing in flight by one queue pair of a connection, each of which tells of the end of frames.
const CONFIRMATIONS: u32 = 1;
