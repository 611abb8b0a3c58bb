#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

mod buffers;
mod comm;
#[cfg(feature = "compare")]
pub mod compare;
#[cfg(feature = "alloc")]
mod data_type;
pub mod kernels;
#[cfg(feature = "alloc")]
pub mod lengths;
#[cfg(feature = "alloc")]
pub mod listing;
#[cfg(feature = "alloc")]
mod memory;
pub mod method;
mod nonblocking;
#[cfg(feature = "alloc")]
pub mod options;
#[cfg(feature = "compare")]
pub mod plot;
#[cfg(feature = "report")]
pub mod report;
#[cfg(feature = "alloc")]
pub mod suite;
mod units;
mod windows;

pub use buffers::{ALIGNMENT, Buffers, OffCache, RepetitionBuffers, Unaligned};
pub use comm::{Blocks, Collective, Comm, Source};
#[cfg(feature = "alloc")]
pub use data_type::DataType;
pub use kernels::Kernel;
#[cfg(feature = "alloc")]
pub use kernels::Part;
#[cfg(feature = "alloc")]
pub use memory::Memory;
pub use nonblocking::{Nonblocking, StartedCollective};
pub use units::Megabyte;
pub use windows::{Window, Windows};
