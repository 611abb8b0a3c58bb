#![doc = include_str!("../README.md")]
//!
//! # A program
//!
//! A job consists of processes, its ranks. Each calls [`World::init`] and communicates through
//! [`Comm`]unicators: by messages, nonblocking requests in a [scope](Comm::scope), and collectives.
//!
//! ```
//! use oxmpi::{Op, World};
//!
//! fn main() -> oxmpi::Result<()> {
//!     let world = World::init()?; // leaves the job in order when dropped
//!     let comm = world.comm();
//!     let (rank, size) = (comm.rank(), comm.size());
//!     let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
//!
//!     comm.bsend(&[rank as f64, 0.5], right, 7)?; // a slice of anything made of plain bytes
//!     let (values, status) = comm.recv_vec::<f64>(left, 7)?;
//!     assert_eq!((values[0] as usize, status.source), (left, left));
//!
//!     let mut ghost = [0u64; 4];
//!     let edge = [rank as u64; 4];
//!     comm.scope(|s| { // buffers outlive requests
//!         let halo = s.irecv(&mut ghost, left, 8)?;
//!         s.isend(&edge, right, 8)?;
//!         halo.wait() // and work of your own goes before this line
//!     })?;
//!     assert_eq!(ghost, [left as u64; 4]);
//!
//!     let ranks = comm.allreduce(&1u32, Op::SUM)?;
//!     assert_eq!(ranks as usize, size);
//!     Ok(())
//! }
//! ```
//!
//! Started by `oxmpi run -n 4 program` it has four ranks, started by hand one. PMI-1 and PMIx process
//! managers can start it too.
//!
//! # Guarantees
//!
//! - Messages between two ranks that match the same receive are received in the order in which they were
//!   sent.
//! - Whatever a program does with a request, even forgetting it, no buffer is accessed after its borrow has
//!   ended.
//! - A wrong argument, a lost peer or a peer that has left gives an [`Error`] that names rank, peer and tag,
//!   and neither an abort nor a hang.
//! - Progress is made inside calls only, or by a helper thread (the setting `async_progress`). A blocking call makes
//!   progress on every endpoint of its thread.
//! - A short message takes no lock, no allocation and no system call.

mod buffer;
mod comm;
mod data;
pub mod layout;
mod memory;
mod op;
pub mod threads;
mod value;
mod values;
pub mod window;
mod world;

pub use buffer::Buffer;
pub use comm::{
    AllCompleted, AnyRequest, Cart, Comm, Completed, EachCompleted, Endpoint, Graph, Grid,
    InterComm, Message, OwnedRequest, Persistent, Request, Scope, SharedComm, Test, collective,
    intercomm,
};
pub use data::Data;
pub use memory::Memory;
pub use op::{Custom, Element, ExactSum, Fold, Op, Reduction, ValueLoc};
pub use oxmpi_core::{
    Comparison, Destination, Error, ErrorClass, FaultReason, MAX_TAG, Multi, PROC_NULL,
    ProcessGroup as Group, Result, Single, Source, Status, Tag, Threading,
};
pub use value::Value;
pub use values::{Values, ValuesMut, ValuesRef};
pub use world::{World, WorldBuilder};
/// The crate whose traits say what plain [`Data`] is, for `#[derive(zerocopy::FromBytes, ..)]`.
pub use zerocopy;
