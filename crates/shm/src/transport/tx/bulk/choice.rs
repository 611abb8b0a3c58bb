//! Which bulk protocol a get takes: a [`CostTable`] of measured costs for each peer.
//!
//! What is fastest depends on the machine, on where the two processors are at the moment, on the size, and on what is
//! in a cache. So each get is timed, and for each peer and size class the table keeps the cost of a byte by each
//! protocol: the least of its last few gets, since a disturbance only makes them slower.
//!
//! A protocol is tried by a *run*: several gets in a row, of which the first ones do not count. They find the sender
//! prepared for another protocol, and the caches full of what another one touches: on an Emerald Rapids one or two
//! gets of 1 MiB in a row made copying by both sides look slower than windows, which take twice its time.
//!
//! 1. Each protocol is tried once, except those that cost clearly more than the best for a neighbouring size.
//! 2. From then on a get takes the cheapest protocol. Now and then another one is tried, so rarely that by the
//!    estimates all trials together cost at most 1% of the time.
//!
//! Gets while a message goes the other way have a table of their own: then the peer's processor has work of its own.
//! So have gets of bytes with gaps: their costs depend on the length of the ranges, not on the size alone.
//! Of a pair that exchanges messages the lower rank chooses and the higher one follows: each side's choice changes
//! what the other side measures, and a ping-pong window is fast only if both use it.
//!
//! Nothing here reads a clock or moves a byte.

use std::time::Duration;
use std::vec::Vec;

use oxmpi_wire::trials::{Estimate, Policy, per_byte};

use super::protocol::{BulkProtocol, PROTOCOLS, ProtocolSet};

/// The protocol of gets of one size class from one peer, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BulkChoice {
    /// Shortest message of the class, in bytes.
    pub min_len: u64,
    /// Longest message of the class, in bytes.
    pub max_len: u64,
    /// Whether messages go the other way at the same time.
    pub bidirectional: bool,
    /// Whether the bytes have gaps on either side.
    pub gaps: bool,
    /// The protocol that is used now.
    pub protocol: BulkProtocol,
    /// Why that one.
    pub reason: &'static str,
    /// By protocol: the measured cost in nanoseconds for 1,024 bytes, `None` where it was never used, and the number of
    /// gets that were timed.
    pub costs: [(BulkProtocol, Option<f32>, u32); PROTOCOLS],
}

/// Number of size classes: each goes up to twice the length of the one before, the last one has no end.
pub(super) const CLASSES: usize = 12;

/// Shortest length of the second class.
const SECOND_CLASS: u64 = 16 << 10;

/// Units of an estimate in a nanosecond: costs are femtoseconds a byte.
const UNIT: u64 = 1_000_000;

/// Gets of a run.
const RUN: u32 = 6;

/// Gets of a run at most: it goes on while each get is much faster than those before, for the first ones wait for pages.
const LONGEST_RUN: u32 = 16;

/// Gets in a row by one protocol that do not count.
const UNCOUNTED: u32 = 2;

/// A run goes on after a get that costs less than this part of the least before.
const BETTER: f32 = 0.9;

/// The least of the last 4 to 8 gets counts.
const POLICY: Policy = Policy::LeastOf(4);

/// A run ends with a get that costs so many times the best.
const HOPELESS: f32 = 3.0;

/// A protocol that costs so many times the best for a neighbouring size is not tried at first.
const DEARER: f32 = 2.0;

/// Another protocol replaces the best one if it costs less than this part of it: nearly equal ones do not alternate.
const CHEAPER: f32 = 0.97;

/// Gets between two later runs, at least.
const PAUSE: u32 = 128;

/// The part of the time that later runs may cost.
const TRIAL_SHARE: f32 = 0.01;

/// The same while some protocol was never tried.
const FIRST_TRIAL_SHARE: f32 = 0.02;

/// A protocol of which nothing is known is assumed to cost so many times the best.
const PRESUMED: f32 = 1.5;

/// The size class of a length.
pub(super) fn size_class(len: u64) -> usize {
    let doublings = (len / SECOND_CLASS)
        .checked_ilog2()
        .map_or(0, |log| log + 1);
    (doublings as usize).min(CLASSES - 1)
}

/// First length of a size class.
fn start(class: usize) -> u64 {
    if class == 0 {
        1
    } else {
        SECOND_CLASS << (class - 1)
    }
}

/// What one peer's protocols were measured to cost, by size class.
#[derive(Clone, Debug, Default)]
pub(super) struct CostTable {
    classes: [SizeClass; CLASSES],
}

