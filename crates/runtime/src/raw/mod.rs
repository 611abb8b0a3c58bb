//! The raw core under both faces.
//!
//! Byte ranges with their layout, 64-bit counts, operations as functions, requests as handles. It
//! knows ranks and communicators; it knows no types, borrows no buffers, and holds no face's logic.
//! A range ([`oxmpi_os::RawBytes`]) is made by the face, which promises that it outlives its
//! request.

mod access;
mod barrier;
mod cell;
mod choices;
mod collective;
mod communicator;
mod endpoint;
mod group;
mod intercomm;
mod links;
mod nodes;
mod policy;
mod scratch;
mod split;
mod thread_endpoints;

pub use access::{Multi, Single, Threading};
pub(crate) use cell::EndpointCell;
pub(crate) use collective::{
    Area, BlockRanges, Buffers, Neighbors, Operation, OwnedOperation, PreparedCollective, Stage,
    Stages, WidenedBuffers, serves_in_node, serves_on_nodes,
};
pub(crate) use communicator::{Claimed, Communicator, OpenRequest, RawRequest};
pub(crate) use endpoint::Endpoint;
pub(crate) use group::Group;
pub(crate) use intercomm::GroupLeaders;
pub(crate) use oxmpi_wire::engine::Mode;
pub(crate) use policy::Policy;
pub(crate) use scratch::Scratch;
