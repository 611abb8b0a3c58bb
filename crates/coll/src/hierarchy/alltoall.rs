//! Alltoall, node-aware: one message from each node to each other node.
//!
//! The ranks of a node share the other nodes among themselves: rank `l` of `m` takes those at distances `l`,
//! `l + m`, `l + 2m` and so on. First each rank gives every rank of its node its blocks for that rank's
//! nodes; then each rank sends one message to each of its nodes, to the rank with its local number; then each
//! rank distributes the received blocks on its node. A node sends `n - 1` messages of `m * m` blocks instead
//! of `m` times as many of `m` blocks, or `m * m` times as many of one block, which helps where the message
//! rate of the adapter is the limit.
//!
//! Each block travels once between nodes and at most twice inside. Kinkead and others, "Scaling
//! all-to-all operations across emerging many-core supercomputers", 2026 (arXiv 2601.17606).
//!
//! In cyclic placement each rank counts as a node of its own.

use super::full_blocks;
use crate::call::{Call, Parameters};
use crate::placement::Placement;
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs};

/// One rank's plan for a node-aware alltoall: a step for each rank of the node, itself included, that gives
/// it blocks; a step for each node of this rank's share; and again a step for each rank of the node.
///
/// Scratch holds the blocks given, by rank, and then the blocks received, by node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeAwareAlltoall {
    place: Placement,
    node: u32,
    local: u32,
    count: u64,
}

impl NodeAwareAlltoall {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let place = full_blocks(call, parameters);
        NodeAwareAlltoall {
            place,
            node: place.node(call.rank),
            local: place.local(call.rank),
            count: call.count,
        }
    }

    /// The rounds with one message at a time, where the phases do not overlap. The first rank of a
    /// node has its own node in its share, so the second may have one more node to send to.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let place = full_blocks(call, parameters);
        let (nodes, ranks) = (place.nodes(), place.per_node());
        let first = nodes.div_ceil(ranks) - 1;
        let second = if ranks > 1 {
            (nodes - 1).div_ceil(ranks)
        } else {
            0
        };
        u64::from(first.max(second)) + 2 * u64::from(ranks - 1)
    }

    /// The number of nodes in the share of rank `local` of a node.
    const fn share(&self, local: u32) -> u32 {
        let nodes = self.place.nodes();
        if local < nodes {
            (nodes - local).div_ceil(self.place.per_node())
        } else {
            0
        }
    }

    /// The elements that a rank has for one node.
    const fn for_node(&self) -> u64 {
        self.place.per_node() as u64 * self.count
    }

    /// The parts of `buf`, one block per rank, of every `per_node`-th node from `first` on, `times` of them.
    fn nodes(&self, buf: Buf, first: u32, times: u32) -> Part {
        let step = u64::from(self.place.per_node()) * self.for_node();
        Part::new(buf, u64::from(first) * self.for_node(), self.for_node())
            .repeated(times, step as i64)
            .around(u64::from(self.place.size()) * self.count)
    }

    /// The node that lies `distance` above this one.
    const fn above(&self, distance: u32) -> u32 {
        (self.node + distance) % self.place.nodes()
    }

    /// The node that lies `distance` below this one.
    const fn below(&self, distance: u32) -> u32 {
        let nodes = self.place.nodes();
        (self.node + nodes - distance % nodes) % nodes
    }

    /// The blocks of rank `local` of this node for this rank's nodes, once given.
    fn given(&self, local: u32) -> Part {
        let length = u64::from(self.share(self.local)) * self.for_node();
        Part::new(Buf::Scratch, u64::from(local) * length, length)
    }

    /// Where in scratch the received blocks begin.
    fn came(&self) -> u64 {
        u64::from(self.place.per_node() * self.share(self.local)) * self.for_node()
    }

    /// Gives the rank `distance` above on this node the blocks for its nodes.
    fn give(&self, distance: u32, acts: &mut Acts) {
        let (below, above) = self.neighbors(distance);
        let mine = |local: u32| self.nodes(Buf::In, self.above(local), self.share(local));
        if distance == 0 {
            self.keep(mine(self.local), self.given(self.local), acts);
        } else {
            self.exchange((below, self.given(below)), (above, mine(above)), acts);
        }
    }

    /// Sends to node number `nth` of this rank's share, and receives from the node as far below.
    fn cross(&self, nth: u32, acts: &mut Acts) {
        let share = self.share(self.local);
        let distance = self.local + nth * self.place.per_node();
        let from = Part::new(
            Buf::Scratch,
            u64::from(nth) * self.for_node(),
            self.for_node(),
        )
        .repeated(
            self.place.per_node(),
            (u64::from(share) * self.for_node()) as i64,
        );
        // The farthest node comes first, so that nodes are in rank order.
        let slot = u64::from(share - 1 - nth) * from.len();
        let into = Part::new(Buf::Scratch, self.came() + slot, from.len());
        if distance == 0 {
            acts.copy(from, into);
        } else {
            let rank = |node| self.place.rank(node, self.local);
            acts.recv(rank(self.below(distance)), 0, into);
            acts.send(rank(self.above(distance)), 0, from);
        }
    }

    /// Gives the rank `distance` above on this node the blocks received for it.
    fn hand(&self, distance: u32, acts: &mut Acts) {
        let (below, above) = self.neighbors(distance);
        let came = |local: u32| {
            let all = self.share(self.local) * self.place.per_node();
            let first = self.came() + u64::from(local) * self.count;
            Part::new(Buf::Scratch, first, self.count).repeated(all, self.for_node() as i64)
        };
        let belongs = |local: u32| {
            let share = self.share(local);
            let farthest = local + share.saturating_sub(1) * self.place.per_node();
            self.nodes(Buf::Out, self.below(farthest), share)
        };
        if distance == 0 {
            self.keep(came(self.local), belongs(self.local), acts);
        } else {
            self.exchange((below, belongs(below)), (above, came(above)), acts);
        }
    }

    /// The ranks of this node `distance` below and above.
    const fn neighbors(&self, distance: u32) -> (u32, u32) {
        let ranks = self.place.per_node();
        (
            (self.local + ranks - distance) % ranks,
            (self.local + distance) % ranks,
        )
    }

    fn keep(&self, from: Part, into: Part, acts: &mut Acts) {
        if !from.is_empty() {
            acts.copy(from, into);
        }
    }

    /// Receives from one rank of this node and sends to another; empty messages do not travel.
    fn exchange(&self, recv: (u32, Part), send: (u32, Part), acts: &mut Acts) {
        let rank = |local| self.place.rank(self.node, local);
        crate::eager::exchange(acts, 0, (rank(recv.0), recv.1), (rank(send.0), send.1));
    }
}

impl Plan for NodeAwareAlltoall {
    fn steps(&self) -> u32 {
        match self.count {
            0 => 0,
            _ => 2 * self.place.per_node() + self.share(self.local),
        }
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        2 * self.came()
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let (ranks, share) = (self.place.per_node(), self.share(self.local));
        if i < ranks {
            self.give(i, acts);
            Some(0)
        } else if i < ranks + share {
            self.cross(i - ranks, acts);
            Some(ranks)
        } else {
            self.hand(i - ranks - share, acts);
            Some(ranks + share)
        }
    }
}
