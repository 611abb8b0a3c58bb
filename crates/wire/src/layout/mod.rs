//! Memory layouts of a message's bytes, as offsets from the buffer's start.
//!
//! A message is a sequence of packed bytes; a user's buffer may have gaps between them, as in a column of a
//! matrix. [`Layout`] has one level: contiguous bytes, or equal blocks at equal distances. A [`Datatype`] is any
//! derived datatype of MPI (MPI 5.0, chapter 5). Both give their bytes as [`StridedRuns`] or [`ByteRun`]s from any
//! packed offset on.

mod blocks;
mod runs;

#[cfg(feature = "alloc")]
mod bounds;
#[cfg(feature = "alloc")]
mod construct;
#[cfg(feature = "alloc")]
mod darray;
#[cfg(feature = "alloc")]
mod datatype;
#[cfg(feature = "alloc")]
mod error;
#[cfg(feature = "alloc")]
mod fingerprint;
#[cfg(feature = "alloc")]
mod shape;
#[cfg(feature = "alloc")]
mod signature;
#[cfg(feature = "alloc")]
mod subarray;
#[cfg(feature = "alloc")]
mod walk;

#[cfg(test)]
mod tests;

pub use blocks::Layout;
pub use runs::{Batches, ByteRun, ByteRuns, Locate, StridedRuns};

#[cfg(feature = "alloc")]
pub use construct::{Block, Member};
#[cfg(feature = "alloc")]
pub use darray::{DistributedDimension, Distribution};
#[cfg(feature = "alloc")]
pub use datatype::Datatype;
#[cfg(feature = "alloc")]
pub use error::DatatypeError;
#[cfg(feature = "alloc")]
pub use signature::{Basic, Signature};
#[cfg(feature = "alloc")]
pub use subarray::{Dimension, Order};
