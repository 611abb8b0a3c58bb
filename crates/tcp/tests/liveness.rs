//! Sleeping ranks, and which quiet peers are lost.

use std::time::{Duration, Instant};

use crate::common::{Job, WATCHDOG};
use oxmpi_tcp::TcpOptions;
use oxmpi_testkit::conformance::eager;
use oxmpi_wire::{Fault, Peer, Put, Sleeper, Slot, Tx};

/// A sleep ends with an arriving frame.
#[test]
fn a_frame_ends_a_sleep() {
    let mut job: Job = Job::pair(TcpOptions::default());
    for tag in 0..20 {
        while !job.ranks[1].1.arm() {
            job.poll(1);
        }
        job.send(0, 1, tag);
        job.ranks[0].0.flush();
        while job.logs[1].frames.len() as u32 <= tag {
            // A sleep is bounded, so this ends even if a wake is missed.
            job.ranks[1].1.nap(WATCHDOG);
            job.poll(1);
        }
    }
    assert!(job.tags(1, 0).into_iter().eq(0..20));
}

/// A peer that does not poll for several times the host timeout is not lost.
#[test]
fn a_peer_that_does_not_read_is_not_lost() {
    let options = TcpOptions {
        host_timeout: Duration::from_secs(1),
        ..TcpOptions::default()
    };
    let mut job: Job = Job::pair(options);
    let len = options.frame as usize;
    let body = vec![1; len];
    let start = Instant::now();
    // The window closes at once, and stays closed for several times the limit.
    while start.elapsed() < 4 * options.host_timeout {
        let tx = &mut job.ranks[0].0;
        if let Ok(mut slot) = tx.frame(Peer(1), &eager(1, len), len) {
            slot.put(&body);
            slot.send();
        }
        job.poll(0);
        job.ranks[0].1.nap(Duration::from_millis(10));
    }
    assert!(job.logs[0].lost.is_empty(), "{:?}", job.logs[0].lost);
}

/// With a stall timeout, a peer that polls answers pings; one that does not is lost.
#[test]
fn a_connection_without_an_answer_is_lost() {
    let stall = Duration::from_millis(80);
    let mut job: Job = Job::pair(TcpOptions {
        stall_timeout: Some(stall),
        ..TcpOptions::default()
    });
    let start = Instant::now();
    job.until("three times the limit passes", |_| {
        start.elapsed() > 3 * stall
    });
    let is_lost = job.logs.iter().any(|log| !log.lost.is_empty());
    assert!(!is_lost, "{:?}", job.logs);
    // From here on rank 1 makes no call; its kernel still acknowledges all that arrives.
    job.until_lost(0);
    assert_eq!(job.logs[0].lost, [(Peer(1), Fault::Silent)]);
}
