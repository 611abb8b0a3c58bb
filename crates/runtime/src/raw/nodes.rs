//! The nodes of an endpoint's ranks.

use std::sync::Arc;

use oxmpi_coll::placement::Placement;

use super::group::apart;

/// The node of each rank of an endpoint, by name. Every rank has the same list.
#[derive(Clone, Debug)]
pub(super) struct NodeMap(Arc<[u32]>);

impl NodeMap {
    /// Ranks on these nodes.
    pub(super) fn new(nodes: Vec<u32>) -> Self {
        Self(nodes.into())
    }

    /// How the ranks of these names, in this order, are placed. Where that is neither in blocks nor in
    /// turn, each is taken for a node of its own. Who gives the same names finds the same.
    pub(super) fn placement(&self, names: impl Iterator<Item = u32>) -> Placement {
        let mut seen = vec![None; self.0.len()];
        let mut count = 0;
        let number = |name| {
            let node: u32 = self.0[name as usize];
            *seen[node as usize].get_or_insert_with(|| {
                count += 1;
                count - 1
            })
        };
        let nodes: Vec<u32> = names.map(number).collect();
        Placement::of(&nodes).unwrap_or_else(|| apart(nodes.len() as u32))
    }
}

#[cfg(test)]
mod tests {
    use oxmpi_coll::placement::{Order, Placement};

    use super::NodeMap;
    use crate::raw::group::{apart, on_one_node};

    /// Two ranks on each of four nodes, in any order, and what that is.
    #[test]
    fn parts_have_placements_of_their_own() {
        let nodes = NodeMap::new((0..8).map(|rank| rank / 2).collect());
        let new = Placement::new;
        for (names, place) in [
            (&[0, 1, 2, 3, 4, 5, 6, 7][..], new(Order::Block, 8, 2)),
            (&[7, 6, 5, 4, 3, 2, 1, 0], new(Order::Block, 8, 2)),
            (&[6, 0, 2, 4, 7, 1, 3, 5], new(Order::Cyclic, 8, 2)),
            (&[2, 3, 4], new(Order::Block, 3, 2)),
            (&[5, 4], on_one_node(2)),
            (&[1, 3, 5, 7], apart(4)),
            // One and two ranks of a node, and three in no order.
            (&[1, 2, 3], apart(3)),
            (&[0, 2, 1], new(Order::Cyclic, 3, 2)),
            (&[0, 2, 3, 1], apart(4)),
        ] {
            assert_eq!(nodes.placement(names.iter().copied()), place, "{names:?}");
        }
    }
}
