//! Gather inside each node to its leader, and then between the leaders to the root.
//!
//! One message leaves each node, with the blocks of its ranks. Both are k-nomial trees, or inside the nodes
//! ranks act together. Nodes are
//! filled one after another, the last one perhaps in part; where ranks are dealt to nodes in turn each
//! is a node of its own.

use super::{InTeam, Inside, NodeBlocks, Nodes, renamed};
use crate::catalog::{Call, Parameters};
use crate::gather::Knomial;
use crate::plan::{Act, Acts, Buf, Known, Plan};

/// One rank's part in a node-aware gather: the steps inside its node; at a leader those of
/// the tree between the nodes, whose blocks are those of whole nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gather<I> {
    nodes: Nodes,
    blocks: NodeBlocks,
    inside: I,
    between: Option<Knomial>,
}

/// Up trees inside.
pub type KnomialGather = Gather<Knomial>;

/// Together inside.
pub type TeamGather = Gather<InTeam>;

impl<I: Inside> Gather<I> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let blocks = NodeBlocks::of(call, parameters);
        let nodes = blocks.nodes();
        let count = call.count;
        let within = Call::gather(nodes.local(), nodes.ranks(), nodes.local_leader(), count)
            .with_in_place(call.in_place);
        let between = Call::gather(nodes.node(), nodes.count(), nodes.root(), blocks.longest())
            .with_in_place(call.rank == call.root);
        Gather {
            nodes,
            blocks,
            inside: I::of(&within, parameters),
            between: nodes.leads().then(|| Knomial::of(&between, parameters)),
        }
    }

    /// An act inside the node: its leader gathers where its node's blocks are kept.
    fn within(&self, act: Act) -> Act {
        let act = self.nodes.inside(act);
        match self.nodes.leads() {
            true => act.with_parts(|part| self.blocks.own(part, Buf::Out)),
            false => act,
        }
    }
}

impl<I: Inside> Plan for Gather<I> {
    fn steps(&self) -> u32 {
        self.inside.steps() + self.between.map_or(0, |plan| plan.steps())
    }

    fn scratch(&self, known: &Known<'_>) -> u64 {
        let between = self.between.map_or(0, |plan| plan.scratch(known));
        self.blocks.kept() + self.inside.scratch(known).max(between)
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let before = self.inside.steps();
        match self.between {
            Some(plan) if i >= before => {
                let across = |act| {
                    self.blocks
                        .across(self.nodes.between(act), Buf::In, plan.first())
                };
                Some(before + renamed(&plan, i - before, known, acts, across)?)
            }
            _ => renamed(&self.inside, i, known, acts, |act| self.within(act)),
        }
    }
}