#[derive(Clone, Copy, Debug, Default)]
struct SizeClass {
    costs: [ProtocolCost; PROTOCOLS],
    /// The best protocol so far.
    best: Option<BulkProtocol>,
    run: Option<Run>,
    /// Femtoseconds that runs may cost by now.
    credit: f32,
    /// Gets since the last run.
    since: u32,
    /// Later runs so far.
    runs: usize,
    /// The protocol of the last get, and how many in a row were by it.
    last: Option<BulkProtocol>,
    streak: u32,
}

/// Gets in a row by one protocol, to see what it costs.
#[derive(Clone, Copy, Debug)]
struct Run {
    protocol: BulkProtocol,
    /// Those that ended.
    gets: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct ProtocolCost {
    estimate: Estimate,
    /// A neighbouring size's cost; 0: nothing is known.
    guess: u64,
    /// Was not open when it was to be tried, or costs too much for a neighbouring size: it has later runs only.
    passed_over: bool,
}

impl ProtocolCost {
    /// The cost of a byte, measured or guessed; `None`: nothing is known.
    fn cost(&self) -> Option<f32> {
        let cost = match self.estimate.samples() {
            0 => self.guess,
            _ => self.estimate.cost(),
        };
        (cost > 0).then_some(cost as f32)
    }

    fn is_tried(&self) -> bool {
        self.estimate.samples() > 0 || self.passed_over
    }
}

impl CostTable {
    /// The protocol for the next get of `len` bytes, one of `open`, which is not empty. `pushed`: the bytes are in a
    /// ping-pong window already.
    pub(super) fn pick(&mut self, len: u64, open: ProtocolSet, pushed: bool) -> BulkProtocol {
        let number = size_class(len);
        self.guess_costs(number);
        let class = &mut self.classes[number];
        if let Some(run) = class.run {
            if open.has(run.protocol) {
                return run.protocol;
            }
            class.costs[run.protocol.index()].passed_over = true;
            class.run = None;
        }
        let best = class.best(open);
        let next = class
            .first_run(open, pushed)
            .or_else(|| class.later_run(len, open, best?));
        if let Some(protocol) = next {
            class.run = Some(Run { protocol, gets: 0 });
        }
        let first = || open.iter().next().expect("some protocol is open");
        next.or(best).unwrap_or_else(first)
    }

    /// Records that a get of `len` bytes took so long.
    pub(super) fn learn(&mut self, len: u64, protocol: BulkProtocol, time: Duration) {
        let class = &mut self.classes[size_class(len)];
        let cost = per_byte(time, len, UNIT);
        let in_a_row = class.last.replace(protocol) == Some(protocol);
        class.streak = if in_a_row { class.streak + 1 } else { 1 };
        let before = class.of(protocol).estimate;
        let counts = class.streak > UNCOUNTED || before.samples() == 0;
        if counts {
            class.costs[protocol.index()].estimate.learn(POLICY, cost);
        }
        let best = class.best.and_then(|best| class.of(best).cost());
        let ends = class.run.as_mut().filter(|run| run.protocol == protocol);
        let ends = ends.is_some_and(|run| {
            run.gets += 1;
            let is_better = (cost as f32) < BETTER * before.cost() as f32;
            let is_hopeless =
                class.streak > UNCOUNTED && best.is_some_and(|best| cost as f32 > HOPELESS * best);
            let is_long = run.gets >= RUN && !is_better || run.gets >= LONGEST_RUN;
            is_long || is_hopeless
        });
        if ends {
            class.run = None;
        }
    }

    /// Takes the costs of the nearest size class that was used as guesses for one that was not.
    fn guess_costs(&mut self, number: usize) {
        let is_used = |class: &&SizeClass| class.last.is_some();
        if self.classes[number].last.is_some() || self.classes[number].best.is_some() {
            return;
        }
        let (below, above) = self.classes.split_at(number);
        let nearest = (below.iter().rev().position(|class| is_used(&class)))
            .map(|distance| (&below[number - 1 - distance], distance))
            .or_else(|| Some((above.iter().find(is_used)?, 1)));
        let Some((&nearest, distance)) = nearest else {
            return;
        };
        let class = &mut self.classes[number];
        class.best = nearest.best;
        let best = nearest.best.and_then(|best| nearest.of(best).cost());
        for (known, near) in class.costs.iter_mut().zip(&nearest.costs) {
            let cost = near.cost().unwrap_or(0.0);
            known.guess = cost as u64;
            // Further off, handshakes have another share.
            known.passed_over = distance == 0 && best.is_some_and(|best| cost > DEARER * best);
        }
    }

