//! Which bulk protocol a get takes: a [`CostTable`] of measured costs for each peer.
//!
//! What is fastest depends on the machine, on where the two processors are at the moment, on the size, and on what is
//! in a cache. So each get is timed, and for each peer and size class the table keeps the cost of a byte by each
//! protocol: the least of its last few gets, since a disturbance only makes them slower.
//!
//! 1. Bytes that came in a ping-pong window are taken from there at first. Else each protocol is tried until it gets no
//!    better, except those that cost several times the best, here or for a neighbouring size.
//! 2. From then on a get takes the cheapest protocol. Now and then another one is tried, twice in a row, so rarely
//!    that by the estimates all trials together cost at most 1% of the time.
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

/// Least number of trials of a protocol before its estimate counts: the first ones touch pages for the first time.
const MIN_TRIALS: u32 = 3;

/// Greatest number of such trials.
const MAX_TRIALS: u32 = 12;

/// More trials follow one that costs less than this part of the least before.
const BETTER: f32 = 0.9;

/// The least of the last 4 to 8 gets counts.
const POLICY: Policy = Policy::LeastOf(4);

/// A protocol that costs so many times the best, after [`MIN_TRIALS`] or for a neighbouring size, is not tried at first.
const HOPELESS: f32 = 4.0;

/// Gets between two trials of other protocols, at least.
const PAUSE: u32 = 16;

/// The part of the time that trials may cost.
const TRIAL_SHARE: f32 = 0.01;

/// The same while some protocol was never tried.
const FIRST_TRIAL_SHARE: f32 = 0.02;

/// A protocol that was never tried is assumed to cost so many times the best.
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
    /// Femtoseconds that trials may cost by now.
    credit: f32,
    /// Gets since the last trial.
    since: u32,
    /// Trials so far; they go round the other protocols.
    trials: usize,
    /// The protocol to try a second time: at the first trial the sender is prepared for another one.
    again: Option<BulkProtocol>,
    /// The protocol of the last get.
    last: Option<BulkProtocol>,
}

#[derive(Clone, Copy, Debug, Default)]
struct ProtocolCost {
    estimate: Estimate,
    /// Trials since the last one that was much better than those before.
    settled: u32,
    /// Not worth a trial at first.
    hopeless: bool,
}

impl ProtocolCost {
    fn cost(&self) -> f32 {
        self.estimate.cost() as f32
    }

    fn samples(&self) -> u32 {
        self.estimate.samples()
    }

    fn is_known(&self) -> bool {
        let settled = self.samples() >= MIN_TRIALS && self.settled + 1 >= MIN_TRIALS;
        settled || self.samples() >= MAX_TRIALS || self.hopeless
    }

    fn learn(&mut self, cost: u64) {
        let better = self.samples() == 0 || (cost as f32) < BETTER * self.cost();
        self.settled = if better { 0 } else { self.settled + 1 };
        self.estimate.learn(POLICY, cost);
    }
}

impl CostTable {
    /// The protocol for the next get of `len` bytes, one of `open`, which is not empty. `pushed`: the bytes are in a
    /// ping-pong window already.
    pub(super) fn pick(&mut self, len: u64, open: ProtocolSet, pushed: bool) -> BulkProtocol {
        let number = size_class(len);
        self.inherit_hopeless(number, open);
        let class = &mut self.classes[number];
        class.mark_hopeless(open);
        // Once the window's cost is known, other protocols are tried now and then only, as below.
        let settled = open.has(BulkProtocol::Slots) && class.of(BulkProtocol::Slots).is_known();
        let mut first = open
            .iter()
            .filter(|&protocol| !settled && (protocol == BulkProtocol::Slots) == pushed)
            .filter(|&protocol| !class.of(protocol).is_known());
        if let Some(protocol) = first.next() {
            return protocol;
        }
        let best = class.best(open).expect("some protocol is open");
        let is_new = |protocol: BulkProtocol| class.of(protocol).samples() == 0;
        let cost = |protocol: BulkProtocol| {
            let presumed = is_new(protocol) && !class.of(protocol).hopeless;
            len as f32
                * if presumed {
                    PRESUMED * class.of(best).cost()
                } else {
                    class.of(protocol).cost()
                }
        };
        if let Some(protocol) = class.again.filter(|&protocol| open.has(protocol)) {
            class.again = None;
            return protocol;
        }
        let share = if open.iter().any(is_new) {
            FIRST_TRIAL_SHARE
        } else {
            TRIAL_SHARE
        };
        let earned = share * cost(best);
        let others = || open.iter().filter(|&protocol| protocol != best);
        let next = others().nth(class.trials % others().count().max(1));
        let loss = next.map_or(0.0, |other| 2.0 * (cost(other) - cost(best)));
        class.again = None;
        class.since += 1;
        class.credit += earned;
        let Some(other) = next.filter(|_| class.since >= PAUSE && loss <= class.credit) else {
            return best;
        };
        class.credit -= loss;
        class.since = 0;
        class.trials += 1;
        class.again = Some(other);
        other
    }

