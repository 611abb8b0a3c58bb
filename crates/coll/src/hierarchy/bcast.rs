//! Broadcast, node-aware: from the root to the leaders of all nodes, and then inside each node.
//!
//! The vector enters each node once. Both phases are trees of one kind, or inside the nodes an intra-node
//! operation.

use super::{IntraNode, IntraNodePhase, NodeLeaders};
use crate::bcast::BcastTree;
use crate::call::{Call, Parameters};
use crate::plan::renamed;
use crate::plan::{Act, Acts, Buf, Plan, PlanInputs};
use crate::tree::{self, TreePlace};

/// One rank's plan for a node-aware broadcast: at a leader the steps of the tree between the nodes;
/// then the steps inside the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeAwareBcast<T, I> {
    nodes: NodeLeaders,
    is_root: bool,
    between: Option<BcastTree<T>>,
    inside: I,
}

/// Bcast node-aware: k-nomial trees between and inside nodes.
pub(crate) type KnomialBcast = NodeAwareBcast<tree::KnomialPlace, BcastTree<tree::KnomialPlace>>;

/// Bcast postal: postal trees between and inside nodes.
pub(crate) type PostalBcast = NodeAwareBcast<tree::PostalPlace, BcastTree<tree::PostalPlace>>;

/// Bcast intra-node: a k-nomial tree between nodes, intra-node operations inside.
pub(crate) type IntraNodeBcast = NodeAwareBcast<tree::KnomialPlace, IntraNode>;

impl<T: TreePlace, I: IntraNodePhase> NodeAwareBcast<T, I> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let nodes = NodeLeaders::of(call, parameters);
        let between = Call::bcast(nodes.node(), nodes.count(), nodes.root(), call.count);
        NodeAwareBcast {
            nodes,
            is_root: call.rank == call.root,
            between: nodes.leads().then(|| BcastTree::of(&between, parameters)),
            inside: inside(nodes, call.count, parameters),
        }
    }

    /// At most the rounds with one message at a time; exact with one rank per node.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let nodes = NodeLeaders::of(call, parameters);
        let between = Call::bcast(0, nodes.count(), nodes.root(), call.count);
        T::rounds(&between, parameters) + I::most_rounds(nodes.most(), parameters)
    }
}

/// The phase from the leader of a node to its other ranks.
pub(super) fn inside<I: IntraNodePhase>(
    nodes: NodeLeaders,
    count: u64,
    parameters: &Parameters,
) -> I {
    let (local, leader) = (nodes.local(), nodes.local_leader());
    let call = Call::bcast(local, nodes.ranks(), leader, count);
    I::of(&call, parameters)
}

/// An act inside the node, with the leader's input in `Out`.
pub(super) fn from_output(act: Act) -> Act {
    act.with_parts(|part| part.moved(Buf::In, Buf::Out, 0))
}

impl<T: TreePlace, I: IntraNodePhase> Plan for NodeAwareBcast<T, I> {
    fn steps(&self) -> u32 {
        self.between.map_or(0, |plan| plan.steps()) + self.inside.steps()
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let before = self.between.map_or(0, |plan| plan.steps());
        if let Some(between) = self.between.filter(|_| i < before) {
            return renamed(&between, i, inputs, acts, |act| self.nodes.between(act));
        }
        let inside = |act| match self.is_root {
            true => self.nodes.inside(act),
            false => from_output(self.nodes.inside(act)),
        };
        Some(before + renamed(&self.inside, i - before, inputs, acts, inside)?)
    }
}
