//! The system calls of oxmpi.
//!
//! ```
//! use oxmpi_os::memory::Memfd;
//!
//! oxmpi_os::limit::check(4096)?;
//! let memory = Memfd::create("example", 4096)?;
//! let mapping = memory.map()?;
//! assert_eq!(mapping.len(), 4096);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! One module a topic: shared memory ([`memory`], [`limit`], [`huge`]), memory that goes ([`userfault`]), bytes ([`bytes`], [`mod@copy`], [`atomic`]), sleeping
//! ([`futex`], [`membarrier`], [`doorbell`]), other processes ([`pidfd`], [`cma`], [`socket`], [`fork`]), the network
//! ([`tcp`], [`pages`], [`epoll`], [`interface`], [`adapter`]), the machine ([`cpu`], [`cache`], [`mod@cpuid`],
//! [`host`], [`clock`]), files that a user names ([`mod@file`]), child processes ([`process`], [`guard`], [`affinity`],
//! [`signal`], [`pipe`], [`blocked`], [`scheduler`]).
//!
//! It knows no messages, ranks or MPI, keeps no global state, and starts no thread.

pub mod adapter;
pub mod affinity;
pub mod atomic;
pub mod blocked;
pub mod bytes;
pub mod cache;
mod cgroup;
pub mod clock;
pub mod cma;
pub mod copy;
pub mod cpu;
pub mod cpuid;
pub mod doorbell;
pub mod epoll;
pub mod file;
pub mod fork;
pub mod futex;
pub mod guard;
pub mod host;
pub mod huge;
mod inherit;
pub mod interface;
pub mod limit;
pub mod membarrier;
pub mod memory;
mod page_size;
pub mod pages;
pub mod pidfd;
pub mod pipe;
pub mod probe;
pub mod process;
pub mod scheduler;
pub mod signal;
pub mod socket;
pub mod tcp;
pub mod userfault;

pub use bytes::RawBytes;
pub use inherit::{inherit, inherit_stream};
pub use page_size::page_size;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
