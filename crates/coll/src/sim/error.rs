//! Why a simulation has no result.

use thiserror::Error as Derive;

use crate::catalog::Unsuited;

/// Why a simulation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Derive)]
#[non_exhaustive]
pub enum Error {
    /// The algorithm refuses the call.
    #[error(transparent)]
    Unsuited(#[from] Unsuited),
    /// A plan names a rank that is not there, or its own.
    #[error(
        "rank {rank} has a message for or from rank {peer}, which is no other rank of the group"
    )]
    Peer {
        /// Whose plan it is.
        rank: u32,
        /// The peer that it names.
        peer: u32,
    },
    /// The two ends of a message disagree.
    #[error("rank {from} sends {sent} bytes where rank {rank} has room for {room}")]
    Length {
        /// The receiver.
        rank: u32,
        /// The sender.
        from: u32,
        /// Bytes of the message.
        sent: u64,
        /// Bytes of the receive.
        room: u64,
    },
    /// A rank waits for a message that nobody sends.
    #[error("rank {rank} and {others} others wait for ever")]
    Deadlock {
        /// The first of them.
        rank: u32,
        /// How many there are besides.
        others: u32,
    },
    /// Ranks of a node do not do the same together.
    #[error("rank {rank} does not do what others of its team do together")]
    Apart {
        /// Whose plan it is.
        rank: u32,
    },
    /// A plan learns lengths that nothing tells it.
    #[error("the plan of rank {rank} waits for a length that nothing brings")]
    Broken {
        /// Whose plan it is.
        rank: u32,
    },
    /// What ranks do in collectives of neighbours depends on who these are.
    #[error("collectives of neighbours are not simulated")]
    Neighbors,
    /// The schedule's text could not be written.
    #[error("the schedule cannot be written")]
    Unwritten,
    /// The ranks are not alike from node to node, so one node cannot stand for all.
    #[error(
        "one node stands for all only in block placement with all nodes full: {size} ranks are not a multiple of {per_node}"
    )]
    Uneven {
        /// Ranks of the group.
        size: u32,
        /// Ranks of a node.
        per_node: u32,
    },
}
