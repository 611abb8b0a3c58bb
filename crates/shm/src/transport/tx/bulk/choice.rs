//! Which protocol a get takes.
//!
//! What is fastest depends on the machine, on where the two processors sit at the moment, on the
//! size, and on whether the bytes are in a cache. So it is not computed: each transfer is timed, and
//! for each peer and class of sizes an estimate is kept of what each protocol costs a byte: the least of
//! its last few transfers, since whatever else the machine does makes them slower only, and mostly the
//! protocol that is in use. What came in a window in turn is taken from there at first. Else every protocol is
//! tried until it gets no better, unless it is hopeless or was so for a neighbouring size. From then
//! on the best one is taken, and one of the others now and then, twice in a row: so rarely that all
//! such trials together cost at most one part in a hundred of the time, by the estimates.
//!
//! What is best while a message goes the other way too is found apart: then the peer's processor has
//! work of its own. The lower rank of a pair finds it, and the other one takes the same protocol, as it does
//! where messages go to and fro: what each side takes bears on what the other one sees, so two tables
//! would chase each other. A window in turn is fast only if both take it.
//!
//! Nothing here reads a clock or moves a byte.

use std::vec::Vec;

/// A protocol by which the bytes of a get travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BulkProtocol {
    /// Through the link's larger buffers, each chunk named by a frame.
    Buffers,
    /// Through a window that both sides write in turn: it is in the sender's cache. Where the sender
    /// has one, it takes the place of the two below.
    Slots,
    /// Through a pipe in shared memory, with plain stores: through the cache that both share.
    Copy,
    /// Through a pipe, copied in by streaming stores: past the caches.
    CopyNt,
    /// The receiver copies from address space to address space.
    Cma,
    /// Both sides do so, each the next piece that is left.
    CmaBoth,
    /// The receiver copies from memory of the sender's that it has mapped.
    Mapped,
}

impl BulkProtocol {
    /// All protocols that a claimer picks from, in the order in which they are tried.
    pub const CLAIMABLE: [Self; PROTOCOLS] = [
        Self::Slots,
        Self::Copy,
        Self::CopyNt,
        Self::Cma,
        Self::CmaBoth,
        Self::Mapped,
    ];

    /// Its name, as settings and reports have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Buffers => "buffers",
            Self::Slots => "turn",
            Self::Copy => "cache",
            Self::CopyNt => "stream",
            Self::Cma => "single",
            Self::CmaBoth => "both",
            Self::Mapped => "direct",
        }
    }

    /// Its number in an offer.
    pub(in crate::transport) const fn code(self) -> u8 {
        match self {
            Self::Buffers => 0,
            Self::Slots => 1,
            Self::Copy => 2,
            Self::CopyNt => 3,
            Self::Cma => 4,
            Self::CmaBoth => 5,
            Self::Mapped => 6,
        }
    }

    /// The reverse of [`BulkProtocol::code`], for protocols that are claimed.
    pub(super) fn of_code(code: u8) -> Option<Self> {
        let place = usize::from(code).checked_sub(1)?;
        Self::CLAIMABLE.get(place).copied()
    }

    /// Whether the sender copies into shared memory, and the receiver out of it.
    pub(super) const fn is_double_copy(self) -> bool {
        matches!(self, Self::Slots | Self::Copy | Self::CopyNt)
    }

    /// Its place among [`BulkProtocol::CLAIMABLE`].
    const fn place(self) -> usize {
        self.code() as usize - 1
    }
}

/// Number of protocols that are claimed.
const PROTOCOLS: usize = 6;

/// A set of protocols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ProtocolSet(u8);

impl ProtocolSet {
    pub(super) const fn with(self, protocol: BulkProtocol) -> Self {
        Self(self.0 | 1 << protocol.code())
    }

    pub(super) const fn has(self, protocol: BulkProtocol) -> bool {
        self.0 >> protocol.code() & 1 == 1
    }

    fn iter(self) -> impl Iterator<Item = BulkProtocol> {
        BulkProtocol::CLAIMABLE
            .into_iter()
            .filter(move |&protocol| self.has(protocol))
    }
}

/// What the user shortage of large messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BulkPreference {
    /// The protocol, where it is open; `None`: what is best by trial.
    pub protocol: Option<BulkProtocol>,
    /// Bytes of a piece in a pipe; `None`: by the length.
    pub chunk: Option<u32>,
}

