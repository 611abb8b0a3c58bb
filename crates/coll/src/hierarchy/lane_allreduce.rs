//! Allreduce in lanes: in each node every rank gets the node's sum of its share of the vector, each lane reduces
//! its share over all nodes, all lanes side by side, and in each node the ranks exchange their shares.
//!
//! Out of each node go `2 (n - 1) / n` vectors for `n` nodes, the least there is, and all its ranks carry them; over
//! the circulant graph of all ranks it is nearly as much for each rank. Every element is reduced once for all,
//! so all ranks get the same bits.
//!
//! Rounds: `2 ceil(log2 n)` between the nodes, and `2 ceil(log2 m)` inside those of `m` ranks.

use super::{full_nodes, renamed};
use crate::allreduce::Circulant;
use crate::catalog::{Call, Parameters};
use crate::circulant::{Division, Gather, Own, Result, Scatter};
use crate::circular::Placed;
use crate::placement::Placement;
use crate::plan::{Act, Acts, Buf, Known, Plan};

/// One rank's part in an allreduce in lanes: the steps of a reduce-scatter inside the node, of the allreduce of its
/// lane, and of an allgather inside the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneAllreduce {
    place: Placement,
    rank: u32,
    /// Elements of this rank's share, which is at the start of scratch while it is reduced.
    share: u64,
    in_place: bool,
    /// Whether there is nothing to reduce.
    is_empty: bool,
    /// Where nodes have more than one rank.
    inside: Option<Placed<Scatter>>,
    lane: Circulant,
}

impl LaneAllreduce {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let place = full_nodes(call, parameters);
        let node = Call {
            rank: place.local(call.rank),
            size: place.per_node(),
            in_place: false,
            ..*call
        };
        let scatter = Scatter::placed(&node, Division::Cut(call.count), Result::Start);
        let share = gather(scatter).view.len(0, 1, &Known::NOTHING);
        let inside = (place.per_node() > 1).then_some(scatter);
        let lane = Call {
            rank: place.node(call.rank),
            size: place.nodes(),
            count: share,
            in_place: call.in_place || inside.is_some(),
            ..*call
        };
        LaneAllreduce {
            place,
            rank: call.rank,
            share,
            in_place: call.in_place,
            is_empty: call.count == 0,
            inside,
            lane: Circulant::of(&lane, parameters),
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

    /// An act of the lane, in place in scratch.
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

impl Plan for LaneAllreduce {
    fn steps(&self) -> u32 {
        if self.is_empty {
            return 0;
        }
        let inside = self.inside.map(|scatter| (scatter, gather(scatter)));
        let inside = inside.map_or(0, |(scatter, gather)| scatter.steps() + gather.steps());
        inside + self.lane.steps()
    }

    fn scratch(&self, known: &Known<'_>) -> u64 {
        let lane = self.lane.scratch(known);
        match self.inside {
            None => lane,
            Some(scatter) => self.share + scatter.scratch(known).max(lane),
        }
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        let Some(scatter) = self.inside else {
            return self.lane.step(i, known, acts);
        };
        let Some(after) = i.checked_sub(scatter.steps()) else {
            return renamed(&scatter, i, known, acts, |act| self.scattered(act));
        };
        match after.checked_sub(self.lane.steps()) {
            None => {
                let needs = renamed(&self.lane, after, known, acts, |act| self.along(act))?;
                Some(scatter.steps() + needs)
            }
            Some(k) => {
                gather(scatter).step(k, known, acts);
                acts.rename(|act| self.gathered(act));
                Some(i)
            }
        }
    }
}

/// The allgather of what a reduce-scatter leaves.
const fn gather(scatter: Placed<Scatter>) -> Gather {
    Gather {
        view: scatter.circular().view(scatter.place()),
        own: Own::Input,
    }
}
