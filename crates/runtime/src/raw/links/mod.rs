//! The transports of a lane as one: shared memory to the ranks of this node, a network to the others.
//!
//! Each rank numbers its links in its own way: first the ranks of its node, in order, then the others.
//! So the transport of the node is spoken to by links without a table, and one compare tells which
//! transport a link belongs to; what takes a short message needs not even that, for a link that the
//! node's transport does not have is one that its own bounds refuse. What a link is called on all ranks
//! is its *name*: the place of the rank in the lane.
//!
//! There is one network or none, chosen when the lane is made. Its peers are names.

mod rx;
mod tx;

pub(super) use rx::LinksRx;
pub(super) use tx::LinksTx;

use std::sync::Arc;

/// What links are called.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// By link.
    names: Arc<[u32]>,
    /// By name.
    links: Arc<[u32]>,
}

impl Names {
    /// Of links with these names, each once.
    pub(super) fn new(names: Vec<u32>) -> Self {
        let mut links = vec![0; names.len()];
        for (link, &name) in (0..).zip(&names) {
            links[name as usize] = link;
        }
        Self {
            names: names.into(),
            links: links.into(),
        }
    }

    pub(super) fn name(&self, link: u32) -> u32 {
        self.names[link as usize]
    }

    pub(super) fn link(&self, name: u32) -> u32 {
        self.links[name as usize]
    }

    /// The links in the order of their names.
    pub(super) fn links(&self) -> &[u32] {
        &self.links
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn names_and_links_are_inverse() {
        let names = Names::new(vec![2, 3, 0, 1, 4]);
        for link in 0..5 {
            assert_eq!(names.link(names.name(link)), link);
        }
        assert_eq!(names.links(), [2, 3, 0, 1, 4]);
    }
}
