//! What serves the calls of one collective on one group, by size: made once, then read by a few
//! compares.

use super::candidates::{Candidates, MOST, candidates, pattern};
use super::{Choice, RULES, Tuning};
use crate::call::{Algorithm, Call, Parameters, SharedMemory};
use crate::catalog::Unsuited;
use crate::cost::Model;
use crate::stages;

/// The most choices in a table: one for each size, and two that each rule adds.
pub const STEPS: usize = SIZES + 2 * RULES;

/// Sizes at which candidates are compared: from 1 B on, doubled each time up to 64 MiB; and from 4 KiB on a
/// byte more than each. Blocks of powers of two are just sent at once, and longer ones are not.
const SIZES: usize = 41;

/// From so many doublings on also a byte more is looked at.
const EAGER_BYTES: usize = 12;

/// The size of that number.
const fn size(at: usize) -> u64 {
    match at.checked_sub(EAGER_BYTES) {
        None => 1 << at,
        Some(beyond) => (1 << (EAGER_BYTES + beyond / 2)) + beyond as u64 % 2,
    }
}

/// Bytes of a block in calls whose lengths not all ranks know.
const UNKNOWN: u64 = 1 << 10;

/// What serves calls from a size on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChoiceStep {
    /// Bytes of the shortest vector or block.
    pub from: u64,
    /// What serves it.
    pub choice: Choice,
}

/// The choices for calls that differ in their length only.
///
/// Without rules of the user's a longer vector is never expected to take less time than a shorter one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceTable {
    steps: heapless::Vec<ChoiceStep, STEPS>,
}

impl ChoiceTable {
    /// The table for calls like this one. It is the same for all that are of one collective, by
    /// groups of one size, whose operations may do the same and, in an alltoall, that are in place
    /// or not: their rank, root, length and elements are not looked at. So all ranks have the same.
    ///
    /// # Errors
    ///
    /// When no algorithm serves such calls, or the call itself is wrong: its rank or root is not in
    /// the group.
    ///
    /// # Cost
    ///
    /// Of an allreduce, which has the most candidates, about 2 ms among 17 to 100 ranks, 4 ms among 1,000 and 25 ms among a
    /// million, 16 on a node; of a reduce_scatter_block half of that or less, and of an allgather a tenth; of a gather 0.7 ms
    /// among 64 ranks, and a fourth of that among more than 72. 200 KiB of stack at most.
    /// Nothing is allocated.
    pub fn new(call: &Call, tuning: &Tuning) -> Result<ChoiceTable, Unsuited> {
        let call = &pattern(call);
        let tuning = &tuning.of(call);
        let forced = tuning.forced.get(call.collective);
        if let Some(forced) = forced.filter(|forced| forced.suits(call).is_ok()) {
            return Ok(ChoiceTable::of(tuning.choice(forced, call.size)));
        }
        // What all ranks do together asks for no comparison: no message is matched or copied twice.
        let by_all = |one: &Algorithm| !one.is_by_messages() && one.suits(call).is_ok();
        let mut all = call.collective.algorithms();
        if let Some(team) = all.find(|one| call.shared_memory == SharedMemory::All && by_all(one)) {
            return Ok(ChoiceTable::of(tuning.choice(team, call.size)));
        }
        let mut table = ChoiceTable::by_cost(call, tuning)?;
        for rule in tuning.rules.iter().rev() {
            if rule.meets(call) {
                let usual = tuning.choice(rule.algorithm, call.size);
                table.overlay(rule.lengths(), rule.choice(usual));
            }
        }
        Ok(table)
    }

    fn of(choice: Choice) -> ChoiceTable {
        let mut steps = heapless::Vec::new();
        // There is room for one.
        let _ = steps.push(ChoiceStep { from: 0, choice });
        ChoiceTable { steps }
    }

    /// What serves a vector or block of so many bytes.
    ///
    /// # Cost
    ///
    /// One compare for each step.
    #[inline]
    pub fn choice(&self, bytes: u64) -> &Choice {
        let after = self.steps[1..].iter().take_while(|step| step.from <= bytes);
        &self.steps[after.count()].choice
    }

    /// The choices, each from where it begins; the first from 0.
    pub fn steps(&self) -> &[ChoiceStep] {
        &self.steps
    }

    /// The table that no wish of the user's has a part in.
    ///
    /// # Errors
    ///
    /// When no algorithm serves such calls.
    pub(super) fn by_cost(call: &Call, tuning: &Tuning) -> Result<ChoiceTable, Unsuited> {
        let mut all = Candidates::new();
        candidates(call, tuning, &mut all, staged)?;
        if let [only] = *all {
            return Ok(ChoiceTable::of(only));
        }
        let contest = Contest {
            call,
            model: tuning.model(call.size),
            candidates: &all,
        };
        if call.collective.has_known_length() {
            return Ok(contest.table());
        }
        let cost = |choice: &&Choice| contest.cost(choice, UNKNOWN);
        let best = contest.candidates.iter().min_by_key(cost);
        best.map(|&best| ChoiceTable::of(best))
            .ok_or(Unsuited::None {
                collective: call.collective,
            })
    }

