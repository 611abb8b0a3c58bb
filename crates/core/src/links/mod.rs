//! Joins shared memory, to the ranks of this node, and a network, to all others, to one transport.
//!
//! A *link* is this rank's number of a peer: first come the ranks of its node, in order, then the others. So
//! the shared memory transport needs no table, and one compare tells which transport a link belongs to. Taking
//! a short message needs no compare: the shared memory transport refuses links beyond its own by its bounds.
//! An *endpoint rank* is a peer's number on all ranks: its rank among those that the endpoint joins.
//!
//! An endpoint has one network or none, chosen when it is made. The network's peers are endpoint ranks. Where it has
//! one, it sleeps on the wait objects of both transports.

mod network;
mod other_network;
mod rx;
mod sleep;
mod tx;

pub(super) use network::NetworkEnds;
pub use other_network::OtherNetwork;
pub(super) use rx::LinksRx;
pub(super) use sleep::LinksSleeper;
#[cfg(feature = "tcp")]
pub(super) use sleep::sleep;
pub(super) use tx::LinksTx;

use std::sync::Arc;

/// The endpoint rank of each link, and the reverse.
#[derive(Clone, Debug)]
pub(super) struct LinkRanks {
    /// By link.
    ranks: Arc<[u32]>,
    /// By endpoint rank.
    links: Arc<[u32]>,
}

impl LinkRanks {
    /// `ranks` are the endpoint ranks of the links, each once.
    pub(super) fn new(ranks: Vec<u32>) -> Self {
        let mut links = vec![0; ranks.len()];
        for (link, &rank) in (0..).zip(&ranks) {
            links[rank as usize] = link;
        }
        Self {
            ranks: ranks.into(),
            links: links.into(),
        }
    }

    pub(super) fn rank(&self, link: u32) -> u32 {
        self.ranks[link as usize]
    }

    pub(super) fn link(&self, rank: u32) -> u32 {
        self.links[rank as usize]
    }

    /// The links in the order of their endpoint ranks.
    pub(super) fn links(&self) -> &[u32] {
        &self.links
    }
}

#[cfg(test)]
mod tests {
    use super::LinkRanks;

    #[test]
    fn ranks_and_links_are_inverse() {
        let ranks = LinkRanks::new(vec![2, 3, 0, 1, 4]);
        for link in 0..5 {
            assert_eq!(ranks.link(ranks.rank(link)), link);
        }
        assert_eq!(ranks.links(), [2, 3, 0, 1, 4]);
    }
}
