//! The ranks of one node, and the leaders of all nodes, as groups of their own.

use core::ops::Range;

use super::full_nodes;
use crate::call::{Call, Parameters};
use crate::placement::{Order, Placement};
use crate::plan::Act;
use crate::tree::TreeEdge;

/// Where one rank stands among nodes that each have a leader: the root, and on other nodes the first
/// rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeLeaders {
    place: Placement,
    rank: u32,
    root: u32,
}

impl NodeLeaders {
    /// The nodes of the call. One after another they may be filled in part. Dealt in turn they must
    /// be full, and an operation must commute; else each rank is a node of its own.
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

    /// This rank's number on its node.
    pub(crate) const fn local(&self) -> u32 {
        self.place.local(self.rank)
    }

    /// The leader's number on this rank's node.
    pub(crate) const fn local_leader(&self) -> u32 {
        self.place.local(self.leader(self.node()))
    }

    /// Whether this rank leads its node.
    pub(crate) const fn leads(&self) -> bool {
        self.leader(self.node()) == self.rank
    }

    /// Ranks on this rank's node.
    pub(crate) const fn ranks(&self) -> u32 {
        self.place.ranks_on(self.node())
    }

    /// The most ranks on a node.
    pub(crate) fn most(&self) -> u32 {
        self.place.per_node().min(self.place.size())
    }

    /// The ranks on the last node, which has the fewest.
    pub(crate) fn fewest(&self) -> u32 {
        match (self.place.size() % self.most(), self.place.order()) {
            (0, _) | (_, Order::Cyclic) => self.most(),
            (rest, Order::Block) => rest,
        }
    }

    /// The rank with this number on this rank's node.
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

    /// Some ranks of this rank's node, of those that are filled one after another.
    pub(super) fn neighbors(&self, locals: Range<u32>) -> Range<u32> {
        let first = self.neighbor(0);
        first + locals.start..first + locals.end
    }

    /// The ranks of some nodes that are filled one after another.
    pub(super) fn ranks_of(&self, nodes: Range<u32>) -> Range<u32> {
        let first = |node: u32| {
            let before = u64::from(node) * u64::from(self.place.per_node());
            before.min(self.place.size().into()) as u32
        };
        first(nodes.start)..first(nodes.end)
    }

    /// An edge of a tree of the ranks of this node.
    pub(super) const fn edge_inside(&self, edge: TreeEdge) -> TreeEdge {
        TreeEdge {
            peer: self.neighbor(edge.peer),
            ..edge
        }
    }

    /// An edge of a tree of the leaders.
    pub(super) const fn edge_between(&self, edge: TreeEdge) -> TreeEdge {
        TreeEdge {
            peer: self.leader(edge.peer),
            ..edge
        }
    }

    /// An act of a plan for the ranks of this node.
    pub(crate) fn inside(&self, act: Act) -> Act {
        act.with_peer(|local| self.neighbor(local))
    }

    /// An act of a plan for the leaders.
    pub(crate) fn between(&self, act: Act) -> Act {
        act.with_peer(|node| self.leader(node))
    }
}
