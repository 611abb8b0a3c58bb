//! Allreduce, node-aware: a reduction inside each node to its first rank, an allreduce between these leaders,
//! and a broadcast inside each node. Inside the nodes ranks use trees or intra-node operations.
//!
//! Only the leader of a node exchanges messages with other nodes. In block placement the rank order is kept,
//! because either kind of tree leads to each node's first rank; all ranks get the same bits.

use super::bcast::{from_output, inside};
use super::{IntraNode, IntraNodePhase, NodeLeaders};
use crate::allreduce::{AllreduceDoubling, RecursiveSplitting};
use crate::call::{Call, Parameters};
use crate::phase::Phase;
use crate::plan::renamed;
use crate::plan::{Acts, Buf, Plan, PlanInputs, any_plan};
use crate::tree;
use crate::{bcast, reduce};

/// One rank's plan for a node-aware allreduce: the steps up its node, if it is not alone there; at a leader
/// the steps between nodes; and the steps down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeAwareAllreduce<U, B, D> {
    nodes: NodeLeaders,
    in_place: bool,
    up: Option<U>,
    between: Option<B>,
    down: Option<D>,
}

/// Allreduce node-aware: k-nomial trees inside the nodes, recursive doubling between them.
pub(crate) type KnomialAllreduce = ByTrees<tree::KnomialPlace, AllreduceDoubling>;

/// Allreduce postal: postal trees inside the nodes, recursive splitting between them.
pub(crate) type PostalAllreduce = ByTrees<tree::PostalPlace, RecursiveSplitting>;

type ByTrees<T, B> = NodeAwareAllreduce<reduce::ReduceTree<T>, B, bcast::BcastTree<T>>;

impl<U: IntraNodePhase, B: Phase + Copy, D: IntraNodePhase> NodeAwareAllreduce<U, B, D> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let nodes = NodeLeaders::of(call, parameters);
        let is_alone = nodes.ranks() == 1;
        let up = Call::reduce(nodes.local(), nodes.ranks(), 0, call.count, 1)
            .with_in_place(call.in_place && nodes.leads());
        let between = Call::allreduce(nodes.node(), nodes.count(), call.count, 1)
            .with_in_place(call.in_place || !is_alone);
        let of_leader = || B::of(&between, parameters);
        NodeAwareAllreduce {
            nodes,
            in_place: call.in_place,
            up: (!is_alone).then(|| U::of(&up, parameters)),
            between: nodes.leads().then(of_leader),
            down: (!is_alone).then(|| inside(nodes, call.count, parameters)),
        }
    }

    /// At most the rounds with one message at a time; `between` counts those of the leaders.
    pub(crate) fn rounds(
        call: &Call,
        parameters: &Parameters,
        between: fn(&Call, &Parameters) -> u64,
    ) -> u64 {
        let nodes = NodeLeaders::of(call, parameters);
        let leaders = Call::allreduce(0, nodes.count(), call.count, 1);
        let inside = [U::most_rounds, D::most_rounds].map(|most| most(nodes.most(), parameters));
        between(&leaders, parameters) + inside[0] + inside[1]
    }

    /// The number of steps up the node, and of steps before the way down.
    fn ends(&self) -> [u32; 2] {
        let up = self.up.as_ref().map_or(0, Plan::steps);
        [up, up + self.between.map_or(0, |plan| plan.steps())]
    }
}

impl<U: IntraNodePhase, B: Phase + Copy, D: IntraNodePhase> Plan for NodeAwareAllreduce<U, B, D> {
    fn steps(&self) -> u32 {
        self.ends()[1] + self.down.as_ref().map_or(0, Plan::steps)
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        let up = (self.up.as_ref()).map_or(0, |plan| plan.scratch(inputs));
        up.max(self.between.map_or(0, |plan| plan.scratch(inputs)))
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let [up, between] = self.ends();
        if let Some(plan) = self.up.as_ref().filter(|_| i < up) {
            return renamed(plan, i, inputs, acts, |act| {
                let act = self.nodes.inside(act);
                match self.in_place {
                    true => act.with_parts(|part| part.moved(Buf::In, Buf::Out, 0)),
                    false => act,
                }
            });
        }
        if let Some(plan) = self.between.filter(|_| i < between) {
            let needs = renamed(&plan, i - up, inputs, acts, |act| self.nodes.between(act));
            return Some(up + needs?);
        }
        let plan = self.down.as_ref()?;
        let needs = renamed(plan, i - between, inputs, acts, |act| {
            from_output(self.nodes.inside(act))
        });
        Some(between + needs?)
    }
}

/// Allreduce intra-node: intra-node operations, and recursive splitting between leaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntraNodeAllreduce {
    /// All ranks are on one node: one operation.
    OnOne(IntraNode),
    /// The ranks are on several nodes.
    OnSome(NodeAwareAllreduce<IntraNode, RecursiveSplitting, IntraNode>),
}

any_plan!(IntraNodeAllreduce: OnOne, OnSome);

impl IntraNodeAllreduce {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        match NodeLeaders::of(call, parameters).count() {
            1 => IntraNodeAllreduce::OnOne(IntraNode::of(call, parameters)),
            _ => IntraNodeAllreduce::OnSome(NodeAwareAllreduce::of(call, parameters)),
        }
    }

    /// The rounds with one message at a time.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let between = RecursiveSplitting::rounds;
        NodeAwareAllreduce::<IntraNode, RecursiveSplitting, IntraNode>::rounds(
            call, parameters, between,
        )
    }
}
