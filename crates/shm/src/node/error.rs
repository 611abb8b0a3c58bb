//! Why the ranks of a node cannot share memory: [`JoinError`].

use std::io;
use std::string::{String, ToString};
use std::time::Duration;
use std::vec::Vec;

use oxmpi_os::limit::MemoryLimitError;

/// Why the ranks of a node cannot share memory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// A system call failed.
    #[error("shared memory: {step}: {source}")]
    System {
        /// The step that failed.
        step: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// The segment does not fit the memory that is left.
    #[error("shared memory: {0}")]
    Memory(#[from] MemoryLimitError),
    /// The segment does not fit this process's address space.
    #[error(
        "shared memory: {bytes} B of addresses for {ranks} ranks: {source}; fewer ranks, smaller \
         shm_buffer and shm_buffers, or a higher limit (ulimit -v) would do"
    )]
    Map {
        /// Bytes of the segment.
        bytes: usize,
        /// Ranks on the node.
        ranks: u32,
        /// The error of the system.
        source: io::Error,
    },
    /// The segment cannot have these sizes.
    #[error("shared memory: {0}")]
    Layout(String),
    /// Some ranks did not join in time.
    #[error("shared memory: of {ranks} ranks on this node, rank {} did not join within {waited:?}", list(.missing))]
    Missing {
        /// Ranks on the node.
        ranks: u32,
        /// The missing ranks.
        missing: Vec<u32>,
        /// How long this rank waited.
        waited: Duration,
    },
    /// A rank ended while joining.
    #[error("shared memory: rank {0} of this node ended while joining")]
    Gone(u32),
    /// A rank does not fit the others.
    #[error("shared memory: rank {rank} of this node {how}")]
    Misfit {
        /// The rank.
        rank: u32,
        /// What is wrong with it: the rest of a sentence about the rank.
        how: String,
    },
}

fn list(ranks: &[u32]) -> String {
    let ranks: Vec<String> = ranks.iter().map(ToString::to_string).collect();
    ranks.join(", ")
}

pub(super) fn system(step: &'static str) -> impl Fn(io::Error) -> JoinError {
    move |source| JoinError::System { step, source }
}
