//! An allreduce whose last node is filled in part: its ranks are guests of ranks on the node before, which reduce
//! for them and hand the result back.
//!
//! Two more rounds, of the whole vector, which all guests begin at the same time.

use super::LaneAllreduce;
use crate::accumulate::Accumulator;
use crate::catalog::{Call, Parameters};
use crate::placement::Order;
use crate::plan::{Acts, Known, Plan};

/// One rank's part: a guest's, or that in an allreduce of all others, before and after which a host has a few steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuestAllreduce {
    /// The host of a guest, or the guest of a host.
    other: Option<u32>,
    sum: Accumulator,
    count: u64,
    in_place: bool,
    /// What is done without the guests.
    plan: Option<LaneAllreduce>,
}

/// The ranks that are no guests: those on full nodes, where there are such.
pub(crate) fn hosts(call: &Call, parameters: &Parameters) -> u32 {
    let most = parameters.per_node.max(1);
    match parameters.order {
        Order::Block if call.size > most => call.size - call.size % most,
        _ => call.size,
    }
}

impl GuestAllreduce {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let size = hosts(call, parameters);
        let is_guest = call.rank >= size;
        let other = match is_guest {
            true => call.rank.checked_sub(parameters.per_node),
            false => call.rank.checked_add(parameters.per_node),
        };
        let other = other.filter(|other| is_guest || (size..call.size).contains(other));
        let others = Call {
            size,
            in_place: call.in_place || other.is_some(),
            ..*call
        };
        GuestAllreduce {
            other,
            sum: Accumulator::in_out(call.count, call.in_place),
            count: call.count,
            in_place: call.in_place,
            plan: (!is_guest).then(|| LaneAllreduce::of(&others, parameters)),
        }
    }

    /// A guest's two steps: it gives its vector away, and gets the result.
    fn visit(&self, i: u32, host: u32, acts: &mut Acts) -> u32 {
        if i == 0 {
            acts.send(host, 0, self.sum.value(false));
            return 0;
        }
        acts.recv(host, 0, self.sum.value(true));
        // Only in place does the result overwrite what is still being sent.
        u32::from(self.in_place)
    }
}

impl Plan for GuestAllreduce {
    fn steps(&self) -> u32 {
        match (self.other, &self.plan) {
            _ if self.count == 0 => 0,
            (_, None) => 2,
            (None, Some(plan)) => plan.steps(),
            (Some(_), Some(plan)) => 2 + plan.steps() + 1,
        }
    }

    fn scratch(&self, known: &Known<'_>) -> u64 {
        let own = self.sum.scratch(u32::from(self.other.is_some()));
        self.plan.map_or(0, |plan| plan.scratch(known).max(own))
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        match (self.other, &self.plan) {
            (Some(host), None) => return Some(self.visit(i, host, acts)),
            (None, Some(plan)) => return plan.step(i, known, acts),
            (Some(guest), Some(_)) if i == 0 => acts.recv(guest, 0, self.sum.room(false)),
            (Some(_), Some(_)) if i == 1 => self.sum.merge(false, false, acts),
            (Some(_), Some(plan)) if i - 2 < plan.steps() => {
                return plan.step(i - 2, known, acts).map(|needs| 2 + needs);
            }
            (Some(guest), Some(_)) => acts.send(guest, 0, self.sum.value(true)),
            (None, None) => {}
        }
        Some(i)
    }
}
