//! Algorithm `intra-node` of all ranks on one node: a collective as one intra-node operation, without
//! messages.

use super::IntraNodePhase;
use crate::call::{Call, Collective, Parameters};
use crate::phase::phase;
use crate::plan::{Acts, Buf, IntraNodeOp, NodeRanks, Part, Plan, PlanInputs};

/// One rank's plan for a collective that is one [intra-node operation](IntraNodeOp) of all ranks of the
/// call. A single rank copies its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IntraNode {
    collective: Collective,
    rank: u32,
    size: u32,
    root: u32,
    count: u64,
    in_place: bool,
}

impl IntraNode {
    pub(crate) const fn of(call: &Call, _: &Parameters) -> Self {
        IntraNode {
            collective: call.collective,
            rank: call.rank,
            size: call.size,
            root: call.root,
            count: call.count,
            in_place: call.in_place,
        }
    }

    fn act(&self) -> IntraNodeOp {
        let act = IntraNodeOp {
            collective: self.collective,
            ranks: NodeRanks::of(self.size),
            number: self.rank,
            root: self.root,
            count: self.count,
            from: Part::EMPTY,
            into: Part::EMPTY,
        };
        let [gives, gets] = act.lengths();
        let gets = match self.collective {
            Collective::Scatter if self.in_place => 0,
            Collective::ReduceScatterBlock if self.in_place => gives,
            _ => gets,
        };
        let gives = match self.collective {
            Collective::Scatter => gives,
            _ if self.in_place => 0,
            _ => gives,
        };
        let part = |buf, count| match count {
            0 => Part::EMPTY,
            _ => Part::new(buf, 0, count),
        };
        IntraNodeOp {
            from: part(Buf::In, gives),
            into: part(Buf::Out, gets),
            ..act
        }
    }
}

impl IntraNodePhase for IntraNode {
    fn most_rounds(_: u32, _: &Parameters) -> u64 {
        0
    }
}

impl Plan for IntraNode {
    fn steps(&self) -> u32 {
        u32::from(self.count > 0)
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let act = self.act();
        match (act.from.is_empty(), act.into.is_empty()) {
            _ if self.size > 1 => acts.intra_node(act),
            (false, false) => acts.copy(act.from, act.into),
            _ => {}
        }
        Some(i)
    }
}

phase!(IntraNode);
