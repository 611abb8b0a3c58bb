//! Gets whose bytes go by page.

mod common;

use std::time::Instant;

use common::{Rank, WATCHDOG, logs, pair, ranks, until};
use oxmpi_os::RawBytes;
use oxmpi_tcp::Options;
use oxmpi_testkit::conformance::Log;
use oxmpi_testkit::memory::pattern;
use oxmpi_wire::regions::Region;
use oxmpi_wire::{Access, Key, Local, Memory, Peer, Remote, Rma, Rx, Token, Tx};

/// Memory of one rank that a peer may reach. The test keeps it until the ranks are gone.
fn raw(memory: &mut [u8]) -> RawBytes {
    // SAFETY: who calls keeps the memory longer than the ranks, and looks at it only between polls, when
    // no call of a rank runs.
    unsafe { RawBytes::new(memory.as_mut_ptr(), memory.len()) }
}

fn offer(rank: &mut Rank<RawBytes>, to: u32, memory: &mut [u8]) -> (Region, Key) {
    let tx = &mut rank.0;
    let region = tx
        .register(raw(memory), Access::Read, Peer(to))
        .expect("a region");
    let key = tx.key(&region, Peer(to));
    (region, key)
}

fn get(rank: &mut Rank<RawBytes>, of: u32, key: &Key, into: &mut [u8], token: u64) {
    let (tx, len) = (&mut rank.0, into.len() as u64);
    let region = tx
        .register(raw(into), Access::Write, Peer(of))
        .expect("a region");
    let region = &region;
    let (from, to) = (Remote { key, at: 0, len }, Local { region, at: 0, len });
    tx.get(Peer(of), from, to, Token(token)).expect("room");
    tx.flush();
}

/// Polls `rank` alone until it has been asked for something and all of that is with the kernel.
fn serve(rank: &mut Rank<RawBytes>) {
    let start = Instant::now();
    let (mut asked, mut log) = (false, Log::default());
    while !asked || rank.0.has_waiting() {
        asked |= rank.1.poll(&mut rank.0, 64, &mut log) > 0;
        rank.0.flush();
        assert!(start.elapsed() < WATCHDOG, "hangs: an answer leaves");
    }
}

/// What a byte is that changes after its answer has left, and before the asker has read it.
fn late(pages: u64) -> u8 {
    let options = Options {
        pages,
        ahead: 0,
        ..Options::default()
    };
    let (mut source, mut target) = (vec![1; 100_000], vec![0; 100_000]);
    let mut ranks = pair::<RawBytes>(options);
    let (_region, key) = offer(&mut ranks[0], 1, &mut source);
    get(&mut ranks[1], 0, &key, &mut target, 5);
    serve(&mut ranks[0]);
    source.fill(2);
    let done = |_: &mut [Rank<RawBytes>], logs: &[Log]| !logs[1].done.is_empty();
    until(&mut ranks, "the bytes arrive", done, &mut logs(2));
    drop(ranks);
    assert_eq!(target[0], target[99_999]);
    target[0]
}

/// Pages are read when the bytes arrive, copies are made when they leave.
#[test]
fn pages_are_not_copied() {
    assert_eq!(late(1 << 20), 2);
    assert_eq!(late(0), 1);
}

/// Bytes that wait for one peer in the way by page are in no other peer's way, and are forgotten with that peer.
#[test]
fn a_peer_that_does_not_read_is_in_nobodys_way() {
    const LEN: usize = 1_000_003;
    const TURN: usize = 256 << 10;
    let mut source = pattern(LEN + 1, 3);
    let mut targets: [Vec<u8>; 2] = [vec![0; LEN], vec![0; LEN]];
    let [first, second] = &mut targets;
    let options = Options {
        ahead: 0,
        ..Options::default()
    };
    let mut ranks = ranks::<RawBytes>(3, options);
    let mut all = logs(3);
    (1..3).for_each(|peer| ranks[0].0.connect(Peer(peer)));
    let met = |ranks: &mut [Rank<RawBytes>], _: &[Log]| {
        (1..3).all(|peer| ranks[peer].0.is_connected(Peer(0)))
    };
    until(&mut ranks, "all meet", met, &mut all);
    // Memory that does not begin with a page.
    let (_region, key) = offer(&mut ranks[0], 1, &mut source[1..]);

    let silent = ranks.remove(1);
    let mut silent = Some(silent);
    let [server, reader] = &mut ranks[..] else {
        unreachable!("two of three are left")
    };
    let mut all = logs(2);
    for token in 0..8 {
        // One after the other, so that they go by page: until the kernel takes no more.
        get(
            silent.as_mut().expect("there"),
            0,
            &key,
            &mut first[..TURN],
            token,
        );
        for _ in 0..100 {
            server.1.poll(&mut server.0, 64, &mut all[0]);
        }
    }
    assert!(server.0.has_waiting());
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
            tx.die();
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
    let done = |_: &mut [Rank<RawBytes>], logs: &[Log]| logs[1].done.len() == 3;
    until(&mut ranks, "the bytes arrive", done, &mut all);
    assert_eq!(second[99_999], 7);
}
