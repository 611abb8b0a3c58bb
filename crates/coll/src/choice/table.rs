//! Choice tables: the algorithm for each size of one collective's calls on one group, computed once and
//! then looked up.

use super::candidates::{Candidates, MAX_CANDIDATES, candidates, pattern};
use super::cyclic::{DecisionTree, features};
use super::{Choice, RULES, Tuning};
use crate::call::{Algorithm, Call, Parameters, SharedMemory};
use crate::catalog::Unsuited;
use crate::cost::Model;
use crate::stages;

/// The most choices in a table: one for each size compared, and two per rule.
pub const STEPS: usize = SIZES + 2 * RULES;

/// The number of sizes at which candidates are compared: doubled from 1 B to 64 MiB, and from 4 KiB on
/// also one byte more than each, since a block of a power of two may be the longest that is sent eagerly.
const SIZES: usize = 41;

/// The number of doublings after which one byte more is compared, too.
const EAGER_BYTES: usize = 12;

/// The size with this number.
const fn size(at: usize) -> u64 {
    match at.checked_sub(EAGER_BYTES) {
        None => 1 << at,
        Some(beyond) => (1 << (EAGER_BYTES + beyond / 2)) + beyond as u64 % 2,
    }
}

/// The length of blocks, in bytes, that is assumed if not all ranks know lengths.
const UNKNOWN_LENGTH: u64 = 1 << 10;

/// A choice and the size from which on it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChoiceStep {
    /// The smallest size of a vector or block, in bytes.
    pub from: u64,
    /// The choice.
    pub choice: Choice,
}

/// The choices for calls that differ in length only.
///
/// Without rules by the user and decision trees, the expected time never falls with the length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceTable {
    steps: heapless::Vec<ChoiceStep, STEPS>,
}

impl ChoiceTable {
    /// The table for calls like this one. Calls of one collective have the same table if they agree in
    /// group size, properties of the operation, placement and, in an alltoall, in place. Their rank,
    /// root, length and elements do not count, so all ranks have the same table.
    ///
    /// # Errors
    ///
    /// If no algorithm supports such calls, or the call's rank or root is not in the group.
    ///
    /// # Cost
    ///
    /// An allreduce, with the most candidates, takes 2 ms on 17 to 100 ranks, 4 ms on 1,000 and 25 ms on
    /// a million, with 16 per node; a reduce_scatter_block at most half of that, an allgather a tenth; a
    /// gather 0.7 ms on 64 ranks, and a fourth of that on more than 72; by a decision tree, a few us. At most
    /// 200 KiB of stack; nothing is allocated.
    pub fn new(call: &Call, tuning: &Tuning) -> Result<ChoiceTable, Unsuited> {
        let call = &pattern(call);
        let tuning = &tuning.for_call(call);
        let forced = tuning.forced.get(call.collective);
        if let Some(forced) = forced.filter(|forced| forced.suits(call).is_ok()) {
            return Ok(ChoiceTable::of(tuning.choice(forced, call.size)));
        }
        // An intra-node phase needs no comparison: it matches no message and copies nothing twice.
        let by_all = |one: &Algorithm| !one.is_by_messages() && one.suits(call).is_ok();
        let mut all = call.collective.algorithms();
        if let Some(team) = all.find(|one| call.shared_memory == SharedMemory::All && by_all(one)) {
            return Ok(ChoiceTable::of(tuning.choice(team, call.size)));
        }
        let mut table = ChoiceTable::by_default(call, tuning)?;
        for rule in tuning.rules.iter().rev() {
            if rule.applies_to(call) {
                let usual = tuning.choice(rule.algorithm, call.size);
                table.overlay(rule.lengths(), rule.choice(usual));
            }
        }
        Ok(table)
    }

    fn of(choice: Choice) -> ChoiceTable {
        let mut steps = heapless::Vec::new();
        // The capacity is at least 1.
        let _ = steps.push(ChoiceStep { from: 0, choice });
        ChoiceTable { steps }
    }

    /// The choice for a vector or block of this many bytes.
    ///
    /// # Cost
    ///
    /// One comparison per step.
    #[inline]
    pub fn choice(&self, bytes: u64) -> &Choice {
        let after = self.steps[1..].iter().take_while(|step| step.from <= bytes);
        &self.steps[after.count()].choice
    }

