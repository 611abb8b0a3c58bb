//! Reduce_scatter_block rail-circulant: a reduce-scatter inside each node, in which each rank gets the node's
//! sum of its rail's blocks; then each rail reduces and scatters these blocks among the nodes.
//!
//! `p - m` blocks leave each node of `m` ranks, the minimum, spread over all its ranks. Blocks are sent from
//! their places: those of a rail lie at equal distances.
//!
//! Rounds, with one message at a time: `m - 1`, and those of the circulant graph of the nodes.

use super::{Rail, full_nodes};
use crate::call::{Call, Parameters};
use crate::placement::Placement;
use crate::plan::renamed;
use crate::plan::{Act, Acts, Buf, Part, Plan, PlanInputs};
use crate::reduce_scatter::{ReduceScatterCirculant, ReduceScatterPairwise};

/// One rank's plan: the steps inside its node, then those of its rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RailReduceScatter {
    place: Placement,
    rank: u32,
    /// Elements of a block.
    count: u64,
    in_place: bool,
    /// The reduce-scatter inside the node, of a rail's blocks per rank; `None` with one rank per node.
    inside: Option<ReduceScatterPairwise>,
    rail: ReduceScatterCirculant,
}

impl RailReduceScatter {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let place = full_nodes(call, parameters);
        let (nodes, ranks) = (place.nodes(), place.per_node());
        let among = |rank, size, count| Call {
            rank,
            size,
            count,
            in_place: call.in_place && ranks == 1,
            ..*call
        };
        let of_rail = u64::from(nodes) * call.count;
        let node = among(place.local(call.rank), ranks, of_rail);
        let rail = among(place.node(call.rank), nodes, call.count);
        RailReduceScatter {
            place,
            rank: call.rank,
            count: call.count,
            in_place: call.in_place,
            inside: (ranks > 1).then(|| ReduceScatterPairwise::of(&node, parameters)),
            rail: ReduceScatterCirculant::of(&rail, parameters),
        }
    }

    /// The steps inside the node.
    fn before(&self) -> u32 {
        self.inside.map_or(0, |plan| plan.steps())
    }

    /// Elements of the sum of a rail's blocks, at the start of scratch.
    fn sum(&self) -> u64 {
        u64::from(self.place.nodes()) * self.count
    }

    /// An act inside the node, where each rank's block is a rail.
    fn within(&self, act: Act) -> Act {
        let node = self.place.node(self.rank);
        let rank = |local| self.place.rank(node, local);
        let given = if self.in_place { Buf::Out } else { Buf::In };
        act.with_peer(rank).with_parts(|part| match part.buf {
            Buf::In => {
                let rail = Rail::of(
                    self.place,
                    rank((part.first / self.sum()) as u32),
                    self.count,
                );
                Part {
                    buf: given,
                    ..rail.column()
                }
            }
            Buf::Out => part.moved(Buf::Out, Buf::Scratch, 0),
            _ => part.moved(Buf::Scratch, Buf::Scratch, self.sum()),
        })
    }

    /// An act of the rail, which reads the node's sum.
    fn along(&self, act: Act) -> Act {
        let local = self.place.local(self.rank);
        let act = act.with_peer(|node| self.place.rank(node, local));
        act.with_parts(|part| match part.buf {
            Buf::In => part.moved(Buf::In, Buf::Scratch, 0),
            _ => part.moved(Buf::Scratch, Buf::Scratch, self.sum()),
        })
    }
}

impl Plan for RailReduceScatter {
    fn steps(&self) -> u32 {
        match self.count {
            0 => 0,
            _ => self.before() + self.rail.steps(),
        }
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        match self.inside {
            None => self.rail.scratch(inputs),
            Some(inside) => self.sum() + inside.scratch(inputs).max(self.rail.scratch(inputs)),
        }
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let Some(inside) = self.inside else {
            return self.rail.step(i, inputs, acts);
        };
        let before = self.before();
        match i.checked_sub(before) {
            None => renamed(&inside, i, inputs, acts, |act| self.within(act)),
            Some(i) => {
                let needs = renamed(&self.rail, i, inputs, acts, |act| self.along(act))?;
                Some(before + needs)
            }
        }
    }
}
