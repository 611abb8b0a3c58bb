//! The ranks of one node, and the leaders of all nodes, as groups of their own.

use core::ops::Range;

use super::full_nodes;
use crate::call::{Call, Parameters};
use crate::placement::{Order, Placement};
use crate::plan::Act;
use crate::tree::TreeEdge;

/// One rank's position on nodes with leaders: the root leads its node, and the first rank each other node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeLeaders {
    place: Placement,
    rank: u32,
    root: u32,
}

impl NodeLeaders {
    /// The nodes of the call. In block placement the last one may not be full. In cyclic placement nodes must
    /// be full, and an operation must commute; else each rank counts as a node of its own.
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let in_order = call.collective.reduces() && !call.commutative;
        let place = match parameters.order {
            Order::Block => Placement::new(Order::Block, call.size, parameters.per_node),
            Order::Cyclic if in_order => Placement::new(Order::Block, call.size, 1),
            Order::Cyclic => full_nodes(call, parameters),
        };
        NodeLeaders::at(place, call)
    }

    /// The nodes of a placement.
    pub(super) const fn at(place: Placement, call: &Call) -> Self {
        NodeLeaders {
            place,
            rank: call.rank,
            root: call.root,
        }
    }

    /// How many nodes there are.
    pub(crate) const fn count(&self) -> u32 {
        self.place.nodes()
    }

    /// This rank's node.
    pub(crate) const fn node(&self) -> u32 {
        self.place.node(self.rank)
    }

    /// The root's node.
    pub(crate) const fn root(&self) -> u32 {
        self.place.node(self.root)
    }

    /// This rank's local number.
    pub(crate) const fn local(&self) -> u32 {
        self.place.local(self.rank)
    }

    /// The leader's local number on this rank's node.
    pub(crate) const fn local_leader(&self) -> u32 {
        self.place.local(self.leader(self.node()))
    }

    /// Whether this rank leads its node.
    pub(crate) const fn leads(&self) -> bool {
        self.leader(self.node()) == self.rank
    }

    /// The number of ranks on this rank's node.
    pub(crate) const fn ranks(&self) -> u32 {
        self.place.ranks_on(self.node())
    }

    /// The most ranks on a node.
    pub(crate) fn most(&self) -> u32 {
        self.place.per_node().min(self.place.size())
    }

    /// The number of ranks on the last node, which has the fewest.
    pub(crate) fn fewest(&self) -> u32 {
        match (self.place.size() % self.most(), self.place.order()) {
            (0, _) | (_, Order::Cyclic) => self.most(),
            (rest, Order::Block) => rest,
        }
    }

    /// The rank with this local number on this rank's node.
    pub(crate) const fn neighbor(&self, local: u32) -> u32 {
        self.place.rank(self.node(), local)
    }

    /// The leader of a node.
    const fn leader(&self, node: u32) -> u32 {
        if node == self.root() {
            self.root
        } else {
            self.place.rank(node, 0)
        }
    }

    /// The ranks with these local numbers on this rank's node, in block placement.
    pub(super) fn neighbors(&self, locals: Range<u32>) -> Range<u32> {
        let first = self.neighbor(0);
        first + locals.start..first + locals.end
    }

    /// The ranks of these nodes, in block placement.
    pub(super) fn ranks_of(&self, nodes: Range<u32>) -> Range<u32> {
        let first = |node: u32| {
            let before = u64::from(node) * u64::from(self.place.per_node());
            before.min(self.place.size().into()) as u32
        };
        first(nodes.start)..first(nodes.end)
    }

    /// An edge of a tree among the ranks of this node, in ranks of the group.
    pub(super) const fn edge_inside(&self, edge: TreeEdge) -> TreeEdge {
        TreeEdge {
            peer: self.neighbor(edge.peer),
            ..edge
        }
    }

    /// An edge of a tree among the leaders, in ranks of the group.
    pub(super) const fn edge_between(&self, edge: TreeEdge) -> TreeEdge {
        TreeEdge {
            peer: self.leader(edge.peer),
            ..edge
        }
    }

    /// An act of a plan among the ranks of this node, with ranks of the group.
    pub(crate) fn inside(&self, act: Act) -> Act {
        act.with_peer(|local| self.neighbor(local))
    }

    /// An act of a plan among the leaders, with ranks of the group.
    pub(crate) fn between(&self, act: Act) -> Act {
        act.with_peer(|node| self.leader(node))
    }
}
