//! The nodes of simulated ranks: as the setup places them, or listed.

use super::Setup;
use crate::nodes::NodeMap;

/// The nodes of simulated ranks.
#[derive(Clone, Copy)]
pub(super) struct SimNodes<'a> {
    pub(super) setup: &'a Setup,
    /// The nodes of all ranks, if not as the setup places them.
    pub(super) listed: Option<&'a NodeMap>,
}

/// The path of a message.
pub(super) struct MessagePath {
    /// How many nodes the sender's node is above the receiver's, modulo the nodes; 0 inside a node.
    pub(super) distance: u32,
    /// The simulated rank that receives it.
    pub(super) target: u32,
    /// The sender's rank as the receiver sees it.
    pub(super) from: u32,
}

impl SimNodes<'_> {
    /// The number of simulated nodes.
    pub(super) fn count(&self) -> u32 {
        match self.listed {
            Some(nodes) => nodes.count(),
            None if self.setup.one_node => 1,
            None => self.setup.placement.nodes(),
        }
    }

    /// The index of a simulated rank's node.
    pub(super) fn node(&self, rank: u32) -> u32 {
        match self.listed {
            Some(nodes) => nodes.node(rank),
            None if self.setup.one_node => 0,
            None => self.setup.placement.node(rank),
        }
    }

    /// The local number of a simulated rank on its node.
    pub(super) fn local(&self, rank: u32) -> u32 {
        match self.listed {
            Some(nodes) => nodes.local(rank),
            None => self.setup.placement.local(rank),
        }
    }

    /// The path from a simulated rank to a rank of the group.
    pub(super) fn message_path(&self, source: u32, to: u32) -> MessagePath {
        let place = &self.setup.placement;
        let (here, there, nodes) = match self.listed {
            Some(nodes) => (nodes.node(source), nodes.node(to), nodes.count()),
            None => (place.node(source), place.node(to), place.nodes()),
        };
        let distance = match here >= there {
            true => here - there,
            false => here + nodes - there,
        };
        match self.setup.one_node {
            true => MessagePath {
                distance,
                target: place.local(to),
                from: place.rank(distance, source),
            },
            false => MessagePath {
                distance,
                target: to,
                from: source,
            },
        }
    }
}
