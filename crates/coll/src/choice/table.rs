//! What serves the calls of one collective on one group, by size: made once, then read by a few
//! compares.

use super::candidates::{Candidates, MOST, candidates};
use super::{Choice, RULES, Tuning};
use crate::catalog::{Call, Unsuited};
use crate::cost::Model;

/// The most choices in a table: one for each size, and two that each rule adds.
pub const STEPS: usize = SIZES + 2 * RULES;

/// Sizes at which candidates are compared: from 1 B on, doubled each time.
const SIZES: usize = 27;

/// Bytes of a block in calls whose lengths not all ranks know.
const UNKNOWN: u64 = 1 << 10;

/// What serves calls from a size on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Bytes of the shortest vector or block.
    pub from: u64,
    /// What serves it.
    pub choice: Choice,
}

/// The choices for calls that differ in their length only.
///
/// Without rules of the user's a longer vector never goes back to a candidate that a shorter one has
/// left, and is never expected to take less time than a shorter one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    steps: heapless::Vec<Step, STEPS>,
}

impl Table {
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
    /// Some hundred microseconds, and 20 KiB of stack. Nothing is allocated.
    pub fn new(call: &Call, tuning: &Tuning) -> Result<Table, Unsuited> {
        let call = &pattern(call);
        let tuning = &tuning.of(call);
        let forced = tuning.forced.get(call.collective);
        if let Some(forced) = forced.filter(|forced| forced.suits(call).is_ok()) {
            return Ok(Table::of(tuning.choice(forced, call.size)));
        }
        let mut table = Table::by_cost(call, tuning)?;
        for rule in tuning.rules.iter().rev() {
            if rule.meets(call) {
                let usual = tuning.choice(rule.algorithm, call.size);
                table.overlay(rule.lengths(), rule.choice(usual));
            }
        }
        Ok(table)
    }

    fn of(choice: Choice) -> Table {
        let mut steps = heapless::Vec::new();
        // There is room for one.
        let _ = steps.push(Step { from: 0, choice });
        Table { steps }
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
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn by_cost(call: &Call, tuning: &Tuning) -> Result<Table, Unsuited> {
        let candidates = candidates(call, tuning)?;
        if let [only] = *candidates {
            return Ok(Table::of(only));
        }
        let contest = Contest {
            call,
            model: tuning.model(call.size),
            candidates,
        };
        if call.collective.has_known_length() {
            return Ok(contest.table());
        }
        let cost = |choice: &&Choice| contest.cost(choice, UNKNOWN);
        let best = contest.candidates.iter().min_by_key(cost);
        best.map(|&best| Table::of(best)).ok_or(Unsuited::None {
            collective: call.collective,
        })
    }

    /// Puts a choice in place of what served these sizes.
    fn overlay(&mut self, bytes: (u64, u64), choice: Choice) {
        let mut steps = heapless::Vec::<Step, STEPS>::new();
        let mut add = |step: Step| {
            if steps
                .last()
                .is_none_or(|last: &Step| last.choice != step.choice)
            {
                // There is room for two more with each rule, and a collective has no more rules.
                let _ = steps.push(step);
            }
        };
        let (first, last) = bytes;
        let before = self.steps.iter().filter(|step| step.from < first);
        before.for_each(|&step| add(step));
        add(Step {
            from: first,
            choice,
        });
        if let Some(next) = last.checked_add(1) {
            add(Step {
                from: next,
                choice: *self.choice(next),
            });
            let after = self.steps.iter().filter(|step| step.from > next);
            after.for_each(|&step| add(step));
        }
        self.steps = steps;
    }
}

/// What stands for all calls that have one table: every rank makes it from its own call, in which
/// rank, root and neighbours may differ, or that need not be the first one on every rank. What is
/// wrong stays, so that it is refused.
fn pattern(call: &Call) -> Call {
    let or_wrong = |rank: u32| if rank < call.size { 0 } else { rank };
    let in_place = call.collective.is_in_place_everywhere() && call.in_place;
    Call {
        collective: call.collective,
        remote: call.remote,
        root: or_wrong(call.root),
        commutative: call.commutative,
        exact: call.exact && call.commutative,
        in_place,
        ..Call::barrier(or_wrong(call.rank), call.size)
    }
}

/// Candidates that are compared.
struct Contest<'a> {
    call: &'a Call,
    model: Model,
    candidates: Candidates,
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

