//! Tests of network plans: dependence on the size of the job, and memory.

use oxmpi_wire::paths::network::{
    ConnectTime, JOB_SIZES, MAILBOX_SLOTS, MailboxSharing, NetworkPlan, NetworkSettings,
    POOL_SLOTS, SETTINGS, settings,
};
use oxmpi_wire::paths::{PathOverrides, PathTable};
use proptest::prelude::*;

fn usual(ranks: u64) -> NetworkPlan {
    NetworkPlan::new(ranks, NetworkSettings::default())
}

#[test]
fn payloads_fall_with_the_job_at_the_sizes_that_are_documented() {
    for (ranks, payload) in [
        (1, 8152),
        (512, 8152),
        (513, 2008),
        (1024, 2008),
        (1025, 472),
        (16_383, 472),
        (16_384, 216),
        (262_144, 216),
        (262_145, 100),
        (700_000, 100),
    ] {
        assert_eq!(usual(ranks).payload, payload, "{ranks} ranks");
    }
    for pair in JOB_SIZES.windows(2) {
        assert!(pair[0].payload > pair[1].payload && pair[0].block > pair[1].block);
    }
}

/// Long messages through buffers cost a copy on each side, at every size.
#[test]
fn copies_cost_more() {
    for engine_from in [0, 1024, 64 << 10] {
        let cost = |zero_copy| {
            let wanted = NetworkSettings {
                zero_copy,
                engine_from,
                ..NetworkSettings::default()
            };
            NetworkPlan::new(64, wanted).limits().costs
        };
        let (without, with) = (cost(true), cost(false));
        for len in [10_000, 100_000, 1 << 20] {
            let copies = 200 * u128::from(len);
            assert_eq!(with.get.ps(len), without.get.ps(len) + copies);
            assert_eq!(with.put.ps(len), without.put.ps(len) + copies);
            assert_eq!(with.frame, without.frame);
        }
    }
}

#[test]
fn memory_of_64_and_of_100_000_ranks() {
    let small = usual(64);
    assert_eq!(small.memory(0).mailboxes, 0);
    // One block of 64 mailboxes with 8 slots of 8 KiB serves all 63 peers.
    assert_eq!(small.memory(63).mailboxes, 4 << 20);
    assert_eq!(small.memory(63).buffers, 2 << 20);
    let shared = NetworkSettings {
        sharing: MailboxSharing::Shared,
        ..NetworkSettings::default()
    };
    assert_eq!(NetworkPlan::new(64, shared).memory(63).mailboxes, 512 << 10);

    let large = usual(100_000);
    assert_eq!(large.memory(1).mailboxes, 8 * 8 * 256);
    assert_eq!(large.memory(99_999).mailboxes, 100_000 * 8 * 256);
    assert_eq!(
        NetworkPlan::new(100_000, shared).memory(99_999).mailboxes,
        64 * 256
    );
}

#[test]
fn defaults_are_those_of_the_rows() {
    for row in SETTINGS {
        (row.check)(row.default).unwrap();
    }
}

#[test]
fn values_have_units_and_bounds() {
    let limit = |text| settings::eager_limit(text).ok();
    let limits = ["39", "40", "8KiB", "128KiB", "131073"].map(limit);
    assert_eq!(limits, [None, Some(40), Some(8192), Some(131_072), None]);
    let gets = ["4095", "4KiB"].map(|text| settings::get_limit(text).ok());
    assert_eq!(gets, [None, Some(4096)]);
    let engine = ["100", "1KiB", "64KiB", "65664"].map(|text| settings::engine_from(text).ok());
    assert_eq!(engine, [None, Some(1024), Some(65_536), None]);
    let buffers = ["3", "4", "65536", "65537"].map(|text| settings::buffers(text).ok());
    assert_eq!(buffers, [None, Some(4), Some(65_536), None]);
    let blocks = ["0", "64", "auto"].map(|text| settings::mailbox_block(text).ok());
    assert_eq!(blocks, [None, Some(Some(64)), Some(None)]);
}

proptest! {
    /// Memory grows with the peers in use up to that of all peers, which mailboxes made at the start take; a
    /// shared pool has the same number of slots for any job.
    #[test]
    fn memory_is_within_its_bounds(
        ranks in 1..1_000_000u64,
        block in prop::option::of(1..1000u32),
        short in prop::option::of(64..8152u32),
        used in 0..1_000_000u64,
    ) {
        let wanted = NetworkSettings { block, short, ..NetworkSettings::default() };
        let plan = NetworkPlan::new(ranks, wanted);
        let all = plan.memory(ranks - 1);
        prop_assert!(plan.memory(used).total() <= all.total());
        prop_assert!(plan.memory(used).mailboxes <= plan.memory(used + 1).mailboxes);
        prop_assert!(plan.memory(used).mailboxes >= used.min(ranks - 1) * u64::from(MAILBOX_SLOTS) * plan.slot());
        let start = NetworkPlan::new(ranks, NetworkSettings { connect: ConnectTime::Start, ..wanted });
        prop_assert_eq!(start.memory(0), all);
        let shared = NetworkPlan::new(ranks, NetworkSettings { sharing: MailboxSharing::Shared, ..wanted });
        prop_assert_eq!(shared.memory(used).mailboxes, u64::from(POOL_SLOTS) * plan.slot());
    }

    /// With any settings protocol frames fit, and the switch points are in order.
    #[test]
    fn limits_are_fit_for_an_engine(
        ranks in 1..1_000_000u64,
        short in prop::option::of(64..8152u32),
        eager in 40..131_073u32,
        get in 4096..u64::MAX,
        zero_copy: bool,
        steps in 0..513u32,
    ) {
        let wanted = NetworkSettings { short, eager, get, zero_copy, engine_from: steps * 128, ..NetworkSettings::default() };
        let limits = NetworkPlan::new(ranks, wanted).limits();
        prop_assert!(limits.frame >= 128 && limits.short >= 64);
        let points = PathTable::new(&limits, &PathOverrides::NONE).points();
        prop_assert!(points.short <= points.eager && points.eager <= eager - 40);
    }
}
