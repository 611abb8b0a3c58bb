//! Shared-memory rings of cache-line slots, and a transport over them.
//!
//! The rings alone need neither `std` nor an allocator (default features off):
//!
//! ```
//! use oxmpi_shm::ring::Storage;
//!
//! static RING: Storage<64> = Storage::new();
//!
//! let (mut sender, mut receiver) = RING.pair().expect("taken once");
//! std::thread::spawn(move || sender.try_send(7, &[1, 2, 3]).expect("room"));
//! let message = loop {
//!     if let Some(message) = receiver.try_recv() {
//!         break message;
//!     }
//!     std::hint::spin_loop();
//! };
//! assert_eq!((message.head, &message.body[..3]), (7, &[1, 2, 3][..]));
//! ```
//!
//! With `std`, a [`NodeLeader`] and the other [`Node`]s share a segment, and each node's [`ends`](Node::ends) are a
//! transport for the engine of `oxmpi-wire`.
//!
//! The crate matches no messages, knows no MPI, and reaches one machine only.

#![no_std]

#[cfg(feature = "std")]
#[macro_use]
extern crate std;

pub mod ring;

#[cfg(feature = "std")]
pub mod heap;
#[cfg(feature = "std")]
pub mod node;
#[cfg(feature = "std")]
pub mod segment;
#[cfg(feature = "std")]
pub mod settings;
#[cfg(feature = "std")]
pub mod transport;
#[cfg(feature = "std")]
pub mod wait;
#[cfg(feature = "std")]
pub mod window;

#[cfg(feature = "std")]
pub use node::{GatheredNode, JobKey, JoinError, Node, NodeLeader};
#[cfg(feature = "std")]
pub use segment::SegmentLayout;
#[cfg(feature = "std")]
pub use settings::SETTINGS;
#[cfg(feature = "std")]
pub use transport::{BulkChoice, BulkPreference, BulkProtocol, ShmRx, ShmSlot, ShmTx, limits};
#[cfg(feature = "std")]
pub use wait::{NodeBarriers, WaitPolicy, Waiter};

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
