//! Broadcast in lanes: the root hands each rank of its node a share of the vector, each lane
//! broadcasts its share to all nodes, all lanes side by side, and in each node the ranks exchange
//! their shares.
//!
//! The vector enters each node once, and all its ranks carry it. Where nodes are not full each rank
//! is a node of its own, and what is left is the lane's broadcast.

use super::{full_nodes, in_lane, renamed};
use crate::catalog::{Call, Parameters};
use crate::phase::Phase;
use crate::placement::Placement;
use crate::plan::{Act, Acts, Known, Part, Plan};
use crate::vector::Vector;
use crate::{allgather, bcast, scatter};

/// Messages of a rank under way inside its node.
const WINDOW: u32 = 8;

/// One rank's part in a broadcast in lanes: on the root's node the steps of the scatter; those of the
/// lane; and those of the allgather, in halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneBcast<B> {
    place: Placement,
    rank: u32,
    share: Vector,
    lane: B,
}

/// A chain of blocks in each lane: for large vectors and few nodes.
pub type LaneChain = LaneBcast<bcast::Chain>;

/// A tree in each lane.
pub type LaneKnomial = LaneBcast<bcast::Knomial>;

/// Blocks over the circulant graph in each lane: for large vectors and many nodes.
pub type LaneCirculant = LaneBcast<bcast::Circulant>;

/// The call of the first lane, which has the longest share.
pub(crate) fn of_lane(call: &Call, place: Placement) -> Call {
    let share = call.count.div_ceil(place.per_node().into());
    Call {
        rank: place.node(call.rank),
        size: place.nodes(),
        root: place.node(call.root),
        count: share,
        ..*call
    }
}

impl<B: Phase> LaneBcast<B> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let place = full_nodes(call, parameters);
        let at_home = place.node(call.rank) == place.node(call.root);
        let share = Vector {
            rank: place.local(call.rank),
            size: place.per_node(),
            owners: place.per_node(),
            root: at_home.then(|| place.local(call.root)),
            count: call.count,
        };
        let lane = Call {
            count: share.own().len(),
            ..of_lane(call, place)
        };
        LaneBcast {
            place,
            rank: call.rank,
            share,
            lane: B::of(&lane, &in_lane(place, parameters)),
        }
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

    /// An act of the lane, on this rank's share.
    fn along(&self, act: Act) -> Act {
        let own = self.share.own();
        let act = act.with_peer(|node| self.place.rank(node, self.share.rank));
        act.with_parts(|part| Part {
            buf: own.buf,
            first: own.first + part.first,
            ..part
        })
    }

    /// An act inside the node.
    fn inside(&self, act: Act) -> Act {
        let node = self.place.node(self.rank);
        act.with_peer(|local| self.place.rank(node, local))
    }
}

/// The parameters inside a node.
const fn inside() -> Parameters {
    Parameters {
        window: WINDOW,
        ..Parameters::NONE
    }
}

impl<B: Phase> Plan for LaneBcast<B> {
    fn steps(&self) -> u32 {
        let scatter = self.scatter().map_or(0, |plan| plan.steps());
        scatter + self.lane.steps() + self.share.halves(&self.gather()).steps()
    }

    fn scratch(&self, _: &Known<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let scatter = self.scatter();
        let before = scatter.map_or(0, |plan| plan.steps());
        let mut inner = Acts::new();
        let needs = if let Some(scatter) = scatter.filter(|_| i < before) {
            self.share.hand_out(&scatter, i, known, &mut inner)?
        } else if i < before + self.lane.steps() {
            let needs = renamed(&self.lane, i - before, known, acts, |act| self.along(act))?;
            // The root has its share from the start.
            return Some(match needs {
                0 if self.share.is_at_root() => 0,
                _ => before + needs,
            });
        } else {
            let before = before + self.lane.steps();
            let (gather, ahead) = (self.gather(), (before, true));
            self.share.complete(
                &gather,
                i - before,
                (ahead, |rank| rank..rank + 1),
                known,
                &mut inner,
            )?
        };
        inner.iter().for_each(|&act| acts.push(self.inside(act)));
        Some(needs)
    }
}
