//! Speculative push: first bytes of a region that arrive before they are asked for.

use crate::common::{Job, get, offer};
use oxmpi_tcp::TcpOptions;
use oxmpi_testkit::conformance::eager;
use oxmpi_testkit::memory::pattern;
use oxmpi_wire::{Memory, Network, Peer, Slot, Token, Tx};

fn await_get(job: &mut Job) {
    job.until("the bytes arrive", |job| !job.logs[1].done.is_empty());
    assert!(job.logs[1].done.drain(..).all(|(_, result)| result.is_ok()));
}

/// Sends a frame and awaits it: all that was sent before has arrived, too.
fn pass_frame(job: &mut Job) {
    let slot = job.ranks[0].0.frame(Peer(1), &eager(7, 0), 0);
    slot.expect("room").send();
    job.until("a frame arrives", |job| !job.logs[1].frames.is_empty());
    job.logs[1].frames.clear();
}

/// The bytes that a get of `room` bytes brings from `len` bytes of ones, which change to twos once the push has
/// left. The get starts before the push arrives (`waits`) or after.
fn received(len: usize, room: usize, waits: bool) -> Vec<u8> {
    let options = TcpOptions {
        speculative_push: 100_000,
        zero_copy: 0,
        ..TcpOptions::default()
    };
    let (mut source, mut target) = (vec![1; len], vec![0; room]);
    let mut job: Job = Job::pair(options);
    let (region, key) = offer(&mut job.ranks[0], 1, &mut source);
    if waits {
        get(&mut job.ranks[1], 0, &key, &mut target, 5);
    }
    while job.ranks[0].0.has_unsent() {
        job.ranks[0].0.flush();
    }
    source.fill(2);
    if !waits {
        pass_frame(&mut job);
        get(&mut job.ranks[1], 0, &key, &mut target, 5);
    }
    await_get(&mut job);
    job.ranks[0].0.release(region, Token(9));
    drop(job);
    target
}

/// A get takes the pushed bytes if it starts before they arrive and is not shorter than the push.
#[test]
fn a_get_that_waits_takes_the_push() {
    for (len, room, waits, pushed) in [
        (150_000, 150_000, true, 100_000),
        (100_000, 100_000, true, 100_000),
        (150_000, 150_000, false, 0),
        (150_000, 99_999, true, 0),
    ] {
        let target = received(len, room, waits);
        let (first, rest) = target.split_at(pushed);
        let is_right = first.iter().all(|byte| *byte == 1) && rest.iter().all(|byte| *byte == 2);
        assert!(is_right, "{room} of {len} B, waits: {waits}");
    }
}

/// Each message arrives whole, whatever was pushed.
#[test]
fn consecutive_messages_arrive_whole() {
    const LEN: usize = 300_007;
    let mut job: Job = Job::pair(TcpOptions::default());
    for number in 0..40 {
        let (mut source, mut target) = (pattern(LEN, number), vec![0; LEN]);
        let (region, key) = offer(&mut job.ranks[0], 1, &mut source);
        if number % 3 == 0 {
            pass_frame(&mut job);
        }
        get(&mut job.ranks[1], 0, &key, &mut target, number);
        await_get(&mut job);
        assert!(source == target, "message {number}");
        job.ranks[0].0.release(region, Token(9));
        job.until("the region is free", |job| !job.logs[0].done.is_empty());
        job.logs[0].done.clear();
    }
}
