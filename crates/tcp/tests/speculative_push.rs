//! Speculative push: first bytes of a region that arrive before they are asked for.

mod common;

use common::{Rank, eager, get, logs, offer, pair, until};
use oxmpi_os::RawBytes;
use oxmpi_tcp::TcpOptions;
use oxmpi_testkit::conformance::EventLog;
use oxmpi_testkit::memory::pattern;
use oxmpi_wire::{Memory, Peer, Slot, Token, Tx};

fn await_get(ranks: &mut [Rank<RawBytes>; 2], all: &mut [EventLog]) {
    let done = |_: &mut [Rank<RawBytes>], logs: &[EventLog]| !logs[1].done.is_empty();
    until(ranks, "the bytes arrive", done, all);
    assert!(all[1].done.drain(..).all(|(_, result)| result.is_ok()));
}

/// Sends a frame and awaits it: all that was sent before has arrived, too.
fn pass_frame(ranks: &mut [Rank<RawBytes>; 2], all: &mut [EventLog]) {
    ranks[0]
        .0
        .frame(Peer(1), &eager(7, 0), 0)
        .expect("room")
        .send();
    let passed = |_: &mut [Rank<RawBytes>], logs: &[EventLog]| !logs[1].frames.is_empty();
    until(ranks, "a frame arrives", passed, all);
    all[1].frames.clear();
}

/// What arrives of `len` bytes of ones that change to twos once the push has left. The receiver gets `room` bytes,
/// before (`waits`) or after the push has arrived.
fn arrives(len: usize, room: usize, waits: bool) -> Vec<u8> {
    let options = TcpOptions {
        speculative_push: 100_000,
        zero_copy: 0,
        ..TcpOptions::default()
    };
    let (mut source, mut target) = (vec![1; len], vec![0; room]);
    let mut ranks = pair::<RawBytes>(options);
    let mut all = logs(2);
    let (region, key) = offer(&mut ranks[0], 1, &mut source);
    if waits {
        get(&mut ranks[1], 0, &key, &mut target, 5);
    }
    while ranks[0].0.has_unsent() {
        ranks[0].0.flush();
    }
    source.fill(2);
    if !waits {
        pass_frame(&mut ranks, &mut all);
        get(&mut ranks[1], 0, &key, &mut target, 5);
    }
    await_get(&mut ranks, &mut all);
    ranks[0].0.release(region, Token(9));
    drop(ranks);
    target
}

#[test]
fn a_receiver_that_waits_has_the_first_bytes_unasked() {
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
fn a_receiver_that_does_not_wait_drops_them_and_gets_all() {
    assert!(arrives(150_000, 150_000, false).iter().all(|b| *b == 2));
}

/// A get that is shorter than the push takes no part of it.
#[test]
fn a_shorter_get_takes_no_push() {
    assert!(arrives(150_000, 99_999, true).iter().all(|b| *b == 2));
}

/// Each message arrives whole, whatever was pushed.
#[test]
fn messages_in_turn_arrive_whole() {
    const LEN: usize = 300_007;
    let mut ranks = pair::<RawBytes>(TcpOptions::default());
    let mut all = logs(2);
    for turn in 0..40 {
        let (mut source, mut target) = (pattern(LEN, turn), vec![0; LEN]);
        let (region, key) = offer(&mut ranks[0], 1, &mut source);
        if turn % 3 == 0 {
            pass_frame(&mut ranks, &mut all);
        }
        get(&mut ranks[1], 0, &key, &mut target, turn);
        await_get(&mut ranks, &mut all);
        assert!(source == target, "message {turn}");
        ranks[0].0.release(region, Token(9));
        let released = |_: &mut [Rank<RawBytes>], logs: &[EventLog]| !logs[0].done.is_empty();
        until(&mut ranks, "the region is free", released, &mut all);
        all[0].done.clear();
    }
}
