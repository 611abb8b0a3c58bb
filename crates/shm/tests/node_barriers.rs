//! Barriers without messages, with every way of waiting.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::common::{POLICIES, Rank, SLEEPER, WATCHDOG, threads};
use oxmpi_shm::SegmentLayout;
use oxmpi_shm::wait::{WaitPolicy, Waiter};

/// All ranks but `me`, a bit each.
fn others(ranks: u32, me: u32) -> u64 {
    ((1 << ranks) - 1) & !(1 << me)
}

fn pass(rank: &mut Rank, barrier: usize, others: u64, policy: WaitPolicy) {
    assert!(rank.barriers.enter(barrier, others));
    let (start, mut waiter) = (Instant::now(), Waiter::new(policy));
    while rank.barriers.poll(barrier, &mut rank.tx) != 0 {
        rank.poll();
        waiter.idle(&mut rank.rx, &rank.barriers);
        assert!(start.elapsed() < WATCHDOG, "barrier {barrier}");
    }
}

#[test]
fn no_rank_leaves_before_all_have_entered() {
    for (ranks, policy) in [1, 2, 3, 5].into_iter().zip(POLICIES.into_iter().cycle()) {
        let entered = AtomicU64::new(0);
        threads(SegmentLayout::new(ranks), |me, mut rank| {
            for round in 1..=200 {
                entered.fetch_add(1, Ordering::Relaxed);
                pass(&mut rank, 3, others(ranks, me), policy);
                let seen = entered.load(Ordering::Relaxed);
                assert!(seen >= round * u64::from(ranks), "{seen} in round {round}");
            }
        });
    }
}

/// Groups without a common rank use one barrier; each waits for its own ranks only.
#[test]
fn groups_share_a_barrier() {
    threads(SegmentLayout::new(4), |me, mut rank| {
        let partner = 1 << (me ^ 1);
        let rounds = if me < 2 { 100 } else { 37 };
        for _ in 0..rounds {
            pass(&mut rank, 0, partner, SLEEPER);
        }
        pass(&mut rank, 1, others(4, me), WaitPolicy::oversubscribed());
    });
}

#[test]
fn a_barrier_is_entered_once_at_a_time() {
    threads(SegmentLayout::new(2), |me, mut rank| {
        if me == 1 {
            pass(&mut rank, 0, 1, SLEEPER);
            return;
        }
        assert!(rank.barriers.enter(1, 2), "other barriers are free");
        rank.barriers.abandon(1);
        assert!(rank.barriers.enter(0, 2));
        assert!(!rank.barriers.enter(0, 2));
        while rank.barriers.poll(0, &mut rank.tx) != 0 {
            rank.poll();
        }
    });
}
