//! One phase: a plan for fewer ranks, and where its peers and parts are in the whole call.

use alloc::vec::Vec;

use crate::barrier::Signals;
use crate::catalog::{AnyPlan, Call};
use crate::choice::Choice;
use crate::nodes::NodeMap;
use crate::plan::{Act, Acts, Buf, CallArrays, Part, Plan, PlanInputs, any_plan};

/// The ranks of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseRanks {
    /// Those of a node, by local number.
    OfNode(u32),
    /// One of each node, by node: the first, but the root on its own node.
    Leaders {
        /// The root of the whole call, if it has one.
        root: Option<u32>,
    },
    /// All ranks, by slot.
    Slots,
}

impl PhaseRanks {
    /// The rank with this number in the phase.
    fn rank(self, number: u32, nodes: &NodeMap) -> u32 {
        match self {
            PhaseRanks::OfNode(node) => nodes.ranks_on(node)[number as usize],
            PhaseRanks::Slots => nodes.rank(number),
            PhaseRanks::Leaders { root: Some(root) } if nodes.node(root) == number => root,
            PhaseRanks::Leaders { .. } => nodes.ranks_on(number)[0],
        }
    }
}

/// What the ranks of a phase do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseWork {
    /// A collective of their own, by an algorithm that was chosen for it.
    Collective(Call, Choice),
    /// Signals to the first of them: up a tree.
    SignalsUp,
    /// Signals from the first of them: down a tree.
    SignalsDown,
}

/// The plan of a phase.
#[allow(clippy::large_enum_variant, reason = "most phases are collectives")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PhasePlan {
    Collective(AnyPlan),
    Signals(Signals),
}

any_plan!(PhasePlan: Collective, Signals);

/// Where a buffer of a phase is in the whole call: from this element of a buffer on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(pub(super) Buf, pub(super) u64);

impl Place {
    pub(super) const IN: Place = Place(Buf::In, 0);
    pub(super) const OUT: Place = Place(Buf::Out, 0);

    /// A part of the phase's buffer. Parts that wrap around it do so only where it is a whole buffer: the plans of
    /// phases in part of one have their root at rank 0, and go around nothing.
    fn part(self, part: Part) -> Part {
        let Place(buf, first) = self;
        match first {
            0 => Part { buf, ..part },
            by => Part {
                buf,
                first: part.first + by,
                wrap: 0,
                ..part
            },
        }
    }
}

/// One phase of one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Phase {
    pub(super) ranks: PhaseRanks,
    pub(super) work: PhaseWork,
    pub(super) plan: PhasePlan,
    /// Where its input and output are.
    pub(super) places: [Place; 2],
    /// The elements of each node's block in the input and in the output, where blocks have different lengths.
    pub(super) lengths: [Vec<u64>; 2],
    /// The number of steps of the phases before it.
    pub(super) before: u32,
}

impl Phase {
    /// What its plan may read.
    pub(super) fn inputs<'a>(&'a self, inputs: &PlanInputs<'a>) -> PlanInputs<'a> {
        let [sends, recvs] = &self.lengths;
        let arrays = CallArrays {
            sends,
            recvs,
            ..CallArrays::NOTHING
        };
        PlanInputs::new(arrays, inputs.learned)
    }

    /// Step `i` of the whole plan, which is one of its own. Its scratch starts `room` elements after the start.
    pub(super) fn step(
        &self,
        i: u32,
        inputs: &PlanInputs<'_>,
        (nodes, room): (&NodeMap, u64),
        acts: &mut Acts,
    ) -> Option<u32> {
        let needs = self
            .plan
            .step(i - self.before, &self.inputs(inputs), acts)?;
        acts.rename(|act| self.renamed(act, nodes, room));
        Some(self.before + needs)
    }

    fn renamed(&self, act: Act, nodes: &NodeMap, room: u64) -> Act {
        let [input, output] = self.places;
        let [sends, recvs] = &self.lengths;
        act.with_peer(|number| self.ranks.rank(number, nodes))
            .with_parts(|part| match part.buf {
                _ if part.is_empty() => part,
                Buf::In => input.part(part),
                Buf::Out => output.part(part),
                Buf::InBlock(block) => input.part(in_whole(part, block, sends)),
                Buf::OutBlock(block) => output.part(in_whole(part, block, recvs)),
                _ => part.moved(Buf::Scratch, Buf::Scratch, room),
            })
    }
}

/// A part that is named by a block, as part of the whole buffer of blocks that follow one another.
fn in_whole(part: Part, block: u32, lengths: &[u64]) -> Part {
    let before = lengths[..block as usize].iter().sum::<u64>();
    let first = part.first + before;
    Part { first, ..part }.around(lengths.iter().sum())
}
