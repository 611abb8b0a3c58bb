//! Allgather over rails: each rail gathers its blocks from all nodes, side by side with the other rails; then
//! each rank gives its rail's blocks to the other ranks of its node.
//!
//! Each node of `m` ranks receives `p - m` blocks from other nodes, the minimum, spread over all its ranks.
//! Blocks are sent from and received at their final place: those of a rail lie at equal distances.
//!
//! Rounds, with one message at a time: those of the rail's algorithm for one rank per node, plus
//! `m - 1`.

use super::{Rail, full_blocks, full_nodes, in_rail};
use crate::allgather::{AllgatherBruck, AllgatherRing};
use crate::call::{Call, Parameters};
use crate::digits::Digits;
use crate::placement::Placement;
use crate::plan::{Acts, Plan, PlanInputs};

/// One rank's plan for an allgather over rails: the steps of the rail's plan, then one for each
/// other rank of the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RailAllgather<P> {
    plan: P,
    place: Placement,
    rank: u32,
    count: u64,
}

/// Allgather rail-ring: a ring in each rail, for large blocks.
pub(crate) type RailRing = RailAllgather<AllgatherRing>;

/// Allgather rail-bruck: Bruck's algorithm in each rail, for short blocks. In cyclic placement each rank
/// counts as a node of its own.
pub(crate) type RailBruck = RailAllgather<AllgatherBruck>;

/// The call of one rank in its rail.
fn of_rail(call: &Call, place: Placement) -> Call {
    let node = place.node(call.rank);
    Call::allgather(node, place.nodes(), call.count).with_in_place(call.in_place)
}

impl RailRing {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let place = full_nodes(call, parameters);
        let rail = in_rail(place, parameters);
        RailAllgather::new(AllgatherRing::of(&of_rail(call, place), &rail), place, call)
    }

    /// The rounds with one message at a time.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let place = full_nodes(call, parameters);
        let pieces = u64::from(parameters.blocks.max(1));
        u64::from(place.nodes() - 1) * pieces + u64::from(place.per_node() - 1)
    }
}

impl RailBruck {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let place = full_blocks(call, parameters);
        RailAllgather::new(
            AllgatherBruck::of(&of_rail(call, place), parameters),
            place,
            call,
        )
    }

    /// The rounds with one message at a time.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let place = full_blocks(call, parameters);
        let between = Digits::new(place.nodes(), parameters.radix).exchanges();
        u64::from(between) + u64::from(place.per_node() - 1)
    }
}

impl<P> RailAllgather<P> {
    const fn new(plan: P, place: Placement, call: &Call) -> Self {
        RailAllgather {
            plan,
            place,
            rank: call.rank,
            count: call.count,
        }
    }

    /// The rail of the rank with local number `local` on this rank's node.
    const fn rail(&self, local: u32) -> Rail {
        let neighbor = self.place.rank(self.place.node(self.rank), local);
        Rail::of(self.place, neighbor, self.count)
    }
}

impl<P: Plan> Plan for RailAllgather<P> {
    fn steps(&self) -> u32 {
        match self.count {
            0 => 0,
            _ => self.plan.steps() + self.place.per_node() - 1,
        }
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        self.plan.scratch(inputs)
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let (local, ranks) = (self.place.local(self.rank), self.place.per_node());
        let own = self.rail(local);
        let Some(nth) = i.checked_sub(self.plan.steps()) else {
            return own.step(&self.plan, i, inputs, acts);
        };
        let node = self.place.node(self.rank);
        let distance = nth + 1;
        let (below, above) = (
            (local + ranks - distance) % ranks,
            (local + distance) % ranks,
        );
        acts.recv(self.place.rank(node, below), 0, self.rail(below).column());
        acts.send(self.place.rank(node, above), 0, own.column());
        Some(self.plan.steps())
    }
    fn is_rotation(&self, by: u32, other: &Self) -> bool {
        // Where each rank is a node, the only rail is the ring of all ranks.
        self.place.per_node() == 1
            && (self.place, self.count) == (other.place, other.count)
            && self.plan.is_rotation(by, &other.plan)
    }
}
