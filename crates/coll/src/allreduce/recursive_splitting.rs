//! Allreduce by recursive splitting: all ranks are cut into `k` almost equal parts, each of these again,
//! and so on; then, from the smallest groups to the whole, the parts of a group exchange what they have.
//!
//! `ceil(log_k p)` phases of up to `k - 1` messages each way, which travel together where a network
//! carries several at a time; each is the whole vector. Where `p` is a power of `k` this is recursive
//! multiplying. For every other `p` too no rank is folded into another one and waits outside: a rank
//! meets those of its number in the other parts, and where these have one more, a rank of the shorter
//! part sends to it besides, another one for each part.
//!
//! All ranks of a group combine its contributions from left to right: operations need not commute,
//! and all ranks get the same bits. After Ruefenacht, Bull and Booth, "Generalisation of recursive
//! doubling for AllReduce", 2017.

use super::merge::Merge;
use crate::accumulate::Accumulator;
use crate::call::{Call, Parameters};
use crate::partition::Partition;
use crate::phase::phase;
use crate::plan::{Acts, Plan, PlanInputs};
use crate::tree::levels_of;

/// The largest radix: a step holds the messages of a phase.
pub(crate) const MAX_RADIX: u32 = 8;

/// One rank's plan for allreduce by recursive splitting.
///
/// Each phase has a step to receive, one to send to ranks of longer parts without a partner here (which wait
/// for several messages), one to send to the others, and one for each contribution to be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecursiveSplitting {
    rank: u32,
    size: u32,
    radix: u32,
    phases: u32,
    count: u64,
    sum: Accumulator,
    in_place: bool,
}

/// Consecutive ranks that are cut into parts, seen from a rank in one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    first: u32,
    cut: Partition,
    parts: u32,
    /// The rank's part.
    own: u32,
}

impl Group {
    /// A group of `size` ranks from `first` on.
    fn new(rank: u32, (first, size): (u32, u32), radix: u32) -> Self {
        let parts = radix.min(size);
        let cut = Partition::new(size.into(), parts);
        Group {
            first,
            cut,
            parts,
            own: cut.index((rank - first).into()),
        }
    }

    /// The rank's group of `size` ranks after `cuts` cuts.
    fn after(cuts: u32, rank: u32, size: u32, radix: u32) -> Self {
        let all = Group::new(rank, (0, size), radix);
        (0..cuts).fold(all, |group, _| {
            Group::new(rank, group.part(group.own), radix)
        })
    }

    /// The first rank of a part, and how many it has.
    fn part(&self, index: u32) -> (u32, u32) {
        let (start, length) = self.cut.piece(index);
        (self.first + start as u32, length as u32)
    }

    /// The rank of another part that sends its contribution to `rank`.
    fn giver(&self, rank: u32, other: u32) -> u32 {
        let ((first, _), (start, length)) = (self.part(self.own), self.part(other));
        let number = rank - first;
        start
            + if number < length {
                number
            } else {
                self.own % length
            }
    }

    /// The rank of another part that has no partner here, if it gets this part's contribution from
    /// the rank.
    fn left_over(&self, rank: u32, other: u32) -> Option<u32> {
        let ((first, here), (start, there)) = (self.part(self.own), self.part(other));
        (there > here && rank - first == other % here).then(|| start + here)
    }
}

/// Whether a group begins with the rank after `cuts` cuts.
pub(crate) fn begins_group(rank: u32, size: u32, radix: u32, cuts: u32) -> bool {
    Group::after(cuts, rank, size, radix).first == rank
}

impl RecursiveSplitting {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        RecursiveSplitting {
            rank: call.rank,
            size: call.size,
            radix: parameters.radix,
            phases: levels_of(call.size, parameters.radix),
            count: call.count,
            sum: Accumulator::in_out(call.count, call.in_place),
            in_place: call.in_place,
        }
    }

    /// At most the rounds: exact for powers of a radix up to 4. Otherwise some ranks send more, and others
    /// wait for busy receivers.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let radix = parameters.radix;
        let phases = levels_of(call.size, radix);
        let once = u64::from(phases * (radix - 1));
        let is_power = radix.checked_pow(phases) == Some(call.size);
        if is_power { once } else { 2 * once }
    }

    /// Steps of a phase.
    const fn phase_steps(&self) -> u32 {
        self.radix + 2
    }

    /// The group that exchanges in the phase.
    fn group(&self, phase: u32) -> Group {
        let cuts = self.phases - 1 - phase;
        Group::after(cuts, self.rank, self.size, self.radix)
    }

    /// How this rank merges what a group has. Its contribution is still in `In` where its part is itself.
    fn merge(&self, group: &Group) -> Merge {
        Merge {
            own: group.own,
            fresh: !self.in_place && group.part(group.own).1 == 1,
            count: self.count,
            sum: self.sum,
        }
    }

    /// Step `i` of a phase, and how many of its steps that needs.
    fn phase(&self, phase: u32, i: u32, acts: &mut Acts) -> u32 {
        let group = self.group(phase);
        let merge = self.merge(&group);
        let other = |distance| (group.own + distance) % group.parts;
        let others = (1..group.parts).map(other);
        match i {
            0 => {
                for part in others.rev() {
                    let giver = group.giver(self.rank, part);
                    acts.recv(giver, phase, merge.room(part));
                }
                0
            }
            1 => {
                let left_over = others.filter_map(|part| group.left_over(self.rank, part));
                left_over.for_each(|rank| acts.send(rank, phase, merge.contribution()));
                0
            }
            2 => {
                let (first, _) = group.part(group.own);
                for (start, length) in others.map(|part| group.part(part)) {
                    let number = self.rank - first;
                    if number < length {
                        acts.send(start + number, phase, merge.contribution());
                    }
                }
                0
            }
            _ => {
                if i - 2 < group.parts {
                    merge.step(i - 3, acts);
                }
                i
            }
        }
    }
}

impl Plan for RecursiveSplitting {
    fn steps(&self) -> u32 {
        match self.count {
            0 => 0,
            _ => (self.phases * self.phase_steps()).max(1),
        }
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        u64::from(self.radix.min(self.size) - 1) * self.count
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        if self.phases == 0 {
            self.sum.take_input(acts);
            return Some(0);
        }
        let (phase, step) = (i / self.phase_steps(), i % self.phase_steps());
        Some(i - step + self.phase(phase, step, acts))
    }
}

phase!(RecursiveSplitting);
