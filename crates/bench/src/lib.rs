#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

mod buffers;
mod comm;
pub mod kernels;
#[cfg(feature = "alloc")]
pub mod listing;
pub mod method;
#[cfg(feature = "alloc")]
pub mod options;
#[cfg(feature = "report")]
pub mod report;
#[cfg(feature = "alloc")]
pub mod suite;

#[cfg(feature = "alloc")]
pub use buffers::Memory;
pub use buffers::{ALIGNMENT, Buffers, Unaligned};
pub use comm::{Comm, Source};
pub use kernels::Kernel;
