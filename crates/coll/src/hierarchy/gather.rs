//! Gather, node-aware: inside each node to its leader, then between the leaders to the root.
//!
//! One message with the blocks of its ranks leaves each node. Both phases are k-nomial trees, or inside the
//! nodes intra-node operations. Nodes are filled in blocks, the last one perhaps in part; in cyclic placement
//! each rank counts as a node of its own.

use super::{IntraNode, IntraNodePhase, NodeBlocks};
use crate::call::{Call, Parameters};
use crate::gather::GatherKnomial;
use crate::plan::renamed;
use crate::plan::{Acts, Buf, Plan, PlanInputs};

/// One rank's plan for a node-aware gather: the steps inside its node; at a leader those of
/// the tree between the nodes, whose blocks are those of whole nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeAwareGather<I> {
    blocks: NodeBlocks,
    inside: I,
    between: Option<GatherKnomial>,
}

/// Up trees inside.
pub(crate) type KnomialGather = NodeAwareGather<GatherKnomial>;

/// With intra-node operations inside the nodes.
pub(crate) type IntraNodeGather = NodeAwareGather<IntraNode>;

impl<I: IntraNodePhase> NodeAwareGather<I> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let blocks = NodeBlocks::of(call, parameters);
        let nodes = blocks.nodes();
        let count = call.count;
        let within = Call::gather(nodes.local(), nodes.ranks(), nodes.local_leader(), count)
            .with_in_place(call.in_place);
        let between = Call::gather(nodes.node(), nodes.count(), nodes.root(), blocks.longest())
            .with_in_place(call.rank == call.root);
        NodeAwareGather {
            blocks,
            inside: I::of(&within, parameters),
            between: nodes
                .leads()
                .then(|| GatherKnomial::of(&between, parameters)),
        }
    }
}

impl<I: IntraNodePhase> Plan for NodeAwareGather<I> {
    fn steps(&self) -> u32 {
        self.inside.steps() + self.between.map_or(0, |plan| plan.steps())
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        let between = self.between.map_or(0, |plan| plan.scratch(inputs));
        self.blocks.kept() + self.inside.scratch(inputs).max(between)
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let before = self.inside.steps();
        match self.between {
            Some(plan) if i >= before => {
                let across = |act| {
                    self.blocks
                        .across(self.blocks.nodes().between(act), Buf::In, plan.first())
                };
                Some(before + renamed(&plan, i - before, inputs, acts, across)?)
            }
            _ => renamed(&self.inside, i, inputs, acts, |act| {
                self.blocks.within(act, Buf::Out)
            }),
        }
    }
}
