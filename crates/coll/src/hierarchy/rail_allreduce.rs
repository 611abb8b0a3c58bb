//! Allreduce rail-circulant: a reduce-scatter inside each node, an allreduce of each share over its rail,
//! side by side with the other rails, and an allgather inside each node; all over circulant graphs.
//!
//! `2 (n - 1) / n` vectors leave each of `n` nodes, the minimum, spread over all ranks of the node; over the
//! circulant graph of all ranks nearly as much leaves each rank. Every element is reduced once for all ranks,
//! so all ranks get the same bits.
//!
//! Rounds: `2 ceil(log2 n)` between the nodes, and `2 ceil(log2 m)` inside nodes of `m` ranks.

use super::full_nodes;
use crate::allreduce::AllreduceCirculant;
use crate::blocks::Division;
use crate::call::{Call, Parameters};
use crate::circulant::{CirculantGather, CirculantScatter, OwnBlock, ScatterResult};
use crate::placement::Placement;
use crate::plan::renamed;
use crate::plan::{Act, Acts, Buf, Plan, PlanInputs};
use crate::symmetric::AtRank;

/// One rank's plan for an allreduce in rails: the steps of a reduce-scatter inside the node, of the allreduce
/// of its rail, and of an allgather inside the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RailAllreduce {
    place: Placement,
    rank: u32,
    /// Elements of this rank's share, which is at the start of scratch while it is reduced.
    share: u64,
    in_place: bool,
    /// Whether there is nothing to reduce.
    is_empty: bool,
    /// Where nodes have more than one rank.
    inside: Option<AtRank<CirculantScatter>>,
    rail: AllreduceCirculant,
}

impl RailAllreduce {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let place = full_nodes(call, parameters);
        let node = Call {
            rank: place.local(call.rank),
            size: place.per_node(),
            in_place: false,
            ..*call
        };
        let scatter =
            CirculantScatter::placed(&node, Division::Partition(call.count), ScatterResult::Start);
        let share = gather(scatter).view.len(0, 1, &PlanInputs::NOTHING);
        let inside = (place.per_node() > 1).then_some(scatter);
        let rail = Call {
            rank: place.node(call.rank),
            size: place.nodes(),
            count: share,
            in_place: call.in_place || inside.is_some(),
            ..*call
        };
        RailAllreduce {
            place,
            rank: call.rank,
            share,
            in_place: call.in_place,
            is_empty: call.count == 0,
            inside,
            rail: AllreduceCirculant::of(&rail, parameters),
        }
    }

    /// An act inside the node, of the reduce-scatter of what the caller gives into scratch.
    fn scattered(&self, act: Act) -> Act {
        let given = if self.in_place { Buf::Out } else { Buf::In };
        self.within(act).with_parts(|part| match part.buf {
            Buf::In => part.moved(Buf::In, given, 0),
            Buf::Out => part.moved(Buf::Out, Buf::Scratch, 0),
            _ => part.moved(Buf::Scratch, Buf::Scratch, self.share),
        })
    }

    /// An act of the rail, in place in scratch.
    fn along(&self, act: Act) -> Act {
        let local = self.place.local(self.rank);
        let act = act.with_peer(|node| self.place.rank(node, local));
        act.with_parts(|part| match part.buf {
            Buf::Out => part.moved(Buf::Out, Buf::Scratch, 0),
            _ => part.moved(Buf::Scratch, Buf::Scratch, self.share),
        })
    }

    /// An act inside the node, of the allgather from scratch.
    fn gathered(&self, act: Act) -> Act {
        let act = self.within(act);
        act.with_parts(|part| part.moved(Buf::In, Buf::Scratch, 0))
    }

    fn within(&self, act: Act) -> Act {
        let node = self.place.node(self.rank);
        act.with_peer(|local| self.place.rank(node, local))
    }
}

impl Plan for RailAllreduce {
    fn steps(&self) -> u32 {
        if self.is_empty {
            return 0;
        }
        let inside = self.inside.map(|scatter| (scatter, gather(scatter)));
        let inside = inside.map_or(0, |(scatter, gather)| scatter.steps() + gather.steps());
        inside + self.rail.steps()
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        let rail = self.rail.scratch(inputs);
        match self.inside {
            None => rail,
            Some(scatter) => self.share + scatter.scratch(inputs).max(rail),
        }
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let Some(scatter) = self.inside else {
            return self.rail.step(i, inputs, acts);
        };
        let Some(after) = i.checked_sub(scatter.steps()) else {
            return renamed(&scatter, i, inputs, acts, |act| self.scattered(act));
        };
        match after.checked_sub(self.rail.steps()) {
            None => {
                let needs = renamed(&self.rail, after, inputs, acts, |act| self.along(act))?;
                Some(scatter.steps() + needs)
            }
            Some(k) => {
                gather(scatter).step(k, inputs, acts);
                acts.rename(|act| self.gathered(act));
                Some(i)
            }
        }
    }
}

/// The allgather of what a reduce-scatter leaves.
const fn gather(scatter: AtRank<CirculantScatter>) -> CirculantGather {
    CirculantGather {
        view: scatter.symmetric().view(scatter.place()),
        own: OwnBlock::Input,
    }
}
