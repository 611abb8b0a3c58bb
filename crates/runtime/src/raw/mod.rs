//! The raw core: messages and collectives on ranges of bytes, below the typed interface.
//!
//! It works on byte ranges with layouts, 64-bit counts, operations as functions, and requests as handles. It
//! knows ranks, communicators and [endpoints](endpoint), but no element types, and it borrows no buffers: its
//! caller makes a range ([`oxmpi_os::RawBytes`]) and promises that the memory outlives the request.
//!
//! The modules by group:
//! - endpoints: `endpoint`, `thread_endpoints`, `links`, `policy`, `ownership`, `threading`;
//! - communicators: `communicator`, `intercomm`, `group`, `placement`, `split`, `failure`;
//! - messages: `request`;
//! - collectives: `collective`, with `algorithm_choices`, `collective_members`, `collective_state`, `collective_scratch`,
//!   `operation` and `barrier`.

mod algorithm_choices;
mod barrier;
mod collective;
mod collective_members;
mod collective_scratch;
mod collective_state;
mod communicator;
mod endpoint;
mod failure;
mod group;
mod intercomm;
mod links;
mod operation;
mod ownership;
mod placement;
mod policy;
mod request;
mod split;
mod thread_endpoints;
mod threading;

pub(crate) use collective::{InterGroups, PreparedCollective, serves_in_node, serves_on_nodes};
pub(crate) use collective_state::{Area, BlockRanges, Buffers, Neighbors, Stages, WidenedBuffers};
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
pub use threading::Threading;