    /// Records that a get of `len` bytes took so long.
    pub(super) fn learn(&mut self, len: u64, protocol: BulkProtocol, time: Duration) {
        let class = &mut self.classes[size_class(len)];
        let changed = class.last.replace(protocol) != Some(protocol);
        let known = &mut class.costs[protocol.index()];
        let cost = per_byte(time, len, UNIT);
        // The first get by another protocol pays for the change.
        if !(changed && known.is_known() && cost > known.estimate.cost()) {
            known.learn(cost);
        }
    }

    /// Protocols that were hopeless for the next smaller size class that was used are not tried for this one.
    fn inherit_hopeless(&mut self, number: usize, open: ProtocolSet) {
        let unused = |class: &SizeClass| class.costs.iter().all(|known| known.samples() == 0);
        if number == 0 || !unused(&self.classes[number]) {
            return;
        }
        let below = self.classes[..number].iter().rev();
        let Some(below) = below.copied().find(|class| !unused(class)) else {
            return;
        };
        let Some(best) = below.best(open) else { return };
        for (known, below_known) in self.classes[number].costs.iter_mut().zip(below.costs) {
            if below_known.is_known() && below_known.cost() > HOPELESS * below.of(best).cost() {
                *known = ProtocolCost {
                    estimate: below_known.estimate.as_guess(),
                    hopeless: true,
                    ..below_known
                };
            }
        }
    }

