//! The raw core under both faces.
//!
//! Byte ranges with their layout, 64-bit counts, operations as functions, requests as handles. It
//! knows ranks and communicators; it knows no types, borrows no buffers, and holds no face's logic.
//! A range ([`oxmpi_os::RawBytes`]) is made by the face, which promises that it outlives its
//! request.

mod access;
mod barrier;
mod bridge;
mod cell;
mod choices;
mod collective;
mod communicator;
mod group;
mod lane;
mod links;
mod nodes;
mod policy;
mod scratch;
mod siblings;
mod split;

pub use access::{Access, Own, Shared};
pub(crate) use bridge::Leaders;
pub(crate) use cell::LaneCell;
pub(crate) use collective::{
    Area, Blocks, Buffers, Neighbors, Operation, OwnOperation, Persistent, Stage, Stages, Wide,
    serves_in_node, serves_on_nodes,
};
pub(crate) use communicator::{Claimed, Communicator, OpenRequest, RawRequest};
pub(crate) use group::Group;
pub(crate) use lane::Lane;
pub(crate) use oxmpi_wire::engine::Mode;
pub(crate) use policy::Policy;
pub(crate) use scratch::Scratch;
