//! Allreduce rail-circulant where the last node is not full: its ranks are folded onto ranks of the node
//! before, which reduce for them and send the result back.
//!
//! This adds two rounds of the whole vector, which all folded ranks begin at the same time.

use super::RailAllreduce;
use crate::accumulate::Accumulator;
use crate::call::{Call, Parameters};
use crate::placement::Order;
use crate::plan::{Acts, Plan, PlanInputs};

/// One rank's plan: a folded rank's two steps, or the allreduce of the other ranks, before and after which a
/// partner serves its folded rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoldedAllreduce {
    /// The partner of a folded rank, or the folded rank of a partner.
    other: Option<u32>,
    sum: Accumulator,
    count: u64,
    in_place: bool,
    /// The allreduce without the folded ranks; `None` at a folded rank.
    plan: Option<RailAllreduce>,
}

/// The number of ranks that are not folded: those on full nodes, if there are full nodes.
pub(crate) fn ranks_on_full_nodes(call: &Call, parameters: &Parameters) -> u32 {
    let most = parameters.per_node.max(1);
    match parameters.order {
        Order::Block if call.size > most => call.size - call.size % most,
        _ => call.size,
    }
}

impl FoldedAllreduce {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let size = ranks_on_full_nodes(call, parameters);
        let is_folded = call.rank >= size;
        let other = match is_folded {
            true => call.rank.checked_sub(parameters.per_node),
            false => call.rank.checked_add(parameters.per_node),
        };
        let other = other.filter(|other| is_folded || (size..call.size).contains(other));
        let others = Call {
            size,
            in_place: call.in_place || other.is_some(),
            ..*call
        };
        FoldedAllreduce {
            other,
            sum: Accumulator::in_out(call.count, call.in_place),
            count: call.count,
            in_place: call.in_place,
            plan: (!is_folded).then(|| RailAllreduce::of(&others, parameters)),
        }
    }

    /// A folded rank's steps: it sends its vector and receives the result.
    fn visit(&self, i: u32, partner: u32, acts: &mut Acts) -> u32 {
        if i == 0 {
            acts.send(partner, 0, self.sum.value(false));
            return 0;
        }
        acts.recv(partner, 0, self.sum.value(true));
        // In place, the result overwrites the vector that is being sent.
        u32::from(self.in_place)
    }
}

impl Plan for FoldedAllreduce {
    fn steps(&self) -> u32 {
        match (self.other, &self.plan) {
            _ if self.count == 0 => 0,
            (_, None) => 2,
            (None, Some(plan)) => plan.steps(),
            (Some(_), Some(plan)) => 2 + plan.steps() + 1,
        }
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        let own = self.sum.scratch(u32::from(self.other.is_some()));
        self.plan.map_or(0, |plan| plan.scratch(inputs).max(own))
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        match (self.other, &self.plan) {
            (Some(partner), None) => return Some(self.visit(i, partner, acts)),
            (None, Some(plan)) => return plan.step(i, inputs, acts),
            (Some(folded), Some(_)) if i == 0 => acts.recv(folded, 0, self.sum.room(false)),
            (Some(_), Some(_)) if i == 1 => self.sum.merge(false, false, acts),
            (Some(_), Some(plan)) if i - 2 < plan.steps() => {
                return plan.step(i - 2, inputs, acts).map(|needs| 2 + needs);
            }
            (Some(folded), Some(_)) => acts.send(folded, 0, self.sum.value(true)),
            (None, None) => {}
        }
        Some(i)
    }
}