/// What is known of the gets of one class of sizes from one peer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BulkChoice {
    /// The lengths: from this many bytes ...
    pub from: u64,
    /// ... to this many, both included.
    pub to: u64,
    /// Whether messages go the other way at the same time.
    pub both_ways: bool,
    /// The protocol that is taken now.
    pub protocol: BulkProtocol,
    /// PlanReason.
    pub why: &'static str,
    /// Nanoseconds for 1,024 bytes that each protocol was last seen to cost, and how often it was
    /// taken; `None` where it never was.
    pub seen: [(BulkProtocol, Option<f32>, u32); PROTOCOLS],
}

/// Classes of sizes: each twice the one before; the last one has no end.
pub(super) const CLASSES: usize = 12;

/// Shortest length of the second class.
const FIRST: u64 = 16 << 10;

/// Trials of a protocol before its estimate counts, at least: the first ones touch pages for the first
/// time.
const TRIALS: u32 = 3;

/// Such trials at most.
const MOST_TRIALS: u32 = 12;

/// A trial that costs less than so much of the least before is followed by more.
const BETTER: f32 = 0.9;

/// Transfers of a protocol whose least is its estimate, together with as many before.
const LATEST: u32 = 4;

/// A protocol that costs so many times the best, after [`TRIALS`] or for a neighbouring size, is not tried
/// at first.
const HOPELESS: f32 = 4.0;

/// Transfers between two trials of other protocols, at least.
const PAUSE: u32 = 16;

/// The part of the time that such trials may cost.
const SHARE: f32 = 0.01;

/// The same while a protocol was never tried, and what such a one is taken to cost, of the best.
const FIRST_SHARE: f32 = 0.02;
const PRESUMED: f32 = 1.5;

/// The class of a length.
pub(super) fn class(len: u64) -> usize {
    let doublings = (len / FIRST).checked_ilog2().map_or(0, |log| log + 1);
    (doublings as usize).min(CLASSES - 1)
}

/// First length of a class.
fn start(class: usize) -> u64 {
    if class == 0 { 1 } else { FIRST << (class - 1) }
}

/// What one peer's protocols were seen to cost.
#[derive(Clone, Debug, Default)]
pub(super) struct CostTable {
    classes: [SizeClass; CLASSES],
}

#[derive(Clone, Copy, Debug, Default)]
struct SizeClass {
    seen: [Estimate; PROTOCOLS],
    /// Nanoseconds that trials may cost by now.
    credit: f32,
    /// Transfers since the last trial.
    since: u32,
    /// Whose turn it is to be tried.
    turn: usize,
    /// What is tried a second time, since the first one finds the sender prepared for another protocol.
    once_more: Option<BulkProtocol>,
    /// The protocol of the last transfer.
    last: Option<BulkProtocol>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    /// Nanoseconds a byte.
    cost: f32,
    /// Transfers that were timed.
    times: u32,
    /// The least cost of the last full [`LATEST`] of them, and of those since.
    least: [Option<f32>; 2],
    /// Trials since the last one that was much better than those before.
    settled: u32,
    /// Not worth a trial at first.
    hopeless: bool,
}

impl Estimate {
    fn known(&self) -> bool {
        let settled = self.times >= TRIALS && self.settled + 1 >= TRIALS;
        settled || self.times >= MOST_TRIALS || self.hopeless
    }

    /// A transfer cost so much a byte.
    fn learn(&mut self, cost: f32) {
        let better = self.times == 0 || cost < BETTER * self.cost;
        self.settled = if better { 0 } else { self.settled + 1 };
        if self.times.is_multiple_of(LATEST) {
            self.least = [self.least[1], None];
        }
        self.times = self.times.wrapping_add(1).max(1);
        self.least[1] = Some(self.least[1].map_or(cost, |least| least.min(cost)));
        self.cost = self.least.into_iter().flatten().fold(f32::MAX, f32::min);
    }
}

