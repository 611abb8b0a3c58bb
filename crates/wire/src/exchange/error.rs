//! What can be wrong with what another node says.

use alloc::string::String;

/// Why an exchange of addresses fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExchangeError {
    /// The manager does not have what a leader was to put there.
    #[error("the leader of node {node} has put no card into the manager's space: has it failed?")]
    NoCard {
        /// The node.
        node: u32,
    },
    /// A message is not ours, or of another version.
    #[error(
        "a message of {len} bytes from node {from} is no part of an exchange of addresses of this \
         version: do all ranks run the same oxmpi?"
    )]
    NotAnExchange {
        /// Who sent it.
        from: u32,
        /// Its length.
        len: usize,
    },
    /// A message ends early, or goes on behind its end.
    #[error("a message from node {from} has {len} bytes, and its sheets end at byte {end}")]
    Length {
        /// Who sent it.
        from: u32,
        /// Its length.
        len: usize,
        /// Where its content ends, as it says.
        end: u64,
    },
    /// A message that its sender would not send to this node.
    #[error("node {from} sends {got}, expected {expected}: do all ranks run the same oxmpi?")]
    Unexpected {
        /// Who sent it.
        from: u32,
        /// What it is.
        got: String,
        /// What it should be.
        expected: String,
    },
    /// A sheet that is none.
    #[error("the sheet of node {node} is not understood: {why}")]
    BadTable {
        /// Whose it is.
        node: u32,
        /// What is wrong, and what would have been right.
        why: &'static str,
    },
    /// A rank that cannot be.
    #[error("node {node} has rank {rank}, in a job of {ranks}")]
    NoSuchRank {
        /// Who says so.
        node: u32,
        /// The rank.
        rank: u32,
        /// Ranks of the job.
        ranks: u32,
    },
    /// Two nodes have one rank.
    #[error("both node {} and node {} have rank {rank}", nodes[0], nodes[1])]
    Duplicate {
        /// The rank.
        rank: u32,
        /// The nodes.
        nodes: [u32; 2],
    },
    /// No node has a rank.
    #[error("no node has rank {rank}, in a job of {ranks} ranks on {nodes} nodes")]
    Missing {
        /// The rank.
        rank: u32,
        /// Ranks of the job.
        ranks: u32,
        /// Nodes that have sent a sheet.
        nodes: u32,
    },
}
