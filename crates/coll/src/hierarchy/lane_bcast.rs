//! Broadcast in lanes: the root hands each rank of its node a share of the vector, each lane
//! broadcasts its share to all nodes, all lanes side by side, and in each node the ranks exchange
//! their shares.
//!
//! The vector enters each node once, and all its ranks carry it, if nodes are full. Else there are as many lanes as a full node
//! has ranks or less, down to half: so many that each rank of the last node is in as many, all of them side by side.

use super::{in_lane, renamed};
use crate::catalog::{Call, Parameters};
use crate::phase::{Phase, Shorten};
use crate::placement::Placement;
use crate::plan::{Act, Acts, Known, Part, Plan};
use crate::vector::Vector;
use crate::{allgather, bcast, scatter};
use core::ops::Range;

/// Messages of a rank under way inside its node.
const WINDOW: u32 = 8;

/// One rank's part in a broadcast in lanes: on the root's node the steps of the scatter; those of its
/// lanes, in turn; and those of the allgather, in halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneBcast<B> {
    place: Placement,
    node: u32,
    /// The vector as the ranks of the node share it.
    share: Vector,
    /// The plan of a lane whose part of it is not shorter than others.
    whole: B,
}

/// A chain of blocks in each lane: for large vectors and few nodes.
pub type LaneChain = LaneBcast<bcast::Chain>;

/// A tree in each lane.
pub type LaneKnomial = LaneBcast<bcast::Knomial>;

/// Blocks over the circulant graph in each lane: for large vectors and many nodes.
pub type LaneCirculant = LaneBcast<bcast::Circulant>;

/// Where the ranks are, on nodes that need not be full; of a single one that is not, each rank is a node of its own.
pub(crate) fn nodes_in_lanes(call: &Call, parameters: &Parameters) -> Placement {
    let per_node = match parameters.per_node > call.size {
        true => 1,
        false => parameters.per_node,
    };
    Placement::new(parameters.order, call.size, per_node)
}

/// How many lanes go through each node: a multiple of the ranks on the last one.
pub(crate) const fn lanes(place: Placement) -> u32 {
    let most = place.ranks_on(0);
    most - most % place.on_last_node()
}

/// In how many of them a rank of a node is at most.
pub(crate) const fn lanes_of_one(place: Placement, node: u32) -> u32 {
    lanes(place).div_ceil(place.ranks_on(node))
}

/// The call of the first lane, which has the longest share.
pub(crate) fn of_lane(call: &Call, place: Placement) -> Call {
    Call {
        rank: place.node(call.rank),
        size: place.nodes(),
        root: place.node(call.root),
        count: call.count.div_ceil(lanes(place).into()),
        ..*call
    }
}

impl<B: Shorten> LaneBcast<B> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let place = nodes_in_lanes(call, parameters);
        let node = place.node(call.rank);
        let first = of_lane(call, place);
        let of_one = lanes_of_one(place, place.nodes() - 1);
        let parameters = Parameters {
            // So few that the steps of a rank that is in several lanes can be counted.
            blocks: parameters.blocks.min(bcast::CHAIN_MAX_SIZE / of_one),
            ..*parameters
        };
        LaneBcast {
            place,
            node,
            share: Vector {
                rank: place.local(call.rank),
                size: place.ranks_on(node),
                block: u64::from(lanes_of_one(place, node)) * first.count,
                root: (node == first.root).then(|| place.local(call.root)),
                count: call.count,
            },
            whole: B::of(&first, &in_lane(place, &parameters)),
        }
    }

    /// Elements of a lane's part of the vector, but for the last ones.
    fn part(&self) -> u64 {
        self.share.block / u64::from(lanes_of_one(self.place, self.node))
    }

    /// The lanes of this rank that have something.
    fn lanes(&self) -> Range<u32> {
        let most = lanes_of_one(self.place, self.node);
        let filled = self.share.count.div_ceil(self.part().max(1)) as u32;
        let [first, end] = [0, 1].map(|next| ((self.share.rank + next) * most).min(filled));
        first..end
    }

    /// A lane's plan.
    fn lane(&self, lane: u32) -> B {
        let left = self.share.count - u64::from(lane) * self.part();
        match left < self.part() {
            true => self.whole.shortened(left),
            false => self.whole,
        }
    }

    /// The steps of this rank's lanes.
    fn steps_in_lanes(&self) -> u32 {
        let lanes = self.lanes();
        match lanes.is_empty() {
            true => 0,
            // The first one has no fewer than others, whose parts are not longer.
            false => self.lane(lanes.start).steps() * lanes.len() as u32,
        }
    }

    /// Step `i` of those, after so many others: its lanes take turns, and a step needs what it needs in all of them.
    fn step_in_lanes(
        &self,
        i: u32,
        before: u32,
        known: &Known<'_>,
        acts: &mut Acts,
    ) -> Option<u32> {
        let lanes = self.lanes();
        let turns = lanes.len() as u32;
        let (step, lane) = (i / turns, lanes.start + i % turns);
        let plan = self.lane(lane);
        if step >= plan.steps() {
            return Some(0);
        }
        let needs = renamed(&plan, step, known, acts, |act| self.along(lane, act))?;
        // The root has its share from the start.
        Some(match needs {
            0 if self.share.is_at_root() => 0,
            _ => before + needs * turns,
        })
    }

    /// The scatter, on the root's node.
    fn scatter(&self) -> Option<scatter::Linear> {
        let call = self.share.scatter();
        self.share.root.map(|_| match self.place.nodes() {
            1 => scatter::Linear::of(&call, &inside()),
            _ => scatter::Linear::before_more(&call, &inside()),
        })
    }

    fn gather(&self) -> allgather::Linear {
        Phase::of(&self.share.gather(), &inside())
    }

    /// An act of a lane, on its part of the vector.
    fn along(&self, lane: u32, act: Act) -> Act {
        let peer = |node| (self.place).rank(node, lane / lanes_of_one(self.place, node));
        let (buf, first) = (self.share.own().buf, u64::from(lane) * self.part());
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
    Parameters {
        window: WINDOW,
        ..Parameters::NONE
    }
}

impl<B: Shorten> Plan for LaneBcast<B> {
    fn steps(&self) -> u32 {
        let scatter = self.scatter().map_or(0, |plan| plan.steps());
        scatter + self.steps_in_lanes() + self.share.halves(&self.gather()).steps()
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let scatter = self.scatter();
        let before = scatter.map_or(0, |plan| plan.steps());
        let mut inner = Acts::new();
        let lanes = self.steps_in_lanes();
        let needs = if let Some(scatter) = scatter.filter(|_| i < before) {
            self.share.hand_out(&scatter, i, known, &mut inner)?
        } else if i < before + lanes {
            return self.step_in_lanes(i - before, before, known, acts);
        } else {
            let before = before + lanes;
            let (gather, ahead) = (self.gather(), (before, true));
            let brought = (ahead, |rank| rank..rank + 1);
            self.share
                .complete(&gather, i - before, brought, known, &mut inner)?
        };
        inner.iter().for_each(|&act| acts.push(self.inside(act)));
        Some(needs)
    }
}
