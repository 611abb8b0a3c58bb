//! Scatter, node-aware: from the root to the leaders of all nodes, then inside each node.
//!
//! One message with the blocks of its ranks enters each node. Both phases are k-nomial trees, or inside the
//! nodes intra-node operations. Nodes are filled in blocks, the last one perhaps in part; in cyclic placement
//! each rank counts as a node of its own.

use super::{IntraNode, IntraNodePhase, NodeBlocks};
use crate::call::{Call, Parameters};
use crate::plan::renamed;
use crate::plan::{Acts, Buf, Plan, PlanInputs};
use crate::scatter::ScatterKnomial;

/// One rank's plan for a node-aware scatter: at a leader the steps of the tree between the nodes, whose
/// blocks are those of whole nodes; then those inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeAwareScatter<I> {
    blocks: NodeBlocks,
    between: Option<ScatterKnomial>,
    inside: I,
}

/// Down trees inside.
pub(crate) type KnomialScatter = NodeAwareScatter<ScatterKnomial>;

/// With intra-node operations inside the nodes.
pub(crate) type IntraNodeScatter = NodeAwareScatter<IntraNode>;

impl<I: IntraNodePhase> NodeAwareScatter<I> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let blocks = NodeBlocks::of(call, parameters);
        let nodes = blocks.nodes();
        let count = call.count;
        let within = Call::scatter(nodes.local(), nodes.ranks(), nodes.local_leader(), count)
            .with_in_place(call.in_place);
        let between = Call::scatter(nodes.node(), nodes.count(), nodes.root(), blocks.longest())
            .with_in_place(call.rank == call.root);
        NodeAwareScatter {
            blocks,
            between: nodes
                .leads()
                .then(|| ScatterKnomial::of(&between, parameters)),
            inside: I::of(&within, parameters),
        }
    }
}

impl<I: IntraNodePhase> Plan for NodeAwareScatter<I> {
    fn steps(&self) -> u32 {
        self.between.map_or(0, |plan| plan.steps()) + self.inside.steps()
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        let between = self.between.map_or(0, |plan| plan.scratch(inputs));
        self.blocks.kept() + self.inside.scratch(inputs).max(between)
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let before = self.between.map_or(0, |plan| plan.steps());
        match self.between {
            Some(plan) if i < before => {
                let across = |act| {
                    self.blocks
                        .across(self.blocks.nodes().between(act), Buf::Out, plan.first())
                };
                renamed(&plan, i, inputs, acts, across)
            }
            _ => {
                let needs = renamed(&self.inside, i - before, inputs, acts, |act| {
                    self.blocks.within(act, Buf::In)
                })?;
                // The root has its node's blocks from the start.
                Some(match needs {
                    0 if self.blocks.are_at_root() => 0,
                    _ => before + needs,
                })
            }
        }
    }
}
