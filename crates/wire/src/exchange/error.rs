//! Failures of the address exchange ([`ExchangeError`]).

use alloc::string::String;

/// Why the address exchange failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExchangeError {
    /// The process manager does not have the business card of a leader.
    #[error(
        "the leader of node {node} has put no business card into the process manager's key-value space: has it failed?"
    )]
    NoCard {
        /// The node.
        node: u32,
    },
    /// A message is not part of this protocol, or of another version.
    #[error(
        "a message of {len} bytes from node {from} is not an address exchange message of this version: do \
         all ranks run the same oxmpi?"
    )]
    NotAnExchange {
        /// The node that sent it.
        from: u32,
        /// Its length.
        len: usize,
    },
    /// The length of a message differs from that of its content.
    #[error("a message from node {from} has {len} bytes, but its address tables end at byte {end}")]
    Length {
        /// The node that sent it.
        from: u32,
        /// Its length.
        len: usize,
        /// End of its content, as its lengths say.
        end: u64,
    },
    /// A message that the protocol does not expect from this node now.
    #[error("node {from} sent {got}, expected {expected}: do all ranks run the same oxmpi?")]
    Unexpected {
        /// The node that sent it.
        from: u32,
        /// What it sent.
        got: String,
        /// What was expected.
        expected: String,
    },
    /// An address table that does not decode.
    #[error("the address table of node {node} is malformed: {why}")]
    BadTable {
        /// The node of the table.
        node: u32,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A table has a rank that the job does not have.
    #[error("the address table of node {node} has rank {rank}, but the job has {ranks} ranks")]
    NoSuchRank {
        /// The node of the table.
        node: u32,
        /// The rank.
        rank: u32,
        /// Ranks of the job.
        ranks: u32,
    },
    /// Two tables have the same rank.
    #[error("the address tables of node {} and node {} both have rank {rank}", nodes[0], nodes[1])]
    Duplicate {
        /// The rank.
        rank: u32,
        /// The nodes.
        nodes: [u32; 2],
    },
    /// A rank is in no table.
    #[error("rank {rank} is in no address table of the {nodes} nodes, in a job of {ranks} ranks")]
    Missing {
        /// The rank.
        rank: u32,
        /// Ranks of the job.
        ranks: u32,
        /// Nodes that have sent a table.
        nodes: u32,
    },
}
