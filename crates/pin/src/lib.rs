//! Decides which processors each rank of a job runs on, and each of its OpenMP threads. Pure functions of a
//! machine, settings, an inherited mask and a number of ranks, with an explanation in words.
//!
//! The settings are those of Intel MPI (`I_MPI_PIN_DOMAIN`, `I_MPI_PIN_ORDER`, `I_MPI_PIN_PROCESSOR_LIST` and
//! others), by its Developer Reference for Linux (chapter "Interoperability with OpenMP API") or by what its
//! launcher does, see [`Compat`]; and those of Open MPI in [`openmpi`].
//!
//! ```
//! use oxmpi_pin::topo::Machine;
//! use oxmpi_pin::{Settings, place};
//!
//! // Two sockets of four cores.
//! let machine = Machine::from_synthetic("package:2 core:4 pu:1")?;
//! let placement = place(&machine, &Settings::default(), None, 2);
//! assert_eq!(placement.ranks[0].cpus.to_string(), "0-3");
//! assert_eq!(placement.ranks[1].cpus.to_string(), "4-7");
//! println!("{}", placement.explanation);
//! # Ok::<(), oxmpi_pin::topo::SyntaxError>(())
//! ```
//!
//! [`openmp`] places the threads inside a process by `KMP_AFFINITY`, `OMP_PLACES` and related variables.
//!
//! The crate sets no affinity and reads neither the environment nor `/proc`: the caller applies the result.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod conflicts;
mod documented;
pub mod intel;
mod intel2021;
mod metrics;
mod numa;
pub mod openmp;
pub mod openmpi;
mod per_host;
mod place;
mod placement;
mod processors;
mod rdma;
mod settings;
mod warnings;

pub use conflicts::{conflicts, far_from_rdma};
pub use metrics::Metrics;
pub use numa::{NumaDomain, numa_domains, numa_domains_of};
/// The crate of machines, so that callers need no second dependency.
pub use oxmpi_topo as topo;
pub use per_host::{PER_HOST, PerHost};
pub use place::place;
pub use placement::{Placement, RankPlace, Warning, WarningCode};
pub use settings::{Compat, SETTINGS, SettingText, Settings, Unreadable, VARIABLES, omp_threads};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