    /// The choices and the sizes from which on they are used; the first is used from 0.
    pub fn steps(&self) -> &[ChoiceStep] {
        &self.steps
    }

    /// The table without requirements and rules of the user: by a decision tree, or by cost.
    ///
    /// # Errors
    ///
    /// If no algorithm supports such calls.
    pub(super) fn by_default(call: &Call, tuning: &Tuning) -> Result<ChoiceTable, Unsuited> {
        if let Some(tree) = DecisionTree::of(call, tuning) {
            return Ok(ChoiceTable::by_tree(tree, call, tuning));
        }
        let mut all = Candidates::new();
        candidates(call, tuning, &mut all, staged)?;
        if let [only] = *all {
            return Ok(ChoiceTable::of(only));
        }
        let comparison = Comparison {
            call,
            model: tuning.model(call.size),
            candidates: &all,
        };
        if call.collective.has_known_length() {
            return Ok(comparison.table());
        }
        let cost = |choice: &&Choice| comparison.cost(choice, UNKNOWN_LENGTH);
        let best = comparison.candidates.iter().min_by_key(cost);
        best.map(|&best| ChoiceTable::of(best))
            .ok_or(Unsuited::None {
                collective: call.collective,
            })
    }

    /// The choices of a decision tree.
    fn by_tree(tree: &DecisionTree, call: &Call, tuning: &Tuning) -> ChoiceTable {
        let features = features(call, tuning);
        let (first, mut next) = tree.choice(call, &features, (0, tuning));
        let mut table = ChoiceTable::of(first);
        while let Some(from) = next {
            let (choice, after) = tree.choice(call, &features, (from, tuning));
            if table.steps.last().is_some_and(|last| last.choice != choice)
                && table.steps.len() < SIZES
            {
                // The capacity is larger.
                let _ = table.steps.push(ChoiceStep { from, choice });
            }
            next = after;
        }
        table
    }

    /// Replaces the choices for a range of sizes.
    fn overlay(&mut self, bytes: (u64, u64), choice: Choice) {
        let mut steps = heapless::Vec::<ChoiceStep, STEPS>::new();
        let mut add = |step: ChoiceStep| {
            if steps
                .last()
                .is_none_or(|last: &ChoiceStep| last.choice != step.choice)
            {
                // The capacity allows two more per rule, and a collective has at most RULES rules.
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

/// Adds an algorithm of two stages, with the choices for each stage alone at any size: so it is not
/// expected to take longer than the two separate collectives.
pub(super) fn staged(algorithm: Algorithm, call: &Call, tuning: &Tuning, all: &mut Candidates) {
    let base = tuning.choice(algorithm, call.size).parameters;
    let calls = |bytes| {
        let whole = Call {
            count: bytes,
            ..pattern(call)
        };
        stages::calls(&whole)
    };
    let tables = calls(0).map(|stage| ChoiceTable::by_default(&stage, tuning));
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

/// The comparison of candidates by cost.
struct Comparison<'a> {
    call: &'a Call,
    model: Model,
    candidates: &'a Candidates,
}

impl Comparison<'_> {
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

    /// The cheapest candidate for each compared size; of equals the first in the catalog. Between two
    /// compared sizes the smaller one's candidate is used until the larger one's costs no more.
    ///
    /// As costs do not fall with the length, a candidate that was too expensive at one size is not
    /// evaluated at the next while its known cost is too high.
    fn table(&self) -> ChoiceTable {
        let mut inputs = [0; MAX_CANDIDATES];
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
            let [previous, now] = [before, best].map(|index| &self.candidates[index]);
            if at == 0 {
                table = ChoiceTable::of(*now);
            } else if best != before {
                let from = self.crossing(previous, now, (size(at - 1), size(at)));
                // There are no more sizes than the capacity.
                let _ = table.steps.push(ChoiceStep { from, choice: *now });
            }
        }
        table
    }

    /// The smallest size after `low` and up to `high` from which on `now` costs no more than `before`, as it
    /// does at `high`.
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
