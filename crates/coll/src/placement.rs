//! Which node each rank runs on.

/// The order in which ranks are assigned to nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Fill a node before the next one: consecutive ranks share a node.
    #[default]
    Block,
    /// Assign ranks to nodes round-robin.
    Cyclic,
}

/// The placement of ranks on nodes of equal capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    order: Order,
    size: u32,
    per_node: u32,
    nodes: u32,
}

impl Placement {
    /// Places `size` ranks, at most `per_node` on a node; 0 of either counts as 1.
    pub fn new(order: Order, size: u32, per_node: u32) -> Self {
        let (size, room) = (size.max(1), per_node.max(1));
        let nodes = size.div_ceil(room);
        let per_node = match order {
            Order::Block => room,
            Order::Cyclic => size.div_ceil(nodes),
        };
        Placement {
            order,
            size,
            per_node,
            nodes,
        }
    }

    /// [`Placement::new`], but one node for all ranks where `per_node` is 0.
    pub fn or_one_node(order: Order, size: u32, per_node: u32) -> Self {
        match per_node {
            0 => Placement::new(order, size, size),
            some => Placement::new(order, size, some),
        }
    }

    /// Recognises the placement of ranks from each rank's node, nodes being numbered in the order of their
    /// first ranks. `None` where it is neither order, as with nodes of different sizes; callers then take
    /// each rank for a node of its own.
    ///
    /// # Cost
    /// Reads each rank's node at most twice.
    pub fn of(nodes: &[u32]) -> Option<Self> {
        let size = u32::try_from(nodes.len()).ok().filter(|size| *size > 0)?;
        let first_block = nodes.iter().take_while(|node| **node == 0).count() as u32;
        let count = nodes.iter().zip(0..).take_while(|(node, at)| **node == *at);
        let per_node = size.div_ceil((count.count() as u32).max(1));
        let orders = [(Order::Block, first_block), (Order::Cyclic, per_node)];
        let placements = orders.map(|(order, most)| Self::new(order, size, most));
        let fits = |place: &Self| {
            (0..size)
                .zip(nodes)
                .all(|(rank, node)| place.node(rank) == *node)
        };
        placements.into_iter().find(fits)
    }

    /// Number of ranks.
    pub const fn size(&self) -> u32 {
        self.size
    }

    /// Number of nodes.
    pub const fn nodes(&self) -> u32 {
        self.nodes
    }

    /// The most ranks on a node: cyclic, the ranks on the first node; in blocks, the capacity of a node,
    /// which a single node need not fill.
    pub const fn per_node(&self) -> u32 {
        self.per_node
    }

    /// The number of ranks on a node.
    pub const fn ranks_on(&self, node: u32) -> u32 {
        match self.order {
            Order::Block if node + 1 < self.nodes => self.per_node,
            Order::Block => self.size - node * self.per_node,
            Order::Cyclic => (self.size - node).div_ceil(self.nodes),
        }
    }

    /// The number of ranks on the last node.
    pub const fn on_last_node(&self) -> u32 {
        self.ranks_on(self.nodes - 1)
    }

    /// The order of assignment.
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

    /// The rank's local number on its node.
    #[inline]
    pub const fn local(&self, rank: u32) -> u32 {
        match self.order {
            Order::Block => rank % self.per_node,
            Order::Cyclic => rank / self.nodes,
        }
    }

    /// The rank with this local number on the node; it may not exist where nodes are not full.
    #[inline]
    pub const fn rank(&self, node: u32, local: u32) -> u32 {
        match self.order {
            Order::Block => node * self.per_node + local,
            Order::Cyclic => local * self.nodes + node,
        }
    }

    /// Whether all nodes are full and filled in blocks, so that the group looks the same from every node.
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
            for (size, per_node) in [(1, 1), (7, 3), (12, 4), (5, 8), (9, 5), (68, 64)] {
                let placement = Placement::new(order, size, per_node);
                let on_node = |node| (0..size).filter(|&r| placement.node(r) == node).count();
                let most = (0..placement.nodes()).map(on_node).max();
                let expected = placement.per_node().min(size);
                assert_eq!(most, Some(expected as usize));
                for node in 0..placement.nodes() {
                    assert_eq!(placement.ranks_on(node) as usize, on_node(node));
                }
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

    #[test]
    fn placements_are_found_in_lists_of_nodes() {
        for order in [Order::Block, Order::Cyclic] {
            for (size, per_node) in [(1, 1), (6, 1), (6, 6), (7, 3), (12, 4), (5, 8), (64, 16)] {
                let placement = Placement::new(order, size, per_node);
                let mut nodes = [0; 64];
                (0..size).for_each(|r| nodes[r as usize] = placement.node(r));
                let found = Placement::of(&nodes[..size as usize]).expect("an order");
                let same = (0..size).all(|r| found.node(r) == placement.node(r));
                assert!(
                    same && found.nodes() == placement.nodes(),
                    "{found:?} {placement:?}"
                );
            }
        }
        let other = [
            &[0, 1, 1][..],
            &[0, 0, 1, 1, 1],
            &[0, 0, 1, 2, 2],
            &[0, 1, 1, 0],
            &[0, 1, 0, 2],
            &[0, 0, 1, 0],
            &[],
            &[1, 0],
        ];
        for nodes in other {
            assert_eq!(Placement::of(nodes), None, "{nodes:?}");
        }
    }
}
