//! Barrier, node-aware: k-nomial trees inside the nodes and dissemination between their leaders.
//!
//! Each node signals its leader up a tree, the leaders run a dissemination barrier, and each leader releases
//! its node down the tree. Only the leader of a node exchanges messages with other nodes, so an adapter
//! carries as many signals as for a single rank. Where signals are flags in the receiver's memory, nothing is
//! matched.
//!
//! In block placement the last node may have fewer ranks; in cyclic placement nodes must be full, else
//! each rank counts as a node of its own.

use super::NodeLeaders;
use crate::barrier::Dissemination;
use crate::call::{Call, Parameters};
use crate::digits::Digits;
use crate::plan::renamed;
use crate::plan::{Acts, Part, Plan, PlanInputs};
use crate::tree::{self, TreePlace};

const ENTERED: u32 = 0;
const RELEASED: u32 = 1;

/// One rank's plan for a node-aware barrier: a step for each child slot in its node's tree; then at a leader
/// the steps of dissemination, at another rank one that signals its parent and one that waits for it; then a
/// step for each child slot again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeAwareBarrier {
    nodes: NodeLeaders,
    tree: tree::KnomialPlace,
    between: Dissemination,
}

impl NodeAwareBarrier {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let nodes = NodeLeaders::of(call, parameters);
        let leaders = Call::barrier(nodes.node(), nodes.count());
        NodeAwareBarrier {
            nodes,
            tree: tree::KnomialPlace::new(nodes.local(), nodes.ranks(), 0, parameters.radix),
            between: Dissemination::of(&leaders, parameters),
        }
    }

    /// At most the rounds with one message at a time; exact with one rank per node.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let nodes = NodeLeaders::of(call, parameters);
        let exchanges = |ranks| u64::from(Digits::new(ranks, parameters.radix).exchanges());
        2 * exchanges(nodes.most()) + exchanges(nodes.count())
    }

    fn child(&self, at: u32) -> Option<u32> {
        let child = self.tree.down(at);
        child.map(|edge| self.nodes.neighbor(edge.peer))
    }

    /// The steps between hearing from the children and releasing them.
    fn middle(&self) -> u32 {
        match self.tree.parent() {
            Some(_) => 2,
            None => self.between.steps(),
        }
    }

    /// Step `i` of these.
    fn middle_step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        if let Some(parent) = self.tree.parent().map(|local| self.nodes.neighbor(local)) {
            match i {
                0 => acts.send(parent, ENTERED, Part::EMPTY),
                _ => acts.recv(parent, RELEASED, Part::EMPTY),
            }
            return Some(0);
        }
        renamed(&self.between, i, inputs, acts, |act| {
            self.nodes.between(act)
        })
    }
}

impl Plan for NodeAwareBarrier {
    fn steps(&self) -> u32 {
        2 * self.tree.places() + self.middle()
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let (children, middle) = (self.tree.places(), self.middle());
        if i < children {
            if let Some(child) = self.child(i) {
                acts.recv(child, ENTERED, Part::EMPTY);
            }
            Some(0)
        } else if i < children + middle {
            Some(children + self.middle_step(i - children, inputs, acts)?)
        } else {
            // Release the child with the largest subtree first.
            if let Some(child) = self.child(2 * children + middle - 1 - i) {
                acts.send(child, RELEASED, Part::EMPTY);
            }
            Some(children + middle)
        }
    }
}
