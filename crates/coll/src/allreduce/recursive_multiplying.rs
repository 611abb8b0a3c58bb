//! Allreduce by recursive multiplying: groups of `k` ranks exchange what they have all with all,
//! then groups of `k` such groups, and so on.
//!
//! `k - 1` messages for each of `log_k p` phases, which travel together where a network carries
//! several at a time; each is the whole vector. Where `p` is no power of `k`, consecutive ranks are
//! folded into one first, so that a power of `k` remains, and get the result from it at the end.
//!
//! All ranks of a group combine its contributions from left to right: operations need not commute,
//! and all ranks get the same bits. Ruefenacht, Bull and Booth, "Generalisation of recursive
//! doubling for AllReduce", 2017.

use super::merge::Merge;
use crate::accumulate::Accumulator;
use crate::call::{Call, Parameters};
use crate::fold::Fold;
use crate::plan::{Acts, Plan, PlanInputs};

/// The largest radix: a step holds the messages of a phase.
pub(crate) const MAX_RADIX: u32 = 8;

/// One rank's plan for allreduce by recursive multiplying.
///
/// A leader takes two steps for each follower, then in each phase one to receive, one to send and
/// one for each contribution to be merged, and then one to hand the result to each follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecursiveMultiplying {
    fold: Fold,
    radix: u32,
    phases: u32,
    count: u64,
    sum: Accumulator,
    in_place: bool,
}

impl RecursiveMultiplying {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let radix = parameters.radix;
        let (phases, places) = Fold::power(call.size, radix);
        RecursiveMultiplying {
            fold: Fold::new(call.rank, call.size, places, 0),
            radix,
            phases,
            count: call.count,
            sum: Accumulator::in_out(call.count, call.in_place),
            in_place: call.in_place,
        }
    }

    /// The number of rounds at most. Leaders with followers start late; with more than three
    /// messages in a phase, ranks then wait for each other's ports.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let radix = parameters.radix;
        let (phases, places) = Fold::power(call.size, radix);
        let followers = Fold::most(call.size, places) - 1;
        let waiting = if radix > 4 && followers > 0 {
            (radix - 1) / 2
        } else {
            0
        };
        (phases * (radix - 1) + 2 * followers + waiting).into()
    }

    /// Steps of a phase.
    const fn phase_steps(&self) -> u32 {
        self.radix + 1
    }

    /// This rank's digit of the phase: its number in the group.
    fn digit(&self, phase: u32) -> u32 {
        self.fold.place() / self.radix.pow(phase) % self.radix
    }

    /// The rank with another digit in the same group.
    fn peer(&self, phase: u32, digit: u32) -> u32 {
        let weight = self.radix.pow(phase);
        let place = self.fold.place() - self.digit(phase) * weight + digit * weight;
        self.fold.leader(place)
    }

    /// How this rank merges what its group has.
    fn merge(&self, phase: u32) -> Merge {
        Merge {
            own: self.digit(phase),
            fresh: phase == 0 && self.fold.followers() == 0 && !self.in_place,
            count: self.count,
            sum: self.sum,
        }
    }

    /// Step `i` of a phase, and how many of its steps that needs.
    fn phase(&self, phase: u32, i: u32, acts: &mut Acts) -> u32 {
        let merge = self.merge(phase);
        let other = |distance| (merge.own + distance) % self.radix;
        match i {
            0 => {
                for digit in (1..self.radix).rev().map(other) {
                    acts.recv(self.peer(phase, digit), phase, merge.room(digit));
                }
                0
            }
            1 => {
                for digit in (1..self.radix).map(other) {
                    acts.send(self.peer(phase, digit), phase, merge.contribution());
                }
                0
            }
            _ => {
                merge.step(i - 2, acts);
                i
            }
        }
    }
}

impl Plan for RecursiveMultiplying {
    fn steps(&self) -> u32 {
        match () {
            () if self.count == 0 => 0,
            () if !self.fold.leads() => 2,
            () => (3 * self.fold.followers() + self.phases * self.phase_steps()).max(1),
        }
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        let rooms = match self.phases {
            0 => 0,
            _ => u64::from(self.radix - 1),
        };
        match self.fold.leads() {
            true => (rooms * self.count).max(self.sum.scratch(self.fold.followers())),
            false => 0,
        }
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        if !self.fold.leads() {
            return Some(match i {
                0 => {
                    self.fold.send_contribution(&self.sum, acts);
                    0
                }
                _ => {
                    self.fold.recv_result(&self.sum, acts);
                    1
                }
            });
        }
        let folding = 2 * self.fold.followers();
        let Some(after) = i.checked_sub(folding) else {
            self.fold.gather_step(i, &self.sum, acts);
            return Some(i);
        };
        let (phase, step) = (after / self.phase_steps(), after % self.phase_steps());
        if phase < self.phases {
            return Some(i - step + self.phase(phase, step, acts));
        }
        let end = folding + self.phases * self.phase_steps();
        if self.fold.followers() > 0 {
            self.fold.send_result(i - end, &self.sum, acts);
        } else {
            self.sum.take_input(acts);
        }
        Some(end)
    }
}