    /// Puts a choice in place of what served these sizes.
    fn overlay(&mut self, bytes: (u64, u64), choice: Choice) {
        let mut steps = heapless::Vec::<ChoiceStep, STEPS>::new();
        let mut add = |step: ChoiceStep| {
            if steps
                .last()
                .is_none_or(|last: &ChoiceStep| last.choice != step.choice)
            {
                // There is room for two more with each rule, and a collective has no more rules.
                let _ = steps.push(step);
            }
        };
        let (first, last) = bytes;
        let before = self.steps.iter().filter(|step| step.from < first);
        before.for_each(|&step| add(step));
        add(ChoiceStep {
            from: first,
            choice,
        });
        if let Some(next) = last.checked_add(1) {
            add(ChoiceStep {
                from: next,
                choice: *self.choice(next),
            });
            let after = self.steps.iter().filter(|step| step.from > next);
            after.for_each(|&step| add(step));
        }
        self.steps = steps;
    }
}

/// Adds a collective of two stages, with what would serve these alone at any size: so what is chosen
/// is not expected to take longer than they.
pub(super) fn staged(algorithm: Algorithm, call: &Call, tuning: &Tuning, all: &mut Candidates) {
    let base = tuning.choice(algorithm, call.size).parameters;
    let calls = |bytes| {
        let whole = Call {
            count: bytes,
            ..pattern(call)
        };
        stages::calls(&whole)
    };
    let tables = calls(0).map(|stage| ChoiceTable::by_cost(&stage, tuning));
    let [Ok(up), Ok(down)] = &tables else { return };
    // How many bytes each has for one of the whole.
    let [up_bytes, down_bytes] = calls(1).map(|stage| stage.bytes());
    let steps = up.steps().iter().map(|step| step.from.div_ceil(up_bytes));
    let more = down.steps().iter();
    let more = more.map(|step| step.from.div_ceil(down_bytes));
    for [to_root, from_root] in steps.chain(more).map(calls) {
        let stages = [(up, to_root), (down, from_root)];
        let stages = stages.map(|(table, stage)| Some(table.choice(stage.bytes()).as_stage()));
        let choice = Choice {
            algorithm,
            parameters: Parameters { stages, ..base },
        };
        if !all.contains(&choice) {
            let _ = all.push(choice);
        }
    }
}

/// Candidates that are compared.
struct Contest<'a> {
    call: &'a Call,
    model: Model,
    candidates: &'a Candidates,
}

impl Contest<'_> {
    fn cost(&self, choice: &Choice, bytes: u64) -> u64 {
        // The elements of a pattern are bytes.
        let call = Call {
            count: bytes,
            ..*self.call
        };
        choice
            .algorithm
            .cost(&call, &choice.parameters, &self.model)
    }

    /// The candidates for all sizes: of each that is compared the one that costs least, of equals the one
    /// that the catalog lists first. A size between two that are compared stays with the smaller one's
    /// until the larger one's costs no more.
    ///
    /// What costs too much at one size is not asked for the next: longer vectors don't cost less.
    fn table(&self) -> ChoiceTable {
        let mut inputs = [0; MOST];
        let mut best = 0;
        let mut table = ChoiceTable::of(self.candidates[best]);
        for at in 0..SIZES {
            let before = best;
            let mut least = self.cost(&self.candidates[before], size(at));
            inputs[before] = least;
            for (index, candidate) in self.candidates.iter().enumerate() {
                let beats = |cost: u64| (cost, index) < (least, best);
                if index == before || !beats(inputs[index]) {
                    continue;
                }
                let cost = self.cost(candidate, size(at));
                inputs[index] = cost;
                if beats(cost) {
                    (least, best) = (cost, index);
                }
            }
            let [was, now] = [before, best].map(|index| &self.candidates[index]);
            if at == 0 {
                table = ChoiceTable::of(*now);
            } else if best != before {
                let from = self.crossing(was, now, (size(at - 1), size(at)));
                // There are no more sizes than room for steps.
                let _ = table.steps.push(ChoiceStep { from, choice: *now });
            }
        }
        table
    }

    /// The smallest size after `low` and up to `high` from which on `now` costs no more than
    /// `before`; it does at `high`.
    fn crossing(&self, before: &Choice, now: &Choice, sizes: (u64, u64)) -> u64 {
        let (mut low, mut high) = sizes;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.cost(now, middle) <= self.cost(before, middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    }
}
