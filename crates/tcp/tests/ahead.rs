//! Bytes that follow a key before they are asked for.

mod common;

use common::{Rank, logs, pair, until};
use oxmpi_os::RawBytes;
use oxmpi_tcp::Options;
use oxmpi_testkit::conformance::Log;
use oxmpi_testkit::memory::pattern;
use oxmpi_wire::regions::Region;
use oxmpi_wire::{
    Access, Envelope, Flags, Header, Key, Kind, Local, Memory, Peer, Remote, Rma, Slot, Token, Tx,
};

/// Memory of one rank. The test keeps it until the ranks are gone.
fn raw(memory: &mut [u8]) -> RawBytes {
    // SAFETY: who calls keeps the memory longer than the ranks, and looks at it only between polls, when
    // no call of a rank runs.
    unsafe { RawBytes::new(memory.as_mut_ptr(), memory.len()) }
}

fn offer(rank: &mut Rank<RawBytes>, memory: &mut [u8]) -> (Region, Key) {
    let tx = &mut rank.0;
    let region = tx.register(raw(memory), Access::Read, Peer(1));
    let region = region.expect("a region");
    let key = tx.key(&region, Peer(1));
    (region, key)
}

fn get(rank: &mut Rank<RawBytes>, key: &Key, into: &mut [u8], token: u64) {
    let (tx, len) = (&mut rank.0, into.len() as u64);
    let region = tx.register(raw(into), Access::Write, Peer(0));
    let region = &region.expect("a region");
    let (from, to) = (Remote { key, at: 0, len }, Local { region, at: 0, len });
    tx.get(Peer(0), from, to, Token(token)).expect("room");
    tx.flush();
}

fn come(ranks: &mut [Rank<RawBytes>; 2], all: &mut [Log]) {
    let done = |_: &mut [Rank<RawBytes>], logs: &[Log]| !logs[1].done.is_empty();
    until(ranks, "the bytes arrive", done, all);
    assert!(all[1].done.drain(..).all(|(_, result)| result.is_ok()));
}

/// Sends a frame: all that was sent before it has come, too.
fn pass(ranks: &mut [Rank<RawBytes>; 2], all: &mut [Log]) {
    let envelope = Envelope { context: 0, tag: 7 };
    let head = Header {
        kind: Kind::Eager,
        flags: Flags::empty(),
        len: 0,
        envelope,
    };
    ranks[0].0.frame(Peer(1), &head, 0).expect("room").send();
    let passed = |_: &mut [Rank<RawBytes>], logs: &[Log]| !logs[1].frames.is_empty();
    until(ranks, "a frame arrives", passed, all);
    all[1].frames.clear();
}

/// What arrives of `len` bytes of ones, which change to twos once the run has left: where the receiver asks for
/// `room` bytes before or after it has come.
fn arrives(len: usize, room: usize, waits: bool) -> Vec<u8> {
    let options = Options {
        ahead: 100_000,
        pages: 0,
        ..Options::default()
    };
    let (mut source, mut target) = (vec![1; len], vec![0; room]);
    let mut ranks = pair::<RawBytes>(options);
    let mut all = logs(2);
    let (region, key) = offer(&mut ranks[0], &mut source);
    if waits {
        get(&mut ranks[1], &key, &mut target, 5);
    }
    while ranks[0].0.has_waiting() {
        ranks[0].0.flush();
    }
    source.fill(2);
    if !waits {
        pass(&mut ranks, &mut all);
        get(&mut ranks[1], &key, &mut target, 5);
    }
    come(&mut ranks, &mut all);
    ranks[0].0.release(region, Token(9));
    drop(ranks);
    target
}

#[test]
fn who_waits_has_the_first_bytes_unasked() {
    let target = arrives(150_000, 150_000, true);
    assert!(target[..100_000].iter().all(|byte| *byte == 1));
    assert!(target[100_000..].iter().all(|byte| *byte == 2));
    assert!(
        arrives(100_000, 100_000, true)
            .iter()
            .all(|byte| *byte == 1)
    );
}

#[test]
fn who_does_not_wait_drops_them_and_asks_for_all() {
    assert!(arrives(150_000, 150_000, false).iter().all(|b| *b == 2));
}

/// A receive that is shorter than the run has no part of it.
#[test]
fn who_wants_less_asks_for_it() {
    assert!(arrives(150_000, 99_999, true).iter().all(|b| *b == 2));
}

/// Each message whole, whatever came before it was asked for.
#[test]
fn messages_in_turn_arrive_whole() {
    const LEN: usize = 300_007;
    let mut ranks = pair::<RawBytes>(Options::default());
    let mut all = logs(2);
    for turn in 0..40 {
        let (mut source, mut target) = (pattern(LEN, turn), vec![0; LEN]);
        let (region, key) = offer(&mut ranks[0], &mut source);
        if turn % 3 == 0 {
            pass(&mut ranks, &mut all);
        }
        get(&mut ranks[1], &key, &mut target, turn);
        come(&mut ranks, &mut all);
        assert!(source == target, "message {turn}");
        ranks[0].0.release(region, Token(9));
        let released = |_: &mut [Rank<RawBytes>], logs: &[Log]| !logs[0].done.is_empty();
        until(&mut ranks, "the region is free", released, &mut all);
        all[0].done.clear();
    }
}
