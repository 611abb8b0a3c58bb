//! Which node each rank runs on, for any placement.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use crate::placement::Placement;

/// The nodes of a group's ranks. Local numbers are in rank order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nodes {
    /// Nodes of one capacity, filled in one of two orders.
    Even(Placement),
    /// Nodes of any sizes, with ranks in any order.
    Listed(Arc<NodeMap>),
}

impl Nodes {
    /// From each rank's node, nodes being numbered in the order of their first ranks; at least one rank.
    pub fn of(nodes: &[u32]) -> Self {
        match Placement::of(nodes) {
            Some(place) => Nodes::Even(place),
            None => Nodes::Listed(Arc::new(NodeMap::new(nodes))),
        }
    }

    /// The number of ranks.
    pub fn size(&self) -> u32 {
        match self {
            Nodes::Even(place) => place.size(),
            Nodes::Listed(map) => map.size(),
        }
    }

    /// The number of nodes.
    #[inline]
    pub fn count(&self) -> u32 {
        match self {
            Nodes::Even(place) => place.nodes(),
            Nodes::Listed(map) => map.count(),
        }
    }

    /// The rank's node.
    #[inline]
    pub fn node(&self, rank: u32) -> u32 {
        match self {
            Nodes::Even(place) => place.node(rank),
            Nodes::Listed(map) => map.node(rank),
        }
    }

    /// The rank's local number on its node.
    #[inline]
    pub fn local(&self, rank: u32) -> u32 {
        match self {
            Nodes::Even(place) => place.local(rank),
            Nodes::Listed(map) => map.local(rank),
        }
    }

    /// The ranks of a node by local number.
    pub fn ranks_on(&self, node: u32) -> impl ExactSizeIterator<Item = u32> {
        let size = match self {
            Nodes::Even(place) => place.ranks_on(node),
            Nodes::Listed(map) => map.ranks_on(node).len() as u32,
        };
        (0..size).map(move |local| match self {
            Nodes::Even(place) => place.rank(node, local),
            Nodes::Listed(map) => map.ranks_on(node)[local as usize],
        })
    }

    /// The placement that algorithms which know nodes of one capacity are given: where nodes differ, each rank
    /// counts as a node of its own.
    pub fn placement(&self) -> Placement {
        match self {
            Nodes::Even(place) => *place,
            Nodes::Listed(map) => Placement::new(Default::default(), map.size(), 1),
        }
    }
}

impl From<Placement> for Nodes {
    fn from(place: Placement) -> Self {
        Nodes::Even(place)
    }
}

/// Nodes of any sizes, with ranks in any order.
///
/// A *slot* numbers the ranks node by node, inside a node in rank order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeMap {
    /// The node of each rank.
    nodes: Vec<u32>,
    /// The slot of each rank.
    slots: Vec<u32>,
    /// The rank in each slot.
    ranks: Vec<u32>,
    /// The first slot of each node, and the number of slots.
    starts: Vec<u32>,
    /// Ranges of ranks whose slots follow one another, and the slots of their first ranks.
    runs: Vec<Run>,
    /// The node with the most ranks.
    largest: u32,
}

/// Consecutive ranks in consecutive slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) rank: u32,
    pub(crate) slot: u32,
    pub(crate) len: u32,
}

impl NodeMap {
    /// From each rank's node, nodes being numbered in the order of their first ranks.
    ///
    /// # Cost
    ///
    /// Linear in ranks, in time and memory.
    pub fn new(nodes: &[u32]) -> Self {
        let count = nodes.iter().max().map_or(0, |last| last + 1);
        let mut starts = vec![0; count as usize + 1];
        nodes
            .iter()
            .for_each(|&node| starts[node as usize + 1] += 1);
        for node in 1..starts.len() {
            starts[node] += starts[node - 1];
        }
        let mut free = starts.clone();
        let mut ranks = vec![0; nodes.len()];
        let mut runs: Vec<Run> = Vec::new();
        let mut place = |(rank, &node): (u32, &u32)| {
            let slot = free[node as usize];
            free[node as usize] += 1;
            ranks[slot as usize] = rank;
            match runs.last_mut().filter(|run| run.slot + run.len == slot) {
                Some(run) => run.len += 1,
                None => runs.push(Run { rank, slot, len: 1 }),
            }
            slot
        };
        let slots = (0..).zip(nodes).map(&mut place).collect();
        let size = |&node: &u32| starts[node as usize + 1] - starts[node as usize];
        let largest = (0..count).rev().max_by_key(size).unwrap_or(0);
        NodeMap {
            nodes: nodes.to_vec(),
            slots,
            ranks,
            starts,
            runs,
            largest,
        }
    }

