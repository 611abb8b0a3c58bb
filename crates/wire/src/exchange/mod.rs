//! How every rank learns where every other one is, without asking the process manager for all of them.
//!
//! ```text
//!  leader of a node      puts its card              one put
//!                        for k = 0, 1, 2, ...       ceil(log2 nodes) rounds:
//!                          gets the card of node me - 2^k         one get
//!                          calls it, and sends all sheets it has  one message
//!                          waits for those of node me + 2^k       one message
//!  ranks of the node     take the sheets from it    as shared memory
//! ```
//!
//! A [`NodeAddressTable`] is what a node tells of its ranks. The rounds are those of the dissemination allgather:
//! after round `k` a leader has the sheets of `2^(k+1)` nodes, its own and those that follow; the last
//! round brings what is missing, so that nothing comes twice. The manager is asked for `log2 nodes` cards
//! a node instead of one a rank and rank, and the connections of the rounds are those that collectives
//! between nodes use later.
//!
//! [`AddressExchange`] is one leader as a state machine: it says what to get, what to send to whom and what to
//! wait for; [`AddressDirectory`] is what comes of it. [`model`] says how long it takes in jobs of any size.
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

/// Rounds among so many nodes.
#[must_use]
pub const fn rounds(nodes: u32) -> u32 {
    match nodes {
        0 | 1 => 0,
        _ => (nodes - 1).ilog2() + 1,
    }
}

/// The node that `me` calls in a round: the one `2^round` before it.
#[must_use]
pub const fn round_target(me: u32, nodes: u32, round: u32) -> u32 {
    ((me as u64 + nodes as u64 - (1 << round)) % nodes as u64) as u32
}

/// The node that calls `me` in a round: the one `2^round` behind it.
#[must_use]
pub const fn round_source(me: u32, nodes: u32, round: u32) -> u32 {
    ((me as u64 + (1 << round)) % nodes as u64) as u32
}

/// Sheets of a round's message: as many as the sender has, or as the receiver lacks.
#[must_use]
pub const fn tables_in_round(nodes: u32, round: u32) -> u32 {
    let (has, lacks) = (1 << round, nodes - (1 << round));
    if has < lacks { has } else { lacks }
}
