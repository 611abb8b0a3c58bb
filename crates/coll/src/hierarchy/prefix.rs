//! Scan and exscan, node-aware: a scan or exscan among the ranks of each node; an exscan of the nodes' sums
//! among the last ranks of all nodes; and in each node a tree that distributes the sum of the nodes below.
//!
//! Only one rank of a node exchanges messages with other nodes. The rank order is kept. Nodes are filled in
//! blocks, the last one perhaps in part; in cyclic placement each rank counts as a node of its own.

use super::one_after_another;
use crate::call::{Call, Collective, Parameters};
use crate::placement::Placement;
use crate::plan::renamed;
use crate::plan::{Act, Acts, Buf, Part, Plan, PlanInputs, Side};
use crate::tree::levels_of;
use crate::{bcast, exscan, scan};

/// One rank's plan for a node-aware scan or exscan.
///
/// In an exscan the last rank of a node first saves its input, and after the steps inside the node
/// combines its result, on the left, with it, which gives the node's sum. Then come the steps between the
/// nodes, those of the tree inside, and one that combines the sum of the nodes below, on the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefix {
    place: Placement,
    rank: u32,
    count: u64,
    in_place: bool,
    inside: PrefixPhase,
    between: Option<exscan::Doubling123>,
    down: bcast::BcastKnomial,
}

/// The phase among the ranks of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PrefixPhase {
    Scan(scan::Doubling),
    Exscan(exscan::Doubling123),
}

impl Prefix {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let place = one_after_another(call, parameters);
        let (rank, count, in_place) = (call.rank, call.count, call.in_place);
        let (node, local) = (place.node(rank), place.local(rank));
        let (first, ranks) = (place.rank(node, 0), place.ranks_on(node));
        let within = Call {
            rank: local,
            size: ranks,
            ..*call
        };
        let between = Call::exscan(node, place.nodes(), count, 1);
        let is_last = rank + 1 == first + ranks && place.nodes() > 1;
        Prefix {
            place,
            rank,
            count,
            in_place,
            inside: match call.collective {
                Collective::Scan => PrefixPhase::Scan(scan::Doubling::of(&within, parameters)),
                _ => PrefixPhase::Exscan(exscan::Doubling123::of(&within, parameters)),
            },
            between: is_last.then(|| exscan::Doubling123::of(&between, parameters)),
            down: bcast::BcastKnomial::of(
                &Call::bcast(local, ranks, ranks - 1, if node > 0 { count } else { 0 }),
                parameters,
            ),
        }
    }

    /// At most the rounds with one message at a time; exact with one rank per node.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let place = one_after_another(call, parameters);
        let (most, nodes) = (place.per_node().min(place.size()), place.nodes());
        let inside = match call.collective {
            Collective::Scan => levels_of(most, 2),
            _ => exscan::Doubling123::rounds(most),
        };
        let radix = parameters.radix;
        let down = u64::from(radix - 1) * u64::from(levels_of(most, radix));
        let between = exscan::Doubling123::rounds(nodes);
        u64::from(inside) + u64::from(between) + if nodes > 1 { down } else { 0 }
    }

    /// Temporary vector `n` in scratch: an exscan's node sum, and the sum of the nodes below.
    const fn room(&self, n: u64) -> Part {
        Part::new(Buf::Scratch, n * self.count, self.count)
    }

    const fn output(&self) -> Part {
        Part::new(Buf::Out, 0, self.count)
    }

    /// The elements of the temporary vectors.
    const fn rooms(&self) -> u64 {
        2 * self.count
    }

    /// The number of steps before those inside the node, before those between the nodes, before the tree, and
    /// before the last one.
    fn ends(&self) -> [u32; 4] {
        // No rank needs the sum of the last node.
        let is_needed = self.place.node(self.rank) + 1 < self.place.nodes();
        let sums = self.between.is_some() && is_needed && self.count > 0;
        let (kept, inside) = match self.inside {
            PrefixPhase::Scan(plan) => (0, plan.steps()),
            PrefixPhase::Exscan(plan) => (u32::from(sums), plan.steps()),
        };
        let inside = 2 * kept + inside;
        let between = inside + self.between.map_or(0, |plan| plan.steps());
        [kept, inside, between, between + self.down.steps()]
    }

    /// An act inside the node, with its scratch after the temporary vectors.
    fn within(&self, act: Act) -> Act {
        let node = self.place.node(self.rank);
        let act = act.with_peer(|local| self.place.rank(node, local));
        act.with_parts(|part| part.moved(Buf::Scratch, Buf::Scratch, self.rooms()))
    }

    /// An act of the last ranks: a scan's node sum is in `Out`, an exscan's in temporary vector 0.
    fn across(&self, act: Act) -> Act {
        let sum = match self.inside {
            PrefixPhase::Scan(_) => Buf::Out,
            PrefixPhase::Exscan(_) => Buf::Scratch,
        };
        let last = |node| self.place.rank(node, self.place.ranks_on(node) - 1);
        act.with_peer(last).with_parts(|part| match part.buf {
            Buf::In => part.moved(Buf::In, sum, 0),
            Buf::Out => part.moved(Buf::Out, Buf::Scratch, self.count),
            _ => part.moved(Buf::Scratch, Buf::Scratch, self.rooms()),
        })
    }

    /// An act of the tree: the sum of the nodes below is in temporary vector 1.
    fn down(&self, act: Act) -> Act {
        let came = |part: Part| match part.is_empty() {
            true => part,
            false => self.room(1),
        };
        self.within(act).with_parts(came)
    }

    /// Combines the result with the sum of the nodes below.
    fn add(&self, acts: &mut Acts) {
        let is_first = self.place.local(self.rank) == 0;
        match self.inside {
            PrefixPhase::Exscan(_) if is_first => acts.copy(self.room(1), self.output()),
            _ => acts.reduce(self.room(1), self.output(), Side::Left),
        }
    }
}

impl Plan for Prefix {
    fn steps(&self) -> u32 {
        let is_below = self.place.node(self.rank) == 0;
        self.ends()[3] + u32::from(!is_below && self.count > 0)
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        let inside = match self.inside {
            PrefixPhase::Scan(plan) => plan.scratch(inputs),
            PrefixPhase::Exscan(plan) => plan.scratch(inputs),
        };
        let between = self.between.map_or(0, |plan| plan.scratch(inputs));
        self.rooms() + inside.max(between)
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let [kept, inside, between, down] = self.ends();
        let node_sum = self.room(0);
        match self.between {
            _ if i < kept => {
                let input = if self.in_place { Buf::Out } else { Buf::In };
                acts.copy(Part::new(input, 0, self.count), node_sum);
                Some(0)
            }
            _ if i < inside - kept => {
                let within = |act| self.within(act);
                let needs = match self.inside {
                    PrefixPhase::Scan(plan) => renamed(&plan, i - kept, inputs, acts, within),
                    PrefixPhase::Exscan(plan) => renamed(&plan, i - kept, inputs, acts, within),
                };
                Some(kept + needs?)
            }
            _ if i < inside => {
                if self.place.local(self.rank) > 0 {
                    acts.reduce(self.output(), node_sum, Side::Left);
                }
                Some(i)
            }
            Some(plan) if i < between => {
                let needs = renamed(&plan, i - inside, inputs, acts, |act| self.across(act));
                Some(inside + needs?)
            }
            _ if i < down => {
                let needs = renamed(&self.down, i - between, inputs, acts, |act| self.down(act));
                Some(between + needs?)
            }
            _ => {
                self.add(acts);
                Some(i)
            }
        }
    }
}