    /// The candidates for all sizes. Those that are the best of some size are put in an order, in which
    /// a larger size may only go on: so none comes back, and of two candidates one serves the smaller
    /// sizes. Of all ways to go on, the one is taken on which the chosen ones lose least against the
    /// best.
    fn table(&self) -> Table {
        let losses = self.losses();
        let is_best = |one: &u8| losses.iter().any(|row| row[usize::from(*one)] == 0);
        let mut order = heapless::Vec::<u8, MOST>::new();
        // Of equals the one that the catalog lists first comes last, so that it can stay.
        order.extend((0..self.candidates.len() as u8).rev().filter(is_best));
        insertion_sort(&mut order, |&one| last_best(&losses, one.into()));
        let way = improved(&losses, &mut order);
        let candidate = |at: usize| self.candidates[usize::from(way[at])];
        let mut table = Table::of(candidate(0));
        for at in 1..SIZES {
            let (before, now) = (candidate(at - 1), candidate(at));
            if before != now {
                let from = self.crossing(&before, &now, (1 << (at - 1), 1 << at));
                // There are no more sizes than room for steps.
                let _ = table.steps.push(Step { from, choice: now });
            }
        }
        table
    }

    /// What each candidate loses at each size.
    fn losses(&self) -> Losses {
        let mut losses = [[0; MOST]; SIZES];
        for (at, row) in losses.iter_mut().enumerate() {
            for (cost, choice) in row.iter_mut().zip(&self.candidates) {
                *cost = self.cost(choice, 1 << at);
            }
            let costs = &mut row[..self.candidates.len()];
            let best = costs.iter().copied().min().unwrap_or(0);
            for cost in costs {
                let more = u128::from(*cost - best) << 30;
                *cost = (more / u128::from(best.max(1))).min(1 << 50) as u64;
            }
        }
        losses
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

/// By how much of the best cost each candidate is dearer at each size; 2^30 is as much again.
type Losses = [[u64; MOST]; SIZES];

/// The last size at which a candidate loses least.
fn last_best(losses: &Losses, one: usize) -> u64 {
    let least = (0..SIZES).rev().min_by_key(|&at| losses[at][one]);
    least.unwrap_or(0) as u64
}

/// The candidate of each size on the best way through an order, and what is lost on it.
fn way(losses: &Losses, order: &[u8]) -> (u64, [u8; SIZES]) {
    let mut lost = [0_u64; MOST];
    let mut came = [[0_u8; MOST]; SIZES];
    for (losses, came) in losses.iter().zip(&mut came) {
        let (mut least, mut from) = (u64::MAX, 0);
        for (at, &one) in order.iter().enumerate() {
            if lost[at] <= least {
                (least, from) = (lost[at], at as u8);
            }
            came[at] = from;
            lost[at] = least + losses[usize::from(one)];
        }
    }
    let last = (0..order.len()).rev().min_by_key(|&at| lost[at]);
    let mut at = last.unwrap_or(0);
    let total = lost[at];
    let mut way = [0; SIZES];
    for (way, came) in way.iter_mut().zip(&came).rev() {
        *way = order[at];
        at = came[at].into();
    }
    (total, way)
}

/// The best way through any order that comes of this one by moving one candidate after another, as
/// long as that helps.
fn improved(losses: &Losses, order: &mut [u8]) -> [u8; SIZES] {
    let (mut least, mut best) = way(losses, order);
    let mut helps = true;
    while helps {
        helps = false;
        let many = order.len();
        for (from, to) in (0..many).flat_map(|from| (0..many).map(move |to| (from, to))) {
            turn(order, from, to);
            let (lost, other) = way(losses, order);
            if lost < least {
                (least, best, helps) = (lost, other, true);
            } else {
                turn(order, to, from);
            }
        }
    }
    best
}

/// Moves an element to another place.
fn turn(order: &mut [u8], from: usize, to: usize) {
    if from < to {
        order[from..=to].rotate_left(1);
    } else {
        order[to..=from].rotate_right(1);
    }
}

/// Sorts few elements by a key, and keeps equals in their order, without memory.
fn insertion_sort<T>(all: &mut [T], key: impl Fn(&T) -> u64) {
    for end in 1..all.len() {
        let mut at = end;
        while at > 0 && key(&all[at]) < key(&all[at - 1]) {
            all.swap(at - 1, at);
            at -= 1;
        }
    }
}
