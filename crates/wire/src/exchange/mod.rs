//! The address exchange at start-up: every rank learns the addresses of all others in `O(log nodes)` rounds between
//! the leaders of nodes, without a look-up in the process manager for each of them.
//!
//! ```text
//!  leader of a node      puts its business card     one put
//!                        for k = 0, 1, 2, ...       ceil(log2 nodes) rounds:
//!                          gets the card of node me - 2^k               one get
//!                          connects to it, and sends all tables it has  one message
//!                          waits for those of node me + 2^k             one message
//!  ranks of the node     read the tables in its     shared memory
//! ```
//!
//! A [`NodeAddressTable`] has the addresses of the ranks of one node. The rounds are those of the dissemination
//! allgather: after round `k` a leader has the tables of `2^(k+1)` nodes, its own and those that follow; the last round
//! sends only what is missing. Each leader asks the manager for `log2 nodes` cards, and inter-node collectives use the
//! connections of the rounds later.
//!
//! [`AddressExchange`] is the state machine of one leader: its [`ExchangeStep`]s say what to get, send and receive.
//! [`AddressDirectory`] is the result. [`model`] estimates the time in jobs of any size.
//!
//! Source of the rounds: Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient Algorithms for All-to-All
//! Communications in Multiport Message-Passing Systems", IEEE TPDS 8(11), 1997.

mod directory;
mod error;
mod machine;
mod message;
pub mod model;
mod table;
#[cfg(all(test, feature = "std"))]
mod tests;

pub use directory::{AddressDirectory, RankLocation};
pub use error::ExchangeError;
pub use machine::{AddressExchange, ExchangeStep};
pub use table::{MAX_NODE_TEXT, NodeAddressTable, RankAddress};

/// Number of rounds among `nodes` nodes.
#[must_use]
pub const fn rounds(nodes: u32) -> u32 {
    match nodes {
        0 | 1 => 0,
        _ => (nodes - 1).ilog2() + 1,
    }
}

/// The node to which node `me` sends in a round: the one `2^round` before it.
#[must_use]
pub const fn round_target(me: u32, nodes: u32, round: u32) -> u32 {
    ((me as u64 + nodes as u64 - (1 << round)) % nodes as u64) as u32
}

/// The node from which node `me` receives in a round: the one `2^round` after it.
#[must_use]
pub const fn round_source(me: u32, nodes: u32, round: u32) -> u32 {
    ((me as u64 + (1 << round)) % nodes as u64) as u32
}

/// Number of tables in a message of a round: those the sender has, but no more than the receiver lacks.
#[must_use]
pub const fn tables_in_round(nodes: u32, round: u32) -> u32 {
    let (has, lacks) = (1 << round, nodes - (1 << round));
    if has < lacks { has } else { lacks }
}
