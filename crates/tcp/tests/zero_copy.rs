//! Gets whose bytes leave by vmsplice.

use std::time::Instant;

use crate::common::{Job, Rank, WATCHDOG, get, offer};
use oxmpi_os::RawBytes;
use oxmpi_tcp::TcpOptions;
use oxmpi_testkit::conformance::EventLog;
use oxmpi_testkit::memory::pattern;
use oxmpi_wire::{Network, Peer, Rx, Tx};

/// Polls `rank` alone until a peer has got something from it and the kernel has all of that.
fn serve(rank: &mut Rank<RawBytes>) {
    let start = Instant::now();
    let (mut has_request, mut log) = (false, EventLog::default());
    while !has_request || rank.0.has_unsent() {
        has_request |= rank.1.poll(&mut rank.0, 64, &mut log) > 0;
        rank.0.flush();
        assert!(start.elapsed() < WATCHDOG, "hangs: an answer leaves");
    }
}

/// The value that arrives of a byte that changes after it has left, and before the receiver has read it.
fn received_value(zero_copy: u64) -> u8 {
    let options = TcpOptions {
        zero_copy,
        speculative_push: 0,
        ..TcpOptions::default()
    };
    let (mut source, mut target) = (vec![1; 100_000], vec![0; 100_000]);
    let mut job = Job::pair(options);
    let (_region, key) = offer(&mut job.ranks[0], 1, &mut source);
    get(&mut job.ranks[1], 0, &key, &mut target, 5);
    serve(&mut job.ranks[0]);
    source.fill(2);
    job.until("the bytes arrive", |job| !job.logs[1].done.is_empty());
    drop(job);
    assert_eq!(target[0], target[99_999]);
    target[0]
}

/// Pages are read when the receiver copies them; copies are made when the bytes leave.
#[test]
fn pages_are_not_copied() {
    assert_eq!(received_value(1 << 20), 2);
    assert_eq!(received_value(0), 1);
}

/// Pages that wait for one peer hold up no other peer, and are dropped with that peer.
#[test]
fn a_peer_that_does_not_read_holds_up_no_other() {
    const LEN: usize = 1_000_003;
    const SPAN: usize = 256 << 10;
    let mut source = pattern(LEN + 1, 3);
    let [mut first, mut second] = [vec![0; SPAN], vec![0; LEN]];
    let options = TcpOptions {
        speculative_push: 0,
        ..TcpOptions::default()
    };
    let mut job = Job::new(3, options);
    (1..3).for_each(|peer| job.ranks[0].0.connect(Peer(peer)));
    job.until("all connect", |job| {
        (1..3).all(|peer| job.ranks[peer].0.is_connected(Peer(0)))
    });
    // Memory that does not begin with a page.
    let (_region, key) = offer(&mut job.ranks[0], 1, &mut source[1..]);

    let mut silent = Some(job.remove(1));
    for token in 0..8 {
        // One after the other, so that they go by page, until the kernel takes no more.
        let silent = silent.as_mut().expect("it lives");
        get(silent, 0, &key, &mut first, token);
        (0..100).for_each(|_| job.poll(0));
    }
    assert!(job.ranks[0].0.has_unsent());
    for round in 0..2 {
        get(&mut job.ranks[1], 0, &key, &mut second, round);
        job.until("the bytes arrive", |job| {
            job.logs[1].done.len() as u64 > round
        });
        assert!(second[..] == source[1..], "get {round}");
        second.fill(0);
        if let Some((tx, _)) = silent.take() {
            tx.abort();
            job.until_lost(0);
        }
    }
    assert_eq!(job.logs[0].lost.len(), 1);

    // Transfers to the other peer go by page again.
    get(&mut job.ranks[1], 0, &key, &mut second[..100_000], 2);
    serve(&mut job.ranks[0]);
    source.fill(7);
    job.until("the bytes arrive", |job| job.logs[1].done.len() == 3);
    assert_eq!(second[99_999], 7);
}
