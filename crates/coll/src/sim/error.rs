//! Errors of simulations.

use thiserror::Error as Derive;

use crate::catalog::Unsuited;

/// The reason why a simulation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Derive)]
#[non_exhaustive]
pub enum Error {
    /// The algorithm does not support the call.
    #[error(transparent)]
    Unsuited(#[from] Unsuited),
    /// A plan names a peer that does not exist, or its own rank.
    #[error(
        "rank {rank} sends to or receives from rank {peer}, which is no other rank of the group"
    )]
    Peer {
        /// The rank whose plan it is.
        rank: u32,
        /// The peer that it names.
        peer: u32,
    },
    /// Sender and receiver of a message have different lengths.
    #[error("rank {from} sends {sent} bytes, but rank {rank} receives {room}")]
    Length {
        /// The receiver.
        rank: u32,
        /// The sender.
        from: u32,
        /// Bytes of the send.
        sent: u64,
        /// Bytes of the receive.
        room: u64,
    },
    /// Ranks wait for messages that are never sent.
    #[error("rank {rank} and {others} other ranks wait for messages that are never sent")]
    Deadlock {
        /// The first waiting rank.
        rank: u32,
        /// The number of other waiting ranks.
        others: u32,
    },
    /// Ranks of a node enter different intra-node phases.
    #[error("rank {rank} enters another intra-node phase than the other ranks of its node")]
    PhaseMismatch {
        /// The rank whose plan differs.
        rank: u32,
    },
    /// A plan waits for a length that no message provides.
    #[error("the plan of rank {rank} waits for a length that no message provides")]
    UnknownLength {
        /// The rank whose plan it is.
        rank: u32,
    },
    /// Neighbourhood collectives, which need a graph of neighbours, are not simulated.
    #[error("neighbourhood collectives cannot be simulated")]
    Neighborhood,
    /// The simulation needs more memory than [`Simulation::memory_limit`](super::Simulation::memory_limit) allows.
    #[error(
        "{ranks} simulated ranks need {} MiB of memory or more, but {} MiB are left",
        needed.div_ceil(1 << 20), limit >> 20
    )]
    Memory {
        /// The simulated ranks.
        ranks: u32,
        /// The bytes that they need at least.
        needed: u64,
        /// The bytes that they may take.
        limit: u64,
    },
    /// The ranks are not done within [`Simulation::time_limit`](super::Simulation::time_limit).
    #[error("the ranks need more than {limit} ps")]
    Time {
        /// The picoseconds that they may take.
        limit: u64,
    },
    /// The text of the schedule could not be written.
    #[error("the schedule cannot be written")]
    Write,
    /// The nodes are not equal, so one node cannot represent all.
    #[error(
        "simulating one node in place of all needs block placement and full nodes, but {size} ranks are no multiple of {per_node} or not in block placement"
    )]
    Uneven {
        /// The ranks of the group.
        size: u32,
        /// The ranks of a node.
        per_node: u32,
    },
}
