//! Gatherv, scatterv and multirail: a k-nomial tree of nodes, each of which is a k-nomial tree of its ranks.
//!
//! One message enters or leaves each node except the root's. The root leads its node, and the first rank each
//! other node. Nodes are filled in blocks, the last one perhaps in part, so subtrees are consecutive; in
//! cyclic placement each rank counts as a node of its own.
//!
//! Where nodes have a power of the radix as number of ranks, it equals the k-nomial tree of all ranks. It
//! pays for other numbers.

use core::ops::Range;

use super::{NodeLeaders, one_after_another};
use crate::call::{Call, Parameters};
use crate::tree::{KnomialPlace, Subtrees, TreeEdge, TreePlace};

/// One rank's position. The first child slots are those inside its node; at a leader those between nodes
/// follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeTree {
    rank: u32,
    nodes: NodeLeaders,
    inside: KnomialPlace,
    between: Option<KnomialPlace>,
}

impl TreePlace for NodeTree {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        let nodes = NodeLeaders::at(one_after_another(call, parameters), call);
        let radix = parameters.radix;
        let inside = KnomialPlace::new(nodes.local(), nodes.ranks(), nodes.local_leader(), radix);
        let between = || KnomialPlace::new(nodes.node(), nodes.count(), nodes.root(), radix);
        NodeTree {
            rank: call.rank,
            nodes,
            inside,
            between: nodes.leads().then(between),
        }
    }

    fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        NodeTree::most_rounds(call.size, parameters)
    }

    fn most_rounds(size: u32, parameters: &Parameters) -> u64 {
        let place = one_after_another(&Call::barrier(0, size), parameters);
        let most = place.per_node().min(place.size());
        KnomialPlace::most_rounds(place.nodes(), parameters)
            + KnomialPlace::most_rounds(most, parameters)
    }

    fn rank(&self) -> u32 {
        self.rank
    }

    fn up(&self) -> Option<TreeEdge> {
        match self.between {
            Some(between) => between.up().map(|edge| self.nodes.edge_between(edge)),
            None => self.inside.up().map(|edge| self.nodes.edge_inside(edge)),
        }
    }

    fn places(&self) -> u32 {
        self.inside.places() + self.between.map_or(0, |between| between.places())
    }

    fn down(&self, at: u32) -> Option<TreeEdge> {
        match (at.checked_sub(self.inside.places()), self.between) {
            (Some(at), Some(between)) => between.down(at).map(|edge| self.nodes.edge_between(edge)),
            _ => self
                .inside
                .down(at)
                .map(|edge| self.nodes.edge_inside(edge)),
        }
    }
}

impl Subtrees for NodeTree {
    fn subtree(&self) -> Range<u32> {
        match self.between {
            Some(between) => self.nodes.ranks_of(between.subtree()),
            None => self.nodes.neighbors(self.inside.subtree()),
        }
    }

    fn child_subtree(&self, at: u32) -> Range<u32> {
        match (at.checked_sub(self.inside.places()), self.between) {
            (Some(at), Some(between)) => self.nodes.ranks_of(between.child_subtree(at)),
            _ => self.nodes.neighbors(self.inside.child_subtree(at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NodeTree;
    use crate::call::{Call, Parameters};
    use crate::placement::Order;
    use crate::tree::{Subtrees, TreeEdge, TreePlace};

    #[test]
    fn every_child_knows_its_parent_and_brings_what_lies_next_to_its_parent_s_ranks() {
        let sizes = (1..=40).flat_map(|size| [1, 2, 3, 5, 8, 64].map(|most| (size, most)));
        for (size, per_node) in sizes {
            for (root, radix) in (0..size).flat_map(|root| [2, 4].map(|radix| (root, radix))) {
                let parameters = Parameters::NONE
                    .with_radix(radix)
                    .with_per_node(per_node)
                    .with_order(Order::Block);
                let call = |rank| Call::gatherv(rank, size, root, 1);
                let place = |rank| NodeTree::of(&call(rank), &parameters);
                let (mut children, mut crossings) = (0, 0);
                for rank in 0..size {
                    let mut range = rank..rank + 1;
                    for at in 0..place(rank).places() {
                        let below = place(rank).child_subtree(at);
                        let Some(TreeEdge { peer, tag }) = place(rank).down(at) else {
                            assert!(below.is_empty());
                            continue;
                        };
                        assert_eq!(place(peer).up(), Some(TreeEdge { peer: rank, tag }));
                        assert_eq!(place(peer).subtree(), below);
                        assert_eq!(below.start, peer);
                        assert!(below.start == range.end || below.end == range.start);
                        range = range.start.min(below.start)..range.end.max(below.end);
                        children += 1;
                        crossings += u32::from(peer / per_node != rank / per_node);
                    }
                    assert_eq!(range, place(rank).subtree());
                }
                assert_eq!(children, size - 1);
                assert_eq!(crossings, size.div_ceil(per_node) - 1);
                assert_eq!(place(root).up(), None);
            }
        }
    }
}
