//! The numbers that describe a placement.

use oxmpi_pin::{Metrics, Settings, place};
use oxmpi_topo::{Kind, Machine};

/// Two sockets with a NUMA node each, two L3 caches on each, two cores below each, two threads a core.
const MACHINE: &str = "package:2 [numa] l3:2 l2:2 core:1 pu:2";

/// Settings as a user types them.
fn settings(pin: &str, domain: &str, order: &str) -> Settings {
    Settings {
        pin: oxmpi_text::switch(pin).unwrap(),
        domain: Some(domain.parse().unwrap()),
        order: order.parse().unwrap(),
        ..Settings::default()
    }
}

fn metrics(settings: &Settings, ranks: u32) -> Metrics {
    let machine = Machine::from_synthetic(MACHINE).unwrap();
    Metrics::new(&machine, &place(&machine, settings, None, ranks))
}

#[test]
fn neighbours_share_what_both_may_run_on() {
    // A rank for each core: 0-1 2-3 | 4-5 6-7 || 8-9 10-11 | 12-13 14-15.
    let compact = metrics(&settings("on", "core", "compact"), 8);
    let kinds = [Kind::Core, Kind::L2, Kind::L3, Kind::Numa];
    let shared = |core, l2, l3, numa| {
        let mut pairs = [core, l2, l3, numa].into_iter();
        kinds.map(|kind| (kind, pairs.next().unwrap()))
    };
    assert_eq!((compact.pairs, compact.numa_crossings), (7, 1));
    assert_eq!(compact.shared, shared(0, 0, 4, 6));
    assert!(compact.idle.is_empty() && compact.across_numa.is_empty());

    let threads = metrics(&settings("on", "1", "compact"), 16);
    assert_eq!(threads.shared, shared(8, 8, 12, 14));

    let scattered = metrics(&settings("on", "core", "scatter"), 8);
    assert_eq!(scattered.numa_crossings, 7);
}

#[test]
fn idle_processors_and_oversubscribed_ranks_are_named() {
    let few = metrics(&settings("on", "core", "compact"), 3);
    assert_eq!(few.idle.to_string(), "6-15");
    assert!(few.oversubscribed.is_empty());

    // Two processors for three ranks: the first and the third share one.
    let list = Settings {
        processors: Some("0,2".parse().unwrap()),
        ..Settings::default()
    };
    let list = metrics(&list, 3);
    assert_eq!(list.oversubscribed, [0, 2]);
    assert_eq!(list.idle.to_string(), "1,3-15");

    // All ranks share all processors: none is idle.
    let unpinned = metrics(&settings("off", "core", "bunch"), 3);
    assert!(unpinned.oversubscribed.is_empty());
    assert_eq!(unpinned.across_numa, [0, 1, 2]);
}

#[test]
fn one_rank_and_a_flat_machine_have_nothing_to_share() {
    let machine = Machine::flat(&(0..4).collect());
    let one = place(&machine, &settings("on", "1", "compact"), None, 1);
    let metrics = Metrics::new(&machine, &one);
    assert_eq!((metrics.pairs, metrics.numa_crossings), (0, 0));
    assert!(metrics.shared.iter().all(|(_, pairs)| *pairs == 0));
    assert!(metrics.across_numa.is_empty());
}
