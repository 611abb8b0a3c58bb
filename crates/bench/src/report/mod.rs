//! Results as text in the form of the Intel MPI Benchmarks, as JSON and as comma-separated values.

pub mod csv;
pub mod json;
mod record;
pub mod text;

pub use record::Run;
#[cfg(feature = "compare")]
pub(crate) use record::VERSION;

use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// Where and how a run was made; the caller finds out.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Environment {
    /// Name and version of the message-passing library.
    pub library: String,
    /// When it began, as text.
    pub date: String,
    /// The processor's kind, such as `x86_64`.
    pub machine: String,
    /// The operating system.
    pub system: String,
    /// Its release.
    pub release: String,
    /// Its version.
    pub version: String,
    /// The version of the MPI standard that is followed.
    pub mpi_version: String,
    /// The level of thread support that is given.
    pub thread_level: String,
    /// The command as typed.
    pub command: String,
    /// The ways that messages may take between the ranks, such as `shm`.
    pub transports: Vec<String>,
    /// The library's settings that differ from their defaults.
    pub settings: Vec<Setting>,
}

/// A setting of the library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value as text.
    pub value: String,
    /// Where the value came from.
    pub origin: String,
}

/// Where one rank runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rank {
    /// Its number in the job.
    pub rank: usize,
    /// The host's name.
    pub host: String,
    /// The process's number.
    pub pid: u32,
    /// The processors it may use, as a list such as `0-3,8`.
    pub cpus: String,
}

#[cfg(test)]
mod tests;
