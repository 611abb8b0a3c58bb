//! The transports of an endpoint as one: shared memory to the ranks of this node, a network to the others.
//!
//! Each rank numbers its links in its own way: first the ranks of its node, in order, then the others.
//! So the transport of the node is spoken to by links without a table, and one compare tells which
//! transport a link belongs to; what takes a short message needs not even that, for a link that the
//! node's transport does not have is one that its own bounds refuse. What a link is called on all ranks
//! is its *name*: the place of the rank in the endpoint.
//!
//! There is one network or none, chosen when the endpoint is made. Its peers are ranks.

mod rx;
mod tx;

pub(super) use rx::LinksRx;
pub(super) use tx::LinksTx;

use std::sync::Arc;

/// What links are called.
#[derive(Clone, Debug)]
pub(super) struct LinkRanks {
    /// By link.
    ranks: Arc<[u32]>,
    /// By name.
    links: Arc<[u32]>,
}

impl LinkRanks {
    /// Of links with these ranks, each once.
    pub(super) fn new(ranks: Vec<u32>) -> Self {
        let mut links = vec![0; ranks.len()];
        for (link, &name) in (0..).zip(&ranks) {
            links[name as usize] = link;
        }
        Self {
            ranks: ranks.into(),
            links: links.into(),
        }
    }

    pub(super) fn rank(&self, link: u32) -> u32 {
        self.ranks[link as usize]
    }

    pub(super) fn link(&self, name: u32) -> u32 {
        self.links[name as usize]
    }

    /// The links in the order of their ranks.
    pub(super) fn links(&self) -> &[u32] {
        &self.links
    }
}

#[cfg(test)]
mod tests {
    use super::LinkRanks;

    #[test]
    fn names_and_links_are_inverse() {
        let ranks = LinkRanks::new(vec![2, 3, 0, 1, 4]);
        for link in 0..5 {
            assert_eq!(ranks.link(ranks.rank(link)), link);
        }
        assert_eq!(ranks.links(), [2, 3, 0, 1, 4]);
    }
}
