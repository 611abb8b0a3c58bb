//! The raw core: messages and collectives on ranges of bytes, below the typed interface.
//!
//! It works on byte ranges with layouts, 64-bit counts, operations as functions, and requests as handles. It
//! knows ranks, communicators and [endpoints](endpoint), but no element types, and it borrows no buffers: its
//! caller makes a range ([`oxmpi_os::RawBytes`]) and promises that the memory outlives the request.

mod barrier;
mod choices;
mod collective;
mod communicator;
mod endpoint;
mod failure;
mod group;
mod intercomm;
mod links;
mod members;
mod operation;
mod ownership;
mod placement;
mod policy;
mod request;
mod scratch;
mod split;
mod state;
mod thread_endpoints;
mod threading;

pub(crate) use collective::{InterGroups, PreparedCollective, serves_in_node, serves_on_nodes};
pub(crate) use communicator::Communicator;
pub(crate) use endpoint::Endpoint;
pub(crate) use group::Group;
pub(crate) use intercomm::GroupLeaders;
pub(crate) use operation::{Operation, OwnedOperation, Widening, elements, elementwise};
pub(crate) use ownership::{EndpointCell, leave_shared};
pub use ownership::{Multi, Single};
pub(crate) use oxmpi_wire::engine::Mode;
pub(crate) use policy::EndpointPolicy;
pub use policy::WaitMode;
pub(crate) use request::{Claimed, OpenRequest, RawRequest};
pub(crate) use state::{Area, BlockRanges, Buffers, Neighbors, Stages, WidenedBuffers};
pub use threading::Threading;
