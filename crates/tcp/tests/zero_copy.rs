//! Gets whose bytes leave by vmsplice.

mod common;

use std::time::Instant;

use common::{Rank, WATCHDOG, get, logs, offer, pair, ranks, until};
use oxmpi_os::RawBytes;
use oxmpi_tcp::TcpOptions;
use oxmpi_testkit::conformance::EventLog;
use oxmpi_testkit::memory::pattern;
use oxmpi_wire::{Peer, Rx, Tx};

/// Polls `rank` alone until a peer has got something from it and all of that is with the kernel.
fn serve(rank: &mut Rank<RawBytes>) {
    let start = Instant::now();
    let (mut asked, mut log) = (false, EventLog::default());
    while !asked || rank.0.has_unsent() {
        asked |= rank.1.poll(&mut rank.0, 64, &mut log) > 0;
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
    let mut ranks = pair::<RawBytes>(options);
    let (_region, key) = offer(&mut ranks[0], 1, &mut source);
    get(&mut ranks[1], 0, &key, &mut target, 5);
    serve(&mut ranks[0]);
    source.fill(2);
    let done = |_: &mut [Rank<RawBytes>], logs: &[EventLog]| !logs[1].done.is_empty();
    until(&mut ranks, "the bytes arrive", done, &mut logs(2));
    drop(ranks);
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
    let mut targets: [Vec<u8>; 2] = [vec![0; LEN], vec![0; LEN]];
    let [first, second] = &mut targets;
    let options = TcpOptions {
        speculative_push: 0,
        ..TcpOptions::default()
    };
    let mut ranks = ranks::<RawBytes>(3, options);
    let mut all = logs(3);
    (1..3).for_each(|peer| ranks[0].0.connect(Peer(peer)));
    let met = |ranks: &mut [Rank<RawBytes>], _: &[EventLog]| {
        (1..3).all(|peer| ranks[peer].0.is_connected(Peer(0)))
    };
    until(&mut ranks, "all connect", met, &mut all);
    // Memory that does not begin with a page.
    let (_region, key) = offer(&mut ranks[0], 1, &mut source[1..]);

    let silent = ranks.remove(1);
    let mut silent = Some(silent);
    let [server, reader] = &mut ranks[..] else {
        unreachable!("two of three are left")
    };
    let mut all = logs(2);
    for token in 0..8 {
        // One after the other, so that they go by page, until the kernel takes no more.
        get(
            silent.as_mut().expect("there"),
            0,
            &key,
            &mut first[..SPAN],
            token,
        );
        for _ in 0..100 {
            server.1.poll(&mut server.0, 64, &mut all[0]);
        }
    }
    assert!(server.0.has_unsent());
    for round in 0..2 {
        get(reader, 0, &key, second, round);
        let start = Instant::now();
        while all[1].done.len() as u64 == round {
            for ((tx, rx), log) in [&mut *server, &mut *reader].into_iter().zip(&mut all) {
                tx.flush();
                rx.poll(tx, 64, log);
            }
            assert!(start.elapsed() < WATCHDOG, "hangs: get {round}");
        }
        assert!(second[..] == source[1..], "get {round}");
        second.fill(0);
        if let Some((tx, _)) = silent.take() {
            tx.abort();
            while all[0].lost.is_empty() {
                server.0.flush();
                server.1.poll(&mut server.0, 64, &mut all[0]);
                assert!(start.elapsed() < WATCHDOG, "hangs: a loss is told");
            }
        }
    }
    assert_eq!(all[0].lost.len(), 1);

    // Others go by page again.
    get(reader, 0, &key, &mut second[..100_000], 2);
    serve(server);
    source.fill(7);
    let done = |_: &mut [Rank<RawBytes>], logs: &[EventLog]| logs[1].done.len() == 3;
    until(&mut ranks, "the bytes arrive", done, &mut all);
    assert_eq!(second[99_999], 7);
}
