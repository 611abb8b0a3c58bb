//! Broadcast over rails: the root scatters shares of the vector on its node, each rail broadcasts its share
//! to all nodes, side by side with the other rails, and in each node an allgather completes the vector.
//!
//! The vector enters each node once, spread over all ranks of a full node. If the last node is not full,
//! there are fewer rails, at least half as many as a full node has ranks, such that each rank of the last
//! node serves the same number, side by side.

use super::in_rail;
use crate::call::{Call, Parameters};
use crate::phase::{Phase, Shorten};
use crate::placement::Placement;
use crate::plan::renamed;
use crate::plan::{Act, Acts, Part, Plan, PlanInputs};
use crate::scattered_vector::ScatteredVector;
use crate::{allgather, bcast, scatter};
use core::ops::Range;

/// Messages of a rank under way inside its node.
const WINDOW: u32 = 8;

/// One rank's plan for a broadcast over rails: on the root's node the steps of the scatter; the steps of its
/// rails, interleaved; and the steps of the allgather, split into halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RailBcast<B> {
    place: Placement,
    node: u32,
    /// The vector as the ranks of the node share it.
    share: ScatteredVector,
    /// The plan of a rail with a full share.
    whole: B,
}

/// Bcast rail-chain: a chain of blocks in each rail, for large vectors and few nodes.
pub(crate) type RailChain = RailBcast<bcast::BcastChain>;

/// Bcast rail-knomial: a k-nomial tree in each rail.
pub(crate) type RailKnomial = RailBcast<bcast::BcastKnomial>;

/// Bcast rail-circulant: blocks over the circulant graph in each rail, for large vectors and many nodes.
pub(crate) type RailCirculant = RailBcast<bcast::BcastCirculant>;

/// Where the ranks are, on nodes that need not be full; of a single one that is not, each rank is a node of
/// its own.
pub(crate) fn nodes_in_rails(call: &Call, parameters: &Parameters) -> Placement {
    let per_node = match parameters.per_node > call.size {
        true => 1,
        false => parameters.per_node,
    };
    Placement::new(parameters.order, call.size, per_node)
}

/// The number of rails through each node: a multiple of the ranks on the last node.
pub(crate) const fn rails(place: Placement) -> u32 {
    let most = place.ranks_on(0);
    most - most % place.on_last_node()
}

/// At most how many of the rails a rank of a node serves.
pub(crate) const fn rails_of_one(place: Placement, node: u32) -> u32 {
    rails(place).div_ceil(place.ranks_on(node))
}

/// The call of the first rail, which has the longest share.
pub(crate) fn of_rail(call: &Call, place: Placement) -> Call {
    Call {
        rank: place.node(call.rank),
        size: place.nodes(),
        root: place.node(call.root),
        count: call.count.div_ceil(rails(place).into()),
        ..*call
    }
}

impl<B: Shorten> RailBcast<B> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let place = nodes_in_rails(call, parameters);
        let node = place.node(call.rank);
        let first = of_rail(call, place);
        let of_one = rails_of_one(place, place.nodes() - 1);
        let parameters = Parameters {
            // A limit, so that 32 bits count the steps of a rank that serves several rails.
            blocks: parameters.blocks.min(bcast::CHAIN_MAX_SIZE / of_one),
            ..*parameters
        };
        RailBcast {
            place,
            node,
            share: ScatteredVector {
                rank: place.local(call.rank),
                size: place.ranks_on(node),
                block: u64::from(rails_of_one(place, node)) * first.count,
                root: (node == first.root).then(|| place.local(call.root)),
                count: call.count,
            },
            whole: B::of(&first, &in_rail(place, &parameters)),
        }
    }

    /// Elements of a full rail's part of the vector.
    fn part(&self) -> u64 {
        self.share.block / u64::from(rails_of_one(self.place, self.node))
    }

    /// The rails of this rank that have elements.
    fn rails(&self) -> Range<u32> {
        let most = rails_of_one(self.place, self.node);
        let filled = self.share.count.div_ceil(self.part().max(1)) as u32;
        let [first, end] = [0, 1].map(|next| ((self.share.rank + next) * most).min(filled));
        first..end
    }

    /// The plan of a rail.
    fn rail(&self, rail: u32) -> B {
        let left = self.share.count - u64::from(rail) * self.part();
        match left < self.part() {
            true => self.whole.shortened(left),
            false => self.whole,
        }
    }

    /// The number of steps of this rank's rails.
    fn steps_in_rails(&self) -> u32 {
        let rails = self.rails();
        match rails.is_empty() {
            true => 0,
            // The first rail has the longest part, and so the most steps.
            false => self.rail(rails.start).steps() * rails.len() as u32,
        }
    }

    /// Step `i` of those, after so many others: its rails take turns, and a step needs what it needs in all
    /// of them.
    fn step_in_rails(
        &self,
        i: u32,
        before: u32,
        inputs: &PlanInputs<'_>,
        acts: &mut Acts,
    ) -> Option<u32> {
        let rails = self.rails();
        let all = rails.len() as u32;
        let (step, rail) = (i / all, rails.start + i % all);
        let plan = self.rail(rail);
        if step >= plan.steps() {
            return Some(0);
        }
        let needs = renamed(&plan, step, inputs, acts, |act| self.along(rail, act))?;
        // The root has its share from the start.
        Some(match needs {
            0 if self.share.is_at_root() => 0,
            _ => before + needs * all,
        })
    }

    /// The scatter, on the root's node.
    fn scatter(&self) -> Option<scatter::ScatterLinear> {
        let call = self.share.scatter();
        self.share.root.map(|_| match self.place.nodes() {
            1 => scatter::ScatterLinear::of(&call, &inside()),
            _ => scatter::ScatterLinear::before_more(&call, &inside()),
        })
    }

    fn gather(&self) -> allgather::AllgatherLinear {
        Phase::of(&self.share.gather(), &inside())
    }

    /// An act of a rail, with its part of the vector.
    fn along(&self, rail: u32, act: Act) -> Act {
        let peer = |node| (self.place).rank(node, rail / rails_of_one(self.place, node));
        let (buf, first) = (self.share.own().buf, u64::from(rail) * self.part());
        act.with_peer(peer).with_parts(|part| Part {
            buf,
            first: first + part.first,
            ..part
        })
    }

    /// An act inside the node.
    fn inside(&self, act: Act) -> Act {
        act.with_peer(|local| self.place.rank(self.node, local))
    }
}

/// The parameters inside a node.
const fn inside() -> Parameters {
    Parameters::NONE.with_window(WINDOW)
}

impl<B: Shorten> Plan for RailBcast<B> {
    fn steps(&self) -> u32 {
        let scatter = self.scatter().map_or(0, |plan| plan.steps());
        scatter + self.steps_in_rails() + self.share.halves(&self.gather()).steps()
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let scatter = self.scatter();
        let before = scatter.map_or(0, |plan| plan.steps());
        let mut inner = Acts::new();
        let rails = self.steps_in_rails();
        let needs = if let Some(scatter) = scatter.filter(|_| i < before) {
            self.share.hand_out(&scatter, i, inputs, &mut inner)?
        } else if i < before + rails {
            return self.step_in_rails(i - before, before, inputs, acts);
        } else {
            let before = before + rails;
            let (gather, ahead) = (self.gather(), (before, true));
            let brought = (ahead, |rank| rank..rank + 1);
            self.share
                .complete(&gather, i - before, brought, inputs, &mut inner)?
        };
        inner.iter().for_each(|&act| acts.push(self.inside(act)));
        Some(needs)
    }
}
