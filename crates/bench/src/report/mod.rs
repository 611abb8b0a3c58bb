//! Results of a run: as text in the form of the Intel MPI Benchmarks, as JSON and as comma-separated
//! values.

pub mod csv;
pub mod json;
mod record;
pub mod text;

pub use record::RunRecord;
#[cfg(feature = "compare")]
pub(crate) use record::VERSION;

use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// Where and how a run was made; the caller provides it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Environment {
    /// Name and version of the message-passing library.
    pub library: String,
    /// When the run began, as text.
    pub date: String,
    /// The processor's kind, such as `x86_64`.
    pub machine: String,
    /// The operating system.
    pub system: String,
    /// The operating system's release.
    pub release: String,
    /// The operating system's version.
    pub version: String,
    /// The version of the MPI standard that the library follows.
    pub mpi_version: String,
    /// The level of thread support that the library provides.
    pub thread_level: String,
    /// The command as typed.
    pub command: String,
    /// The names of the transports between the ranks, such as `shm`.
    pub transports: Vec<String>,
    /// Millions of additions and multiplications in a second of the computation in part NBC, undisturbed; `None` in other parts.
    pub compute_mflops: Option<f64>,
    /// The library's settings that differ from their defaults.
    pub settings: Vec<Setting>,
}

/// A setting of the library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The setting's name.
    pub name: String,
    /// The setting's value as text.
    pub value: String,
    /// The source of the value.
    pub origin: String,
}

/// Where one rank runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rank {
    /// The rank's number in the job.
    pub rank: usize,
    /// The host's name.
    pub host: String,
    /// The process number.
    pub pid: u32,
    /// The processors that the rank may use, as a list such as `0-3,8`.
    pub cpus: String,
}

#[cfg(test)]
mod tests;