impl CostTable {
    /// The protocol for the next transfer of `len` bytes, one of `open`, which is not empty. `in_turn`: the
    /// bytes are in a window already.
    pub(super) fn pick(&mut self, len: u64, open: ProtocolSet, in_turn: bool) -> BulkProtocol {
        let number = class(len);
        self.spare(number, open);
        let class = &mut self.classes[number];
        class.give_up(open);
        // ReceiveLink a dialogue the others are tried now and then, as below.
        let dialogue =
            open.has(BulkProtocol::Slots) && class.seen[BulkProtocol::Slots.place()].known();
        let mut first = open
            .iter()
            .filter(|&protocol| !dialogue && (protocol == BulkProtocol::Slots) == in_turn)
            .filter(|protocol| !class.seen[protocol.place()].known());
        if let Some(protocol) = first.next() {
            return protocol;
        }
        let best = class.best(open).expect("some protocol is open");
        let is_new = |protocol: BulkProtocol| class.seen[protocol.place()].times == 0;
        let cost = |protocol: BulkProtocol| {
            let (seen, best) = (&class.seen[protocol.place()], &class.seen[best.place()]);
            let presumed = is_new(protocol) && !seen.hopeless;
            len as f32
                * if presumed {
                    PRESUMED * best.cost
                } else {
                    seen.cost
                }
        };
        if let Some(protocol) = class
            .once_more
            .take()
            .filter(|&protocol| open.has(protocol))
        {
            return protocol;
        }
        class.since += 1;
        let share = if open.iter().any(is_new) {
            FIRST_SHARE
        } else {
            SHARE
        };
        class.credit += share * cost(best);
        let others = open.iter().filter(|&protocol| protocol != best).count();
        if others == 0 || class.since < PAUSE {
            return best;
        }
        let mut other = open.iter().filter(|&protocol| protocol != best);
        let other = other.nth(class.turn % others).expect("one of them");
        let loss = 2.0 * (cost(other) - cost(best));
        if loss > class.credit {
            return best;
        }
        class.credit -= loss;
        class.since = 0;
        class.turn += 1;
        class.once_more = Some(other);
        other
    }

    /// A transfer of `len` bytes took `nanoseconds`.
    pub(super) fn learn(&mut self, len: u64, protocol: BulkProtocol, nanoseconds: u64) {
        let class = &mut self.classes[class(len)];
        let turned = class.last.replace(protocol) != Some(protocol);
        let seen = &mut class.seen[protocol.place()];
        let cost = nanoseconds as f32 / len.max(1) as f32;
        if turned && seen.known() && cost > seen.cost {
            return; // the price of turning to another protocol
        }
        seen.learn(cost);
    }

    /// ProtocolSet that were hopeless for the next smaller size that was tried are not tried for this one.
    fn spare(&mut self, number: usize, open: ProtocolSet) {
        let fresh = |class: &SizeClass| class.seen.iter().all(|seen| seen.times == 0);
        if number == 0 || !fresh(&self.classes[number]) {
            return;
        }
        let below = self.classes[..number].iter().rev();
        let Some(below) = below.copied().find(|class| !fresh(class)) else {
            return;
        };
        let Some(best) = below.best(open) else { return };
        let best = below.seen[best.place()].cost;
        for (seen, below) in self.classes[number].seen.iter_mut().zip(below.seen) {
            if below.known() && below.cost > HOPELESS * best {
                *seen = Estimate {
                    times: 0,
                    hopeless: true,
                    ..below
                };
            }
        }
    }

    /// What is known, by class; classes that were never used are left out.
    pub(super) fn rows(&self, both_ways: bool) -> Vec<BulkChoice> {
        let all = BulkProtocol::CLAIMABLE
            .into_iter()
            .fold(ProtocolSet::default(), ProtocolSet::with);
        let rows = self
            .classes
            .iter()
            .enumerate()
            .filter_map(|(number, class)| {
                let protocol = class.best(all)?;
                let seen = BulkProtocol::CLAIMABLE.map(|protocol| {
                    let seen = class.seen[protocol.place()];
                    let cost = (seen.times > 0).then_some(seen.cost * 1024.0);
                    (protocol, cost, seen.times)
                });
                let tried = seen.iter().filter(|seen| seen.2 > 0);
                let why = if tried.clone().count() == 1 {
                    "no other was tried"
                } else if tried.clone().any(|seen| seen.2 < TRIALS) {
                    "the best by now; trials go on"
                } else {
                    "the best by trial"
                };
                Some(BulkChoice {
                    from: start(number),
                    to: if number + 1 < CLASSES {
                        start(number + 1) - 1
                    } else {
                        u64::MAX
                    },
                    both_ways,
                    protocol,
                    why,
                    seen,
                })
            });
        rows.collect()
    }
}

impl SizeClass {
    /// No more trials at first of protocols that are hopeless already.
    fn give_up(&mut self, open: ProtocolSet) {
        let Some(best) = self.best(open) else { return };
        let best = self.seen[best.place()].cost;
        for seen in &mut self.seen {
            seen.hopeless |= seen.times >= TRIALS && seen.cost > HOPELESS * best;
        }
    }

