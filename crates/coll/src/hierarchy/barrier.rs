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
use crate::barrier::{Dissemination, Signals};
use crate::call::{Call, Parameters};
use crate::digits::Digits;
use crate::plan::renamed;
use crate::plan::{Acts, Plan, PlanInputs};

/// One rank's plan for a node-aware barrier: the signals up its node; at a leader the steps of dissemination; the
/// signals down its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeAwareBarrier {
    nodes: NodeLeaders,
    up: Signals,
    between: Option<Dissemination>,
    down: Signals,
}

impl NodeAwareBarrier {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let nodes = NodeLeaders::of(call, parameters);
        let (local, ranks, radix) = (nodes.local(), nodes.ranks(), parameters.radix);
        let leaders = Call::barrier(nodes.node(), nodes.count());
        NodeAwareBarrier {
            nodes,
            up: Signals::up(local, ranks, radix),
            between: (nodes.leads()).then(|| Dissemination::of(&leaders, parameters)),
            down: Signals::down(local, ranks, radix),
        }
    }

    /// At most the rounds with one message at a time; exact with one rank per node.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let nodes = NodeLeaders::of(call, parameters);
        let exchanges = |ranks| u64::from(Digits::new(ranks, parameters.radix).exchanges());
        2 * exchanges(nodes.most()) + exchanges(nodes.count())
    }

    /// The number of steps up the node, and of steps before the way down.
    fn ends(&self) -> [u32; 2] {
        let up = self.up.steps();
        [up, up + self.between.map_or(0, |plan| plan.steps())]
    }
}

impl Plan for NodeAwareBarrier {
    fn steps(&self) -> u32 {
        self.ends()[1] + self.down.steps()
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let [up, between] = self.ends();
        if i < up {
            return renamed(&self.up, i, inputs, acts, |act| self.nodes.inside(act));
        }
        if let Some(plan) = self.between.filter(|_| i < between) {
            let needs = renamed(&plan, i - up, inputs, acts, |act| self.nodes.between(act));
            return Some(up + needs?);
        }
        let inside = |act| self.nodes.inside(act);
        Some(between + renamed(&self.down, i - between, inputs, acts, inside)?)
    }
}
