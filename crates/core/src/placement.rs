//! Where ranks are: the node of each rank of an endpoint, and the placement of any list of its ranks.

use std::sync::Arc;

use oxmpi_coll::nodes::Nodes;
use oxmpi_coll::placement::{Order, Placement};

/// The placement of `size` ranks on one node.
pub(super) fn on_one_node(size: u32) -> Placement {
    Placement::new(Order::Block, size, size)
}

/// The placement of `size` ranks of which each counts as a node.
pub(super) fn one_rank_per_node(size: u32) -> Placement {
    Placement::new(Order::Block, size, 1)
}

/// The placement of `size` consecutive ranks of a group that is placed as `whole`. `start` is the first of them;
/// `None`: another rank goes before them.
pub(super) fn section_of(whole: Placement, size: u32, start: Option<u32>) -> Placement {
    match (whole.order(), whole.per_node(), start) {
        _ if whole.nodes() == 1 => on_one_node(size),
        (Order::Block, ranks, Some(start)) if start.is_multiple_of(ranks) => {
            Placement::new(Order::Block, size, ranks)
        }
        _ => one_rank_per_node(size),
    }
}

/// The node of each rank of an endpoint, by endpoint rank. Every rank has the same list.
#[derive(Clone, Debug)]
pub(super) struct EndpointNodes(Arc<[u32]>);

impl EndpointNodes {
    /// The node of each endpoint rank.
    pub(super) fn new(nodes: Vec<u32>) -> Self {
        Self(nodes.into())
    }

    /// The nodes of these endpoint ranks, in this order. The same list gives the same nodes on every rank.
    pub(super) fn of(&self, ranks: impl Iterator<Item = u32>) -> Nodes {
        let mut seen = vec![None; self.0.len()];
        let mut count = 0;
        let number = |rank| {
            let node: u32 = self.0[rank as usize];
            *seen[node as usize].get_or_insert_with(|| {
                count += 1;
                count - 1
            })
        };
        let nodes: Vec<u32> = ranks.map(number).collect();
        Nodes::of(&nodes)
    }
}

#[cfg(test)]
mod tests {
    use oxmpi_coll::placement::{Order, Placement};

    use super::{EndpointNodes, on_one_node, one_rank_per_node};

    /// Two ranks on each of four nodes, in any order, and what that is.
    #[test]
    fn parts_have_placements_of_their_own() {
        let nodes = EndpointNodes::new((0..8).map(|rank| rank / 2).collect());
        let new = Placement::new;
        for (names, place) in [
            (&[0, 1, 2, 3, 4, 5, 6, 7][..], new(Order::Block, 8, 2)),
            (&[7, 6, 5, 4, 3, 2, 1, 0], new(Order::Block, 8, 2)),
            (&[6, 0, 2, 4, 7, 1, 3, 5], new(Order::Cyclic, 8, 2)),
            (&[2, 3, 4], new(Order::Block, 3, 2)),
            (&[5, 4], on_one_node(2)),
            (&[1, 3, 5, 7], one_rank_per_node(4)),
            // One and two ranks of a node, and three in no order.
            (&[1, 2, 3], one_rank_per_node(3)),
            (&[0, 2, 1], new(Order::Cyclic, 3, 2)),
            (&[0, 2, 3, 1], one_rank_per_node(4)),
        ] {
            assert_eq!(
                nodes.of(names.iter().copied()).placement(),
                place,
                "{names:?}"
            );
        }
    }
}
