//! Which node each rank runs on.

/// The order in which ranks are dealt to nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// A node is filled before the next one: neighbours in rank are neighbours in place.
    #[default]
    Block,
    /// One rank to each node in turn.
    Cyclic,
}

/// Ranks on nodes of the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    order: Order,
    size: u32,
    per_node: u32,
    nodes: u32,
}

impl Placement {
    /// `size` ranks, at most `per_node` on each node; 0 of either counts as 1.
    pub fn new(order: Order, size: u32, per_node: u32) -> Self {
        let (size, per_node) = (size.max(1), per_node.max(1));
        Placement {
            order,
            size,
            per_node,
            nodes: size.div_ceil(per_node),
        }
    }

    /// Number of ranks.
    pub const fn size(&self) -> u32 {
        self.size
    }

    /// Number of nodes.
    pub const fn nodes(&self) -> u32 {
        self.nodes
    }

    /// The most ranks on a node.
    pub const fn per_node(&self) -> u32 {
        self.per_node
    }

    /// The order of dealing.
    pub const fn order(&self) -> Order {
        self.order
    }

    /// The rank's node.
    #[inline]
    pub const fn node(&self, rank: u32) -> u32 {
        match self.order {
            Order::Block => rank / self.per_node,
            Order::Cyclic => rank % self.nodes,
        }
    }

    /// The rank's number on its node.
    #[inline]
    pub const fn local(&self, rank: u32) -> u32 {
        match self.order {
            Order::Block => rank % self.per_node,
            Order::Cyclic => rank / self.nodes,
        }
    }

    /// The rank with this number on that node; it may not exist where nodes are not full.
    #[inline]
    pub const fn rank(&self, node: u32, local: u32) -> u32 {
        match self.order {
            Order::Block => node * self.per_node + local,
            Order::Cyclic => local * self.nodes + node,
        }
    }

    /// Whether nodes are filled one after another, all to the brim: then the group looks the same from every node.
    pub const fn is_uniform(&self) -> bool {
        matches!(self.order, Order::Block) && self.size.is_multiple_of(self.per_node)
    }
}

#[cfg(test)]
mod tests {
    use super::{Order, Placement};

    #[test]
    fn every_rank_has_a_place_of_its_own() {
        for order in [Order::Block, Order::Cyclic] {
            for (size, per_node) in [(1, 1), (7, 3), (12, 4), (5, 8)] {
                let placement = Placement::new(order, size, per_node);
                for rank in 0..size {
                    let (node, local) = (placement.node(rank), placement.local(rank));
                    assert_eq!(placement.rank(node, local), rank);
                    assert!(
                        node < placement.nodes() && local < per_node,
                        "{placement:?}"
                    );
                }
            }
        }
    }
}