    /// The protocol that costs least by what is known: by transfers of this class, if there were any.
    fn best(&self, open: ProtocolSet) -> Option<BulkProtocol> {
        let least = |known: fn(&Estimate) -> bool| {
            let known = open
                .iter()
                .filter(|protocol| known(&self.seen[protocol.place()]));
            known.min_by(|a, b| {
                self.seen[a.place()]
                    .cost
                    .total_cmp(&self.seen[b.place()].cost)
            })
        };
        least(|seen| seen.times > 0).or_else(|| least(|seen| seen.hopeless))
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

    /// Runs `times` transfers at the given costs, in ns a KiB, and returns how often each was taken
    /// and the time they took over that of the best alone.
    fn run(
        table: &mut CostTable,
        len: u64,
        costs: &[(BulkProtocol, u64)],
        times: u32,
    ) -> ([u32; PROTOCOLS], f64) {
        let protocols: Vec<BulkProtocol> = costs.iter().map(|cost| cost.0).collect();
        let time = |protocol: BulkProtocol| {
            let cost = costs
                .iter()
                .find(|cost| cost.0 == protocol)
                .expect("open")
                .1;
            cost * len / 1024
        };
        let (mut taken, mut spent) = ([0; PROTOCOLS], 0);
        for _ in 0..times {
            let protocol = table.pick(
                len,
                open(&protocols),
                protocols.contains(&BulkProtocol::Slots),
            );
            taken[protocol.place()] += 1;
            spent += time(protocol);
            table.learn(len, protocol, time(protocol));
        }
        let best = protocols
            .iter()
            .map(|&protocol| time(protocol))
            .min()
            .expect("protocols");
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
        assert_eq!([1, FIRST - 1, FIRST, 2 * FIRST].map(class), [0, 0, 1, 2]);
        assert_eq!(class(u64::MAX), CLASSES - 1);
        for number in 0..CLASSES {
            assert_eq!(class(start(number)), number);
        }
    }

    #[test]
    fn codes_there_and_back() {
        for protocol in BulkProtocol::CLAIMABLE {
            assert_eq!(BulkProtocol::of_code(protocol.code()), Some(protocol));
        }
        assert_eq!(BulkProtocol::of_code(0), None);
        assert_eq!(BulkProtocol::of_code(7), None);
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
        let row = table.rows(false)[0];
        assert_eq!(
            (row.protocol, row.why),
            (BulkProtocol::Copy, "the best by trial")
        );
        assert!(row.from <= MIB && MIB <= row.to);
    }

    #[test]
    fn a_dialogue_begins_with_the_window_and_tries_others_in_time() {
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
    fn another_placement_is_noticed() {
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
    fn what_was_hopeless_is_not_tried_for_the_next_size() {
        let mut table = CostTable::default();
        let costs = [(BulkProtocol::Copy, 500), (BulkProtocol::CopyNt, 50)];
        run(&mut table, MIB, &costs, 50);
        let (taken, _) = run(&mut table, 4 * MIB, &costs, 10);
        assert_eq!(taken, [0, 0, 10, 0, 0, 0]);
    }

    /// The first transfers of a size wait for pages on both sides.
    #[test]
    fn a_slow_start_is_not_held_against_a_road() {
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
            table.learn(MIB, BulkProtocol::Slots, cost * MIB / 1024);
        }
        let (taken, slowdown) = run(&mut table, MIB, &costs, 2000);
        assert!(taken[0] > 1900 && slowdown < 1.05, "{taken:?} {slowdown}");
    }

    #[test]
    fn one_road_needs_no_table() {
        let mut table = CostTable::default();
        let (taken, slowdown) = run(&mut table, MIB, &[(BulkProtocol::Cma, 65)], 100);
        assert_eq!((taken[3], slowdown), (100, 1.0));
        assert_eq!(table.rows(false)[0].why, "no other was tried");
    }

    #[test]
    fn a_transfer_that_was_held_up_changes_little() {
        let mut table = CostTable::default();
        run(&mut table, MIB, &COSTS, 100);
        let cost = |table: &CostTable| table.rows(false)[0].seen[1].1.expect("tried");
        let before = cost(&table);
        table.learn(MIB, BulkProtocol::Copy, 20 * MIB / 1024);
        table.learn(MIB, BulkProtocol::Copy, 1 << 40);
        assert!(cost(&table) < 1.5 * before);
        assert_eq!(
            table.pick(
                MIB,
                open(&[BulkProtocol::Copy, BulkProtocol::CopyNt]),
                false
            ),
            BulkProtocol::Copy
        );
    }
}
