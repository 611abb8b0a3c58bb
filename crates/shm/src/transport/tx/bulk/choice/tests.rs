//! Tests of choices between protocols of which each has a cost that is given.

use super::*;

const MIB: u64 = 1 << 20;

fn open(protocols: &[BulkProtocol]) -> ProtocolSet {
    protocols
        .iter()
        .fold(ProtocolSet::default(), |set, &protocol| set.with(protocol))
}

/// Runs `times` gets at the given costs, in ns a KiB. The first two gets of a row take twice as long. Returns the uses
/// of each protocol, and the time over that of the best protocol alone.
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
    let mut row = (None, 0);
    for _ in 0..times {
        let protocol = table.pick(len, open(&protocols), true);
        taken[protocol.index()] += 1;
        row = match row.0 == Some(protocol) {
            true => (row.0, row.1 + 1),
            false => (Some(protocol), 1),
        };
        let time = time(protocol) * if row.1 <= UNCOUNTED { 2 } else { 1 };
        spent += time;
        table.learn(len, protocol, Duration::from_nanos(time));
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
    let (taken, _) = run(&mut table, MIB, &COSTS, 30);
    assert!(taken[1..5].iter().all(|&n| n > 1), "{taken:?}");
    let (taken, slowdown) = run(&mut table, MIB, &COSTS, 20_000);
    assert!(taken[1] > 19_000, "{taken:?}");
    assert!(taken[1..5].iter().all(|&n| n > 0), "{taken:?}");
    assert!(slowdown < 1.025, "{slowdown}");
    let choice = table.choices(false, false)[0];
    assert_eq!(
        (choice.protocol, choice.reason),
        (BulkProtocol::Copy, "the best by trial")
    );
    assert!(choice.min_len <= MIB && MIB <= choice.max_len);
}

/// A run pays for the change before it counts.
#[test]
fn the_best_is_found_within_thirty_gets_whatever_the_order() {
    for best in [
        BulkProtocol::Slots,
        BulkProtocol::Copy,
        BulkProtocol::CmaBoth,
    ] {
        let mut table = CostTable::default();
        let mut costs = [
            (BulkProtocol::Slots, 50),
            (BulkProtocol::Copy, 50),
            (BulkProtocol::CopyNt, 80),
            (BulkProtocol::Cma, 50),
            (BulkProtocol::CmaBoth, 50),
        ];
        costs[best.index()].1 = 30;
        run(&mut table, MIB, &costs, 30);
        let (taken, _) = run(&mut table, MIB, &costs, 100);
        assert_eq!(taken[best.index()], 100, "{best:?} {taken:?}");
    }
}

#[test]
fn equal_protocols_do_not_alternate() {
    let mut table = CostTable::default();
    let costs = [(BulkProtocol::Slots, 30), (BulkProtocol::CmaBoth, 30)];
    let (_, slowdown) = run(&mut table, MIB, &costs, 20_000);
    assert!(slowdown < 1.04, "{slowdown}");
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
fn dear_protocols_are_not_tried_at_first_for_the_next_size() {
    let mut table = CostTable::default();
    let costs = [(BulkProtocol::Copy, 500), (BulkProtocol::CopyNt, 50)];
    run(&mut table, MIB, &costs, 50);
    let (taken, _) = run(&mut table, 2 * MIB, &costs, 10);
    assert_eq!(taken, [0, 0, 10, 0, 0, 0]);
    // But later, for another size may have another order.
    let other = [(BulkProtocol::Copy, 40), (BulkProtocol::CopyNt, 50)];
    let (taken, _) = run(&mut table, 2 * MIB, &other, 4000);
    assert!(taken[1] > 1000, "{taken:?}");
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
    for cost in [700, 650, 35, 30, 31, 30] {
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
    let (taken, _) = run(&mut table, MIB, &[(BulkProtocol::Cma, 65)], 100);
    assert_eq!(taken[3], 100);
    assert_eq!(table.choices(false, false)[0].reason, "no other was tried");
}

/// Windows come and go with the direction of messages.
#[test]
fn a_protocol_that_is_open_now_and_then_does_not_stop_trials() {
    let mut table = CostTable::default();
    let protocols = [BulkProtocol::Slots, BulkProtocol::Copy, BulkProtocol::Cma];
    let mut taken = [0; PROTOCOLS];
    for get in 0..1000 {
        let protocol = table.pick(MIB, open(&protocols[usize::from(get % 2 == 1)..]), true);
        taken[protocol.index()] += 1;
        let cost = [80, 60, 0, 20][protocol.index()];
        table.learn(MIB, protocol, Duration::from_nanos(cost * MIB / 1024));
    }
    assert!(taken[3] > 900, "{taken:?}");
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
