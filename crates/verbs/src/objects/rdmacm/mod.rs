//! Connections by rdmacm (rdma_cm(7)), which finds peers by their IP addresses, in place of an exchange of queue pair
//! numbers and GIDs. Queue pairs stay those of the caller's context: identifiers know their numbers only.
//!
//! ```text
//!  connecting side                          listening side
//!  resolve_address, resolve_route           bind, listen
//!  connect(queue pair)                  ->  Request(identifier)
//!                                           ready_to_receive_by, ready_to_send_by, accept(queue pair)
//!  Response                             <-
//!  ready_to_receive_by, ready_to_send_by
//!  establish                            ->  Established
//! ```
//!
//! On iWARP the kernel moves both queue pairs when the listening side accepts, and the connecting side gets `Established`
//! in place of `Response`; see [`QueuePair::connected_by`](super::QueuePair::connected_by).

mod channel;
mod event;
mod identifier;
mod socket_address;

pub use channel::CmChannel;
pub use event::{CmEvent, CmEventKind, CmFailure};
pub use identifier::{CmIdentifier, CmKey, CmParameters};
