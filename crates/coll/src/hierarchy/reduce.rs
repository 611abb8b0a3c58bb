//! Reduce, node-aware: inside each node to its leader, then between the leaders to the root.
//!
//! One vector leaves each node. Both phases are trees of one kind, or inside the nodes intra-node
//! operations. k-nomial trees keep the rank order, so operations need not commute in block placement.

use super::{IntraNode, IntraNodePhase, NodeLeaders};
use crate::call::{Call, Parameters};
use crate::plan::renamed;
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs};
use crate::reduce::ReduceTree;
use crate::tree::{self, TreePlace};

/// One rank's plan for a node-aware reduction: the steps inside its node, if it is not alone there, and at a
/// leader those of the tree between the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeAwareReduce<T, I> {
    nodes: NodeLeaders,
    /// The elements at the start of scratch in which a leader other than the root keeps its node's sum.
    kept: u64,
    inside: Option<I>,
    between: Option<ReduceTree<T>>,
}

/// Reduce node-aware: k-nomial trees inside and between nodes.
pub(crate) type KnomialReduce = NodeAwareReduce<tree::KnomialPlace, ReduceTree<tree::KnomialPlace>>;

/// Reduce postal: postal trees inside and between nodes.
pub(crate) type PostalReduce = NodeAwareReduce<tree::PostalPlace, ReduceTree<tree::PostalPlace>>;

/// Reduce intra-node: intra-node operations, then a k-nomial tree between leaders.
pub(crate) type IntraNodeReduce = NodeAwareReduce<tree::KnomialPlace, IntraNode>;

impl<T: TreePlace, I: IntraNodePhase> NodeAwareReduce<T, I> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let nodes = NodeLeaders::of(call, parameters);
        let (is_root, is_alone) = (call.rank == call.root, nodes.ranks() == 1);
        let count = call.count;
        let within = Call::reduce(nodes.local(), nodes.ranks(), nodes.local_leader(), count, 1)
            .with_in_place(call.in_place);
        let between = Call::reduce(nodes.node(), nodes.count(), nodes.root(), count, 1)
            .with_in_place(is_root && (call.in_place || !is_alone));
        NodeAwareReduce {
            nodes,
            kept: if nodes.leads() && !is_root && !is_alone {
                count
            } else {
                0
            },
            inside: (!is_alone).then(|| I::of(&within, parameters)),
            between: nodes.leads().then(|| ReduceTree::of(&between, parameters)),
        }
    }

    /// At most the rounds with one message at a time; exact with one rank per node.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let nodes = NodeLeaders::of(call, parameters);
        let between = Call::bcast(0, nodes.count(), nodes.root(), call.count);
        T::rounds(&between, parameters) + I::most_rounds(nodes.most(), parameters)
    }

    /// Where a part of a tree's plan is, with the node's sum in its buffer `sum`.
    fn part(&self, part: Part, sum: Buf) -> Part {
        match self.kept {
            0 => part,
            kept if part.buf == Buf::Scratch => part.moved(Buf::Scratch, Buf::Scratch, kept),
            _ => part.moved(sum, Buf::Scratch, 0),
        }
    }
}

impl<T: TreePlace, I: IntraNodePhase> Plan for NodeAwareReduce<T, I> {
    fn steps(&self) -> u32 {
        let inside = self.inside.as_ref().map_or(0, Plan::steps);
        inside + self.between.map_or(0, |plan| plan.steps())
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        let inside = (self.inside.as_ref()).map_or(0, |plan| plan.scratch(inputs));
        self.kept + inside.max(self.between.map_or(0, |plan| plan.scratch(inputs)))
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let before = self.inside.as_ref().map_or(0, Plan::steps);
        match (&self.inside, self.between) {
            (Some(plan), _) if i < before => renamed(plan, i, inputs, acts, |act| {
                let act = self.nodes.inside(act);
                act.with_parts(|part| self.part(part, Buf::Out))
            }),
            (_, Some(plan)) => {
                let needs = renamed(&plan, i - before, inputs, acts, |act| {
                    let act = self.nodes.between(act);
                    act.with_parts(|part| self.part(part, Buf::In))
                });
                Some(before + needs?)
            }
            _ => Some(i),
        }
    }
}
