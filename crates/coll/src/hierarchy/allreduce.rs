//! Allreduce between the leaders of the nodes: reduction inside each node to its first rank, an allreduce
//! between these, and broadcast inside.
//!
//! One rank of a node talks to other nodes. The order of the ranks is kept where nodes are filled one after another, by
//! either kind of tree as they lead to each node's first rank; all ranks get the same bits.

use super::bcast::{from_output, inside};
use super::{Nodes, renamed};
use crate::allreduce::{RecursiveDoubling, RecursiveSplitting};
use crate::catalog::{Call, Parameters};
use crate::phase::Phase;
use crate::plan::{Acts, Buf, Known, Plan};
use crate::tree::{self, Place};
use crate::{bcast, reduce};

/// One rank's part in a node-aware allreduce: the steps of the tree up its node, if it is not alone
/// there; at the first rank of a node those between nodes; and those of the tree down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allreduce<T, B> {
    nodes: Nodes,
    in_place: bool,
    up: Option<reduce::Tree<T>>,
    between: Option<B>,
    down: Option<bcast::Tree<T>>,
}

/// K-nomial trees, and recursive doubling.
pub type KnomialAllreduce = Allreduce<tree::Knomial, RecursiveDoubling>;

/// Postal trees, and recursive splitting.
pub type PostalAllreduce = Allreduce<tree::Postal, RecursiveSplitting>;

impl<T: Place, B: Phase + Copy> Allreduce<T, B> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let nodes = Nodes::of(call, parameters);
        let is_alone = nodes.ranks() == 1;
        let up = Call::reduce(nodes.local(), nodes.ranks(), 0, call.count, 1)
            .with_in_place(call.in_place && nodes.leads());
        let between = Call::allreduce(nodes.node(), nodes.count(), call.count, 1)
            .with_in_place(call.in_place || !is_alone);
        let of_leader = || B::of(&between, parameters);
        Allreduce {
            nodes,
            in_place: call.in_place,
            up: (!is_alone).then(|| reduce::Tree::of(&up, parameters)),
            between: nodes.leads().then(of_leader),
            down: (!is_alone).then(|| inside(nodes, call.count, parameters)),
        }
    }

    /// The rounds with one message at a time, at most, those between the leaders being told.
    pub(crate) fn rounds(
        call: &Call,
        parameters: &Parameters,
        between: fn(&Call, &Parameters) -> u64,
    ) -> u64 {
        let nodes = Nodes::of(call, parameters);
        let leaders = Call::allreduce(0, nodes.count(), call.count, 1);
        between(&leaders, parameters) + 2 * T::most_rounds(nodes.most(), parameters)
    }

    /// The steps up the node, and those until the way down.
    fn ends(&self) -> [u32; 2] {
        let up = self.up.map_or(0, |plan| plan.steps());
        [up, up + self.between.map_or(0, |plan| plan.steps())]
    }
}

impl<T: Place, B: Phase + Copy> Plan for Allreduce<T, B> {
    fn steps(&self) -> u32 {
        self.ends()[1] + self.down.map_or(0, |plan| plan.steps())
    }

    fn scratch(&self, known: &Known<'_>) -> u64 {
        let up = self.up.map_or(0, |plan| plan.scratch(known));
        up.max(self.between.map_or(0, |plan| plan.scratch(known)))
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let [up, between] = self.ends();
        if let Some(plan) = self.up.filter(|_| i < up) {
            return renamed(&plan, i, known, acts, |act| {
                let act = self.nodes.inside(act);
                match self.in_place {
                    true => act.with_parts(|part| part.moved(Buf::In, Buf::Out, 0)),
                    false => act,
                }
            });
        }
        if let Some(plan) = self.between.filter(|_| i < between) {
            let needs = renamed(&plan, i - up, known, acts, |act| self.nodes.between(act));
            return Some(up + needs?);
        }
        let plan = self.down?;
        let needs = renamed(&plan, i - between, known, acts, |act| {
            from_output(self.nodes.inside(act))
        });
        Some(between + needs?)
    }
}