    /// The choice of each size class that was used.
    pub(super) fn choices(&self, bidirectional: bool, gaps: bool) -> Vec<BulkChoice> {
        let all = BulkProtocol::CLAIMABLE
            .into_iter()
            .fold(ProtocolSet::default(), ProtocolSet::with);
        let classes = self.classes.iter().enumerate();
        let choices = classes.filter_map(|(number, class)| {
            let protocol = class.best(all)?;
            let costs = BulkProtocol::CLAIMABLE.map(|protocol| {
                let (cost, samples) = (class.of(protocol).cost(), class.of(protocol).samples());
                let cost = (samples > 0).then_some(cost * 1024.0 / UNIT as f32);
                (protocol, cost, samples)
            });
            let mut tried = costs.iter().filter(|cost| cost.2 > 0);
            let reason = if tried.clone().count() == 1 {
                "no other was tried"
            } else if tried.any(|cost| cost.2 < MIN_TRIALS) {
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

    /// Ends the first trials of protocols that are hopeless already.
    fn mark_hopeless(&mut self, open: ProtocolSet) {
        let Some(best) = self.best(open) else { return };
        let best = self.of(best).cost();
        for known in &mut self.costs {
            known.hopeless |= known.samples() >= MIN_TRIALS && known.cost() > HOPELESS * best;
        }
    }

    /// The cheapest protocol: by gets of this class, if there were any.
    fn best(&self, open: ProtocolSet) -> Option<BulkProtocol> {
        let cheapest = |counts: fn(&ProtocolCost) -> bool| {
            let counted = open.iter().filter(|&protocol| counts(self.of(protocol)));
            counted.min_by_key(|&protocol| self.of(protocol).estimate.cost())
        };
        cheapest(|known| known.samples() > 0).or_else(|| cheapest(|known| known.hopeless))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn open(protocols: &[BulkProtocol]) -> ProtocolSet {
        protocols
            .iter()
            .fold(ProtocolSet::default(), |set, &protocol| set.with(protocol))
    }

    /// Runs `times` gets at the given costs, in ns a KiB. Returns the uses of each protocol, and the time over
    /// that of the best protocol alone.
    fn run(
        table: &mut CostTable,
        len: u64,
        costs: &[(BulkProtocol, u64)],
        times: u32,
    ) -> ([u32; PROTOCOLS], f64) {
        let protocols: Vec<BulkProtocol> = costs.iter().map(|cost| cost.0).collect();
        let time = |protocol: BulkProtocol| {
            let cost = costs.iter().find(|cost| cost.0 == protocol);
            cost.expect("open").1 * len / 1024
        };
        let (mut taken, mut spent) = ([0; PROTOCOLS], 0);
        for _ in 0..times {
            let pushed = protocols.contains(&BulkProtocol::Slots);
            let protocol = table.pick(len, open(&protocols), pushed);
            taken[protocol.index()] += 1;
            spent += time(protocol);
            table.learn(len, protocol, Duration::from_nanos(time(protocol)));
        }
        let best = protocols.iter().map(|&protocol| time(protocol)).min();
        let best = best.expect("protocols");
        (taken, spent as f64 / (best * u64::from(times)) as f64)
    }

    const COSTS: [(BulkProtocol, u64); 4] = [
        (BulkProtocol::Copy, 20),
        (BulkProtocol::CopyNt, 50),
        (BulkProtocol::Cma, 65),
        (BulkProtocol::CmaBoth, 40),
    ];

    #[test]
    fn classes_cover_all_lengths() {
        assert_eq!(
            [1, SECOND_CLASS - 1, SECOND_CLASS, 2 * SECOND_CLASS].map(size_class),
            [0, 0, 1, 2]
        );
        assert_eq!(size_class(u64::MAX), CLASSES - 1);
        for number in 0..CLASSES {
            assert_eq!(size_class(start(number)), number);
        }
    }

    #[test]
    fn the_best_is_found_and_trials_stay_cheap() {
        let mut table = CostTable::default();
        let (taken, _) = run(&mut table, MIB, &COSTS, 12);
        assert_eq!(taken, [0, 3, 3, 3, 3, 0]);
        let (taken, slowdown) = run(&mut table, MIB, &COSTS, 20_000);
        assert!(taken[1] > 19_000, "{taken:?}");
        assert!(taken[1..5].iter().all(|&n| n > 0), "{taken:?}");
        assert!(slowdown < 1.02, "{slowdown}");
        let choice = table.choices(false, false)[0];
        assert_eq!(
            (choice.protocol, choice.reason),
            (BulkProtocol::Copy, "the best by trial")
        );
        assert!(choice.min_len <= MIB && MIB <= choice.max_len);
    }

    #[test]
    fn a_ping_pong_exchange_begins_with_its_window_and_tries_others_in_time() {
        let mut table = CostTable::default();
        let costs = [
            (BulkProtocol::Slots, 30),
            (BulkProtocol::Copy, 60),
            (BulkProtocol::Cma, 20),
        ];
        let (taken, _) = run(&mut table, MIB, &costs, 20);
        assert_eq!(taken, [20, 0, 0, 0, 0, 0]);
        let all = open(&costs.map(|cost| cost.0));
        assert_eq!(
            table.pick(MIB, all, false),
            BulkProtocol::Slots,
            "nor where it was not yet filled"
        );
        let (taken, _) = run(&mut table, MIB, &costs, 400);
        assert!(taken[1] > 0 && taken[3] > 200, "{taken:?}");
        let (taken, slowdown) = run(&mut table, MIB, &costs, 5000);
        assert!(taken[3] > 4900 && slowdown < 1.02, "{taken:?} {slowdown}");
    }

    #[test]
    fn moved_ranks_are_noticed() {
        let mut table = CostTable::default();
        run(&mut table, MIB, &COSTS, 1000);
        let far = [
            (BulkProtocol::Copy, 500),
            (BulkProtocol::CopyNt, 52),
            (BulkProtocol::Cma, 130),
            (BulkProtocol::CmaBoth, 80),
        ];
        let (taken, _) = run(&mut table, MIB, &far, 100);
        assert!(taken[2] > 70, "{taken:?}");
        let (taken, _) = run(&mut table, MIB, &COSTS, 20_000);
        assert!(taken[1] > 10_000, "{taken:?}");
    }

    #[test]
    fn hopeless_protocols_are_not_tried_for_the_next_size() {
        let mut table = CostTable::default();
        let costs = [(BulkProtocol::Copy, 500), (BulkProtocol::CopyNt, 50)];
        run(&mut table, MIB, &costs, 50);
        let (taken, _) = run(&mut table, 4 * MIB, &costs, 10);
        assert_eq!(taken, [0, 0, 10, 0, 0, 0]);
    }

    /// The first gets of a size wait for pages on both sides.
    #[test]
    fn a_slow_start_does_not_count_for_ever() {
        let mut table = CostTable::default();
        let costs = [
            (BulkProtocol::Slots, 30),
            (BulkProtocol::Copy, 100),
            (BulkProtocol::CmaBoth, 150),
        ];
        run(&mut table, 64 << 10, &costs, 1000);
        let all = open(&costs.map(|cost| cost.0));
        for cost in [700, 650, 35, 30, 31] {
            assert_eq!(table.pick(MIB, all, true), BulkProtocol::Slots);
            let time = Duration::from_nanos(cost * MIB / 1024);
            table.learn(MIB, BulkProtocol::Slots, time);
        }
        let (taken, slowdown) = run(&mut table, MIB, &costs, 2000);
        assert!(taken[0] > 1900 && slowdown < 1.05, "{taken:?} {slowdown}");
    }

    #[test]
    fn one_open_protocol_is_always_taken() {
        let mut table = CostTable::default();
        let (taken, slowdown) = run(&mut table, MIB, &[(BulkProtocol::Cma, 65)], 100);
        assert_eq!((taken[3], slowdown), (100, 1.0));
        assert_eq!(table.choices(false, false)[0].reason, "no other was tried");
    }

    #[test]
    fn a_delayed_get_changes_little() {
        let mut table = CostTable::default();
        run(&mut table, MIB, &COSTS, 100);
        let cost = |table: &CostTable| table.choices(false, false)[0].costs[1].1.expect("tried");
        let before = cost(&table);
        for ns in [20 * MIB / 1024, 1 << 40] {
            table.learn(MIB, BulkProtocol::Copy, Duration::from_nanos(ns));
        }
        assert!(cost(&table) < 1.5 * before);
        let two = open(&[BulkProtocol::Copy, BulkProtocol::CopyNt]);
        assert_eq!(table.pick(MIB, two, false), BulkProtocol::Copy);
    }
}