    /// The choice of each size class that was used.
    pub(super) fn choices(&self, bidirectional: bool, gaps: bool) -> Vec<BulkChoice> {
        let all = BulkProtocol::CLAIMABLE
            .into_iter()
            .fold(ProtocolSet::default(), ProtocolSet::with);
        let classes = self.classes.iter().enumerate();
        let choices = classes.filter_map(|(number, class)| {
            let protocol = { *class }.best(all)?;
            let costs = BulkProtocol::CLAIMABLE.map(|protocol| {
                let estimate = class.of(protocol).estimate;
                let (cost, samples) = (estimate.cost() as f32, estimate.samples());
                let cost = (samples > 0).then_some(cost * 1024.0 / UNIT as f32);
                (protocol, cost, samples)
            });
            let mut tried = costs.iter().filter(|cost| cost.2 > 0);
            let reason = if tried.clone().count() == 1 {
                "no other was tried"
            } else if tried.any(|cost| cost.2 + UNCOUNTED < RUN) {
                "the best so far; trials go on"
            } else {
                "the best by trial"
            };
            Some(BulkChoice {
                min_len: start(number),
                max_len: if number + 1 < CLASSES {
                    start(number + 1) - 1
                } else {
                    u64::MAX
                },
                bidirectional,
                gaps,
                protocol,
                reason,
                costs,
            })
        });
        choices.collect()
    }
}

impl SizeClass {
    fn of(&self, protocol: BulkProtocol) -> &ProtocolCost {
        &self.costs[protocol.index()]
    }

    /// The cheapest of these protocols; the last best one as long as no other is clearly cheaper. `None`: nothing is
    /// known of any.
    fn best(&mut self, open: ProtocolSet) -> Option<BulkProtocol> {
        let cost = |protocol| self.of(protocol).cost();
        let known = open
            .iter()
            .filter_map(|protocol| Some((protocol, cost(protocol)?)));
        let (cheapest, least) = known.min_by(|a, b| a.1.total_cmp(&b.1))?;
        let last = self.best.filter(|&last| open.has(last));
        let stays = last.filter(|&last| cost(last).is_some_and(|cost| least > CHEAPER * cost));
        let best = stays.unwrap_or(cheapest);
        self.best = Some(best);
        Some(best)
    }

    /// The protocol to try next of those that were not tried, the one that is thought cheapest first. A window is tried
    /// when there is one.
    fn first_run(&self, open: ProtocolSet, pushed: bool) -> Option<BulkProtocol> {
        let untried = (open.iter())
            .filter(|&protocol| pushed || protocol != BulkProtocol::Slots)
            .filter(|&protocol| !self.of(protocol).is_tried());
        untried.min_by_key(|&protocol| self.of(protocol).guess)
    }

    /// The protocol to try again, if it is time for it. Counts a get.
    fn later_run(
        &mut self,
        len: u64,
        open: ProtocolSet,
        best: BulkProtocol,
    ) -> Option<BulkProtocol> {
        let least = self.of(best).cost()?;
        let is_new = |protocol| self.of(protocol).estimate.samples() == 0;
        let share = match open.iter().any(is_new) {
            true => FIRST_TRIAL_SHARE,
            false => TRIAL_SHARE,
        };
        self.credit += share * least * len as f32;
        self.since += 1;
        if self.since < PAUSE {
            return None;
        }
        let others = || open.iter().filter(|&protocol| protocol != best);
        // Alternately the next best one, which a disturbance may have made look worse, and all others.
        let (round, is_next_best) = (self.runs / 2, self.runs.is_multiple_of(2));
        let cost = |protocol: &BulkProtocol| self.of(*protocol).cost().unwrap_or(f32::MAX);
        let next = match is_next_best {
            true => others().min_by(|a, b| cost(a).total_cmp(&cost(b))),
            false => others().nth(round % others().count().max(1)),
        }?;
        let cost = self.of(next).cost().unwrap_or(PRESUMED * least);
        let loss = RUN as f32 * (cost - least).max(0.0) * len as f32;
        if loss > self.credit {
            return None;
        }
        self.credit -= loss;
        self.since = 0;
        self.runs += 1;
        Some(next)
    }
}

#[cfg(test)]
mod tests;