    /// The number of ranks.
    pub fn size(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// The number of nodes.
    pub fn count(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// The rank's node.
    pub fn node(&self, rank: u32) -> u32 {
        self.nodes[rank as usize]
    }

    /// The rank's local number on its node.
    pub fn local(&self, rank: u32) -> u32 {
        self.slots[rank as usize] - self.start(self.node(rank))
    }

    /// The rank's slot.
    pub fn slot(&self, rank: u32) -> u32 {
        self.slots[rank as usize]
    }

    /// The rank in a slot.
    pub fn rank(&self, slot: u32) -> u32 {
        self.ranks[slot as usize]
    }

    /// The ranks of a node by local number.
    pub fn ranks_on(&self, node: u32) -> &[u32] {
        &self.ranks[self.start(node) as usize..self.start(node + 1) as usize]
    }

    /// The node with the most ranks, the first of several.
    pub fn largest(&self) -> u32 {
        self.largest
    }

    /// The most ranks on a node.
    pub fn most(&self) -> u32 {
        self.ranks_on(self.largest).len() as u32
    }

    /// The first slot of a node; of the number of nodes: the number of slots.
    pub(crate) fn start(&self, node: u32) -> u32 {
        self.starts[node as usize]
    }

    /// The ranks whose slots follow one another.
    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Whether slots are ranks: each node has consecutive ranks.
    pub fn is_in_order(&self) -> bool {
        self.runs.len() <= 1
    }
}

#[cfg(test)]
mod tests {
    use super::{NodeMap, Nodes};
    use crate::placement::{Order, Placement};

    #[test]
    fn nodes_that_are_alike_are_even() {
        let even = Nodes::of(&[0, 0, 1, 1, 2]);
        assert_eq!(even, Placement::new(Order::Block, 5, 2).into());
        let listed = Nodes::of(&[0, 1, 1]);
        assert!(matches!(listed, Nodes::Listed(_)));
        assert_eq!(listed.placement(), Placement::new(Order::Block, 3, 1));
        for nodes in [even, listed] {
            for node in 0..nodes.count() {
                for (local, rank) in (0..).zip(nodes.ranks_on(node)) {
                    assert_eq!((nodes.node(rank), nodes.local(rank)), (node, local));
                }
            }
        }
    }

    #[test]
    fn slots_are_filled_node_by_node() {
        let map = NodeMap::new(&[0, 1, 0, 2, 1, 1]);
        assert_eq!((map.size(), map.count()), (6, 3));
        let ranks = [0, 1, 2].map(|node| map.ranks_on(node));
        assert_eq!(ranks, [&[0, 2][..], &[1, 4, 5], &[3]]);
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(|rank| map.local(rank)),
            [0, 0, 1, 0, 1, 2]
        );
        assert_eq!([0, 1, 2, 3].map(|node| map.start(node)), [0, 2, 5, 6]);
        assert_eq!((map.largest(), map.most()), (1, 3));
        assert!(!map.is_in_order() && NodeMap::new(&[0, 1, 1]).is_in_order());
        // Every rank is in one run, and its slot is where the run says.
        let mut ranks = 0..;
        for run in map.runs() {
            for n in 0..run.len {
                assert_eq!(Some(run.rank + n), ranks.next());
                assert_eq!(map.slots[(run.rank + n) as usize], run.slot + n);
            }
        }
        assert_eq!(ranks.start, 6);
    }
}
