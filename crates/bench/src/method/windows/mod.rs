//! Kernels over windows with their memory, as a sample repeats them.
//!
//! ```text
//! access    the timed loop of a kernel that accesses a window
//!   data    its data before and after a repetition
//!   epochs  its epochs, and what completes its transfers
//! creation  the kernel that makes and frees windows
//! ```

mod access;
mod creation;
mod data;
mod epochs;

pub(crate) use access::AccessWork;
pub(crate) use creation::CreationWork;
